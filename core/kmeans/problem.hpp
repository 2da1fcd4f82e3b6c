// A K-means problem over some columns of a table, how hard to search, and what is found.
#pragma once
#include <cstdint>
#include <vector>

namespace cf {

struct Problem {
  const int32_t* columns;  // a column listed twice counts twice in the distance
  int width;               // number of columns
  int k;                   // number of clusters
  uint64_t seed;
};

constexpr int64_t kMostCells = int64_t{1} << 27;  // of a problem's centres: the hot loops index them with 32 bits
constexpr const char* kTooManyCells = "clusters * columns is too large";

inline bool can_be_indexed(int64_t clusters, int64_t columns) {
  return columns < kMostCells && clusters * (columns + 1) < kMostCells;
}

// What follows the random restarts.
enum class Effort : int8_t {
  quick = 0,     // a pass of single-row moves
  polished = 1,  // passes until no single-row move lowers the objective
  improved = 2   // before these passes, attempts to improve the best restart
};

struct SearchSettings {
  int restarts;
  int max_iter;  // Lloyd iterations of each restart
  Effort effort;
};

// Sums are in units of 4^exponent times the table's unit of weight. Clusters are sorted, heaviest first.
struct Solution {
  bool solved = false;          // false if there are fewer distinct rows than clusters
  std::vector<double> centers;  // k * width, in the table's coordinates
  double within = 0, between = 0;
  double within_pairs = 0, between_pairs = 0;
  int exponent = 0;
  int iterations = 1;  // Lloyd iterations of the restart that won
};

}  // namespace cf
