// The hot loops, built once per instruction set and chosen at run time.
//
// Rows come in tiles of 16: x[tile][column][16], padded with copies of the last row at weight 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
#include "runtime/interrupt.hpp"

namespace cf {

constexpr int kTile = 16;

template <class T>
struct Rows {
  const T* x;       // tiles * columns * 16
  const T* weight;  // tiles * 16
  int64_t tiles;
  int columns;
  bool unit;  // every row has weight 1
};

// Feature j is the columns first[j], ..., first[j] + widths[j] - 1.
struct Features {
  const int32_t* first;
  const int32_t* widths;
  int count, columns;
};

// Centres that compete for rows in float32. The rows' columns are given one by one, each in whole tiles. Centres are
// differences to the first one; `slope` and `base` bound the error of a score by the size of the row, `rounding` and
// `floor` that of the exact comparison.
struct Contest {
  const float* const* columns;
  const float* unit;    // what a column is multiplied by before distances are taken
  const float* ahead;   // k * width, times unit
  const float* offset;  // (|c0|^2 - |c|^2) / 2
  const float* slope;
  const float* base;
  float rounding, floor;
  int width, k;
};

constexpr int64_t kGroup = 1024;  // columns of match counts that are laid out together
constexpr int kStride = 64;       // match counts are padded with zeros to a multiple of it

// Match counts in one byte, or in two where there are more than 255 members.
template <class Count>
struct CountKernels {
  // out[j] = number of set bits of column j over the chosen bit rows, or 0 in some columns with fewer than `lowest`.
  // `high` has a bit for each of the columns with at least `lowest`, laid out like the bit rows.
  void (*count_row)(const uint64_t* bits, int64_t words, const int32_t* chosen, int members, int64_t columns,
                    int lowest, Count* out, uint64_t* high);

  // out[j] = table[counts[j]]
  void (*look_up)(const Count* counts, int64_t n, const double* table, double* out);

  // out[v] = sum of table[counts[j]] * vectors[v][j] in a fixed order, n a multiple of kStride. The table is 0 below
  // `lowest`: strides without a count that high are left out.
  void (*products)(const Count* counts, int64_t n, const double* table, int lowest, const double* vectors, int count,
                   double* out);

  // out[v] = sum of table[counts[e]] * vectors[at[e]][v] over n entries in a fixed order, count 1, 2, 4 or 8.
  void (*entry_products)(const uint16_t* at, const Count* counts, int64_t n, const double* table, const double* vectors,
                         int count, double* out);
};

struct Kernels {
  const char* name;

  // Lloyd's iteration until no row changes or max_iter; returns the iterations made. `sums` (k * columns) and `mass`
  // (k) are of the last partition; `scratch` holds lloyd_scratch(k, columns) numbers.
  int (*lloyd)(const Rows<float>& rows, int k, int max_iter, float* centers, int32_t* labels, double* sums,
               double* mass, float* scratch);

  // The nearest centre of each row, and for each tile a bit for every row for which it may be another.
  void (*nearest)(const Contest& contest, int64_t tiles, int32_t* labels, uint32_t* unsure);

  // Nearest centre by direct distances, lowest index on ties.
  void (*assign)(const Rows<double>& rows, int k, const double* centers, int32_t* labels);

  // Squared distance of each row to its own centre and to the nearest other one.
  void (*gaps)(const Rows<double>& rows, int k, const double* centers, double* own, double* other);

  // Hartigan's single-row moves until none lowers the objective, which is returned, or for so many passes. `scratch`
  // holds hartigan_scratch(tiles, k) numbers.
  double (*hartigan)(const Rows<double>& rows, int k, int passes, double* centers, double* mass, int32_t* labels,
                     double* scratch);

  CountKernels<uint8_t> narrow;
  CountKernels<uint16_t> wide;

  // Inner products of one row of W with `count` vectors of length n, each in a fixed order.
  void (*row_products)(const double* row, int64_t n, const double* vectors, int count, double* out);

  // Sum of squared differences to each of the rows x[tile][column][16] over the features that both have, and their
  // number. `known[tile][feature][16]` is 1 or 0; a feature that `row` lacks is NaN in its first column.
  void (*partial_distances)(const Features& features, const double* x, const double* known, int64_t tiles,
                            const double* row, double* apart, double* shared);
};

inline size_t lloyd_scratch(int k, int columns) { return static_cast<size_t>(kTile + 1) * k * (columns + 1); }
inline size_t hartigan_scratch(int64_t tiles, int k) {
  return static_cast<size_t>(kTile + 1) * tiles + 2 * static_cast<size_t>(k);
}

const Kernels& kernels();                           // the set in use
std::vector<std::string> instruction_sets();        // those this machine can run, best first
void use_instruction_set(const std::string& name);  // "auto" or one of the above; throws std::invalid_argument

}  // namespace cf
