// The rows of one K-means problem: its columns of the table side by side, in tiles, scaled to about 1.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/problem.hpp"
#include "rows/table.hpp"
#include "simd/kernels.hpp"
#include "simd/lane_vector.hpp"

namespace cf {

// The columns of the table that a problem uses. One listed m times is kept once, times sqrt(m); constant ones are
// dropped.
struct ProblemColumns {
  ProblemColumns(const std::vector<int>& reach, const Problem& problem);

  int exponent = 0;          // true value - origin = value * 2^exponent / root
  std::vector<int> source;   // column here -> column of the table
  std::vector<double> root;  // square root of how often it is listed
};

class ProblemRows : public ProblemColumns {
 public:
  ProblemRows(const Table& table, const Problem& problem);

  // Merge equal rows and add their weights, if a sample shows that many are equal.
  void merge_equal_rows();
  // With a single column: merge equal values and sort them.
  void sort_single_column();
  // Make the float32 copies that `rows32` needs.
  void make_float32();
  // Weighted sum of squares about the origin, over the first tiles.
  double sum_of_squares(int64_t first_tiles) const;

  double at(int64_t row, int j) const { return x[(row / kTile) * kTile * width + j * kTile + row % kTile]; }
  bool equal(int64_t a, int64_t b) const;
  TiledRows<double> rows64(int64_t first_tiles) const { return {x.data(), weight.data(), first_tiles, width, unit}; }
  TiledRows<float> rows32(int64_t first_tiles) const { return {x32.data(), weight32.data(), first_tiles, width, unit}; }

  int64_t rows = 0, tiles = 0;
  int width = 0;
  LaneVector<double> x, weight;
  LaneVector<float> x32, weight32;
  bool unit = true;

 private:
  void keep(const std::vector<int64_t>& chosen, const std::vector<double>& mass);
  void pad();
};

}  // namespace cf
