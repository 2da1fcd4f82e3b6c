// The nearest centre of each row: in float32 where that cannot be wrong, in float64 otherwise.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/problem_rows.hpp"

namespace cf {

// The columns of a table that problems have, in float32, each padded to whole tiles.
struct Narrow {
  void take(const Table& table, const std::vector<Problem>& problems);
  const float* column(int64_t c) const { return values.data() + place[c]; }

  int64_t tiles = 0;
  std::vector<int64_t> place;
  std::vector<float> values;
};

// One clustering's centres among the packed columns, and what the float32 search needs of them.
class Field {
 public:
  struct Workspace {
    std::vector<int32_t> chosen;  // the label of each distinct row of the table, and of what pads it
    std::vector<uint32_t> unsure;
    std::vector<const float*> columns;
    std::vector<double> x;
  };

  Field(const std::vector<int>& exponent, const std::vector<int>& reach, const Problem& problem, const double* centers);

  void label(const Table& table, const Narrow& narrow, Workspace& work) const;

 private:
  int32_t nearest(const Table& table, int64_t row, std::vector<double>& x) const;

  Layout layout_;
  int k_, width_;
  bool in_range_ = true;
  std::vector<PowerOfTwo> scale_;
  std::vector<double> centers_;
  std::vector<float> unit_, ahead_, offset_, slope_, base_;
  float rounding_ = 0, floor_ = 0;
};

}  // namespace cf
