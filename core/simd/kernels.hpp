// The hot loops, built once per instruction set and chosen at run time.
//
// This header is what the rest of the core sees. The loops themselves are in kmeans/, consensus/ and rows/, in headers
// that only kernels.cpp includes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "runtime/threads.hpp"

namespace cf {

constexpr int kTile = 16;  // rows that are processed side by side

// Rows in tiles: x[tile][column][16]. The last tile is padded with copies of the last row at weight 0.
template <class T>
struct TiledRows {
  const T* x;       // tiles * columns * 16
  const T* weight;  // tiles * 16
  int64_t tiles;
  int columns;
  bool unit;  // every row has weight 1
};

// Feature j occupies the columns first[j], ..., first[j] + widths[j] - 1.
struct Features {
  const int32_t* first;
  const int32_t* widths;
  int count, columns;
};

// What the float32 search for the nearest centre needs: the columns of the rows, one by one in whole tiles, and the
// centres relative to the first one. `slope` and `base` bound the error of any score as a linear function of the row's
// size; `rounding` and `floor` bound the error of the float64 comparison by its square.
struct Float32Centers {
  const float* const* columns;
  const float* unit;    // factor of each column before distances are taken
  const float* ahead;   // k * width: (c - c0) * unit
  const float* offset;  // (|c0|^2 - |c|^2) / 2
  float slope, base, rounding, floor;
  int width, k;
};

constexpr int64_t kGroup = 1024;  // columns of match counts that are laid out together
constexpr int kStride = 64;       // match counts are padded with zeros to a multiple of it

// Match counts of type Count: one byte for up to 255 members, two for more.
template <class Count>
struct CountKernels {
  // out[j] = number of the chosen bit rows that have column j; may be 0 instead where that is less than `lowest`.
  // Sets a bit of `high`, laid out like a bit row, for each column that has at least `lowest`.
  void (*count_row)(const uint64_t* bits, int64_t words, const int32_t* chosen, int members, int64_t columns,
                    int lowest, Count* out, uint64_t* high);

  // out[j] = table[counts[j]]
  void (*look_up)(const Count* counts, int64_t n, const double* table, double* out);

  // out[v] = sum over j of table[counts[j]] * vectors[v][j], in a fixed order. n is a multiple of kStride. The table is
  // 0 below `lowest`, so strides without a count that high are skipped.
  void (*products)(const Count* counts, int64_t n, const double* table, int lowest, const double* vectors, int count,
                   double* out);

  // out[v] = sum over e of table[counts[e]] * vectors[at[e]][v], in a fixed order. `count` is 1, 2, 4 or 8.
  void (*entry_products)(const uint16_t* at, const Count* counts, int64_t n, const double* table, const double* vectors,
                         int count, double* out);
};

constexpr int kNodeBlock = 512, kNodeWords = kNodeBlock / 64;  // nodes whose bit lines stay in the second cache
constexpr int64_t kVoters = 32;                                // rows that are compared with them

// Nodes from begin to end - 1, whole sixteens, that are of one group.
struct GroupRun {
  int group, begin, end;
};

// Nodes, with a line of bits for each label of each member: which nodes have it. Node 64 k + 8 w + b is bit k of byte b
// of word w: so, eight planes of sums transposed byte by byte are the counts of the nodes in their order.
struct NodeBlock {
  const uint64_t* bits;  // lines * kNodeWords
  const float* weights;  // kNodeBlock
  const GroupRun* runs;
  int count;           // of the runs
  const float* power;  // of each number of matches: about high[number / 16] * low[number % 16]
  const float* high;
  const float* low;
};

// A column becomes x * first * second - shift, divided, less the centre.
struct ColumnStep {
  double first, second, shift, divisor, center;
};

// A column of which a projection takes a multiple.
struct ProjectionTerm {
  int64_t column;
  double coefficient;
};

template <class Label>
using FindLines = void(const Label* labels, int64_t rows, int32_t first, int32_t count, int32_t* lines,
                       int32_t* lowest);

struct Kernels {
  const char* name;

  // Run Lloyd's iteration until no row changes its label, or max_iter times; return the number of iterations. Leaves
  // the sums (k * columns) and masses (k) of the last partition. `scratch` holds lloyd_scratch(k, columns) numbers.
  int (*lloyd)(const TiledRows<float>& rows, int k, int max_iter, float* centers, int32_t* labels, double* sums,
               double* mass, float* scratch);

  // Find the nearest centre of each row in float32. In unsure[tile], set a bit for each row where it may be another.
  void (*nearest_center)(const Float32Centers& centers, int64_t tiles, int32_t* labels, uint32_t* unsure);

  // Find the nearest centre of each row by direct distances, lowest index on ties.
  void (*assign)(const TiledRows<double>& rows, int k, const double* centers, int32_t* labels);

  // Squared distance of each row to its nearest and to its second nearest centre.
  void (*two_nearest)(const TiledRows<double>& rows, int k, const double* centers, double* nearest, double* second);

  // Move single rows between clusters, as Hartigan does, until no move lowers the objective, or for `passes` passes.
  // Returns the objective. `scratch` holds hartigan_scratch(tiles, k, columns) numbers.
  double (*hartigan)(const TiledRows<double>& rows, int k, int passes, double* centers, double* mass, int32_t* labels,
                     double* scratch);

  CountKernels<uint8_t> counts8;
  CountKernels<uint16_t> counts16;

  // Inner products of one row of a matrix with `count` vectors of length n, each in a fixed order.
  void (*row_products)(const double* row, int64_t n, const double* vectors, int count, double* out);

  // lines[row] = first + label where the label is from 0 to count - 1, or else 0. Lowers lowest[row] to the label.
  FindLines<int8_t>* find_lines8;
  FindLines<int16_t>* find_lines16;
  FindLines<int32_t>* find_lines32;

  // Add the weights of the nodes times the powers of their matches to votes[row][group][16], which are `step` apart.
  // Takes lines[member][kVoters], and at most so many rows.
  void (*vote)(const NodeBlock& nodes, const int32_t* lines, int members, int64_t rows, int64_t step, float* votes);

  // For each of the rows x[tile][column][16]: the sum of squared differences to `row` over the features that both have,
  // and the number of these features. known[tile][feature][16] is 1 or 0; a feature that `row` lacks is NaN in its
  // first column.
  void (*shared_distances)(const Features& features, const double* x, const double* known, int64_t tiles,
                           const double* row, double* apart, double* shared);

  // Scale x[column][16].
  void (*scale_tile)(double* x, int64_t columns, const ColumnStep* steps);

  // out[row] = sum of coefficient * x[column * step + row] over the terms, in their order, for rows in whole tiles.
  void (*project)(const double* x, int64_t step, const ProjectionTerm* terms, int64_t count, int64_t tiles,
                  double* out);

  // Tell whether no number is infinite or NaN.
  bool (*all_finite)(const double* x, int64_t count);

  // Add each of the rows units[row][16] to sums[its label][16].
  void (*sum_clusters)(const double* units, const int32_t* labels, int64_t rows, double* sums);
};

inline size_t lloyd_scratch(int k, int columns) { return static_cast<size_t>(kTile + 1) * k * (columns + 1); }

constexpr int kFewClusters = 8;  // up to this many, Hartigan's moves sum all rows lane by lane
inline size_t hartigan_scratch(int64_t tiles, int k, int columns) {
  const size_t lane_sums = k <= kFewClusters ? static_cast<size_t>(kTile) * k * (columns + 1) : 0;
  return static_cast<size_t>(kTile + 1) * tiles + 2 * static_cast<size_t>(k) + lane_sums;
}

const Kernels& kernels();                           // the set in use
std::vector<std::string> instruction_sets();        // those that this machine can run, fastest first
void use_instruction_set(const std::string& name);  // "auto" or one of these; throws std::invalid_argument

}  // namespace cf
