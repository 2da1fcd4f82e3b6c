// One problem's rows, gathered from the table: its columns side by side, in tiles, scaled to about 1.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/solver.hpp"
#include "simd/kernels.hpp"

namespace cf {

// Which columns of the table a problem has. One listed m times is kept once, times sqrt(m). Constant ones are dropped.
struct Layout {
  Layout(const std::vector<int>& reach, const Problem& problem);

  int exponent = 0;          // true value - origin = packed value * 2^exponent / root
  std::vector<int> source;   // packed column -> table column
  std::vector<double> root;  // sqrt of how often it is listed
};

class Packed : public Layout {
 public:
  Packed(const Table& table, const Problem& problem);

  // Merges equal rows when many are equal.
  void collapse();
  // For a single column: distinct values in ascending order.
  void sort_line();
  // float32 copies for the search.
  void narrow();
  // Weighted sum of squares about the origin, over the first tiles.
  double square(int64_t first_tiles) const;

  double at(int64_t row, int j) const { return x[(row / kTile) * kTile * width + j * kTile + row % kTile]; }
  bool equal(int64_t a, int64_t b) const;
  Rows<double> exact(int64_t first_tiles) const { return {x.data(), weight.data(), first_tiles, width, unit}; }
  Rows<float> fast(int64_t first_tiles) const { return {x32.data(), weight32.data(), first_tiles, width, unit}; }

  int64_t rows = 0, tiles = 0;
  int width = 0;
  std::vector<double> x, weight;
  std::vector<float> x32, weight32;
  bool unit = true;

 private:
  void keep(const std::vector<int64_t>& chosen, const std::vector<double>& mass);
  void pad();
};

}  // namespace cf
