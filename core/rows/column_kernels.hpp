// Columns of a wide table: scaled rows, and sums of rows by cluster. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

// See Kernels::scale_tile.
void scale_tile(double* x, int64_t columns, const cf::ColumnStep* steps) {
  for (int64_t c = 0; c < columns; ++c) {
    const cf::ColumnStep& step = steps[c];
    const Double moved =
        Double::load(x + c * kLanes) * Double::all(step.first) * Double::all(step.second) - Double::all(step.shift);
    (moved / Double::all(step.divisor) - Double::all(step.center)).store(x + c * kLanes);
  }
}

// See Kernels::sum_clusters.
void sum_clusters(const double* units, const int32_t* labels, int64_t rows, double* sums) {
  for (int64_t i = 0; i < rows; ++i) {
    double* sum = sums + labels[i] * kLanes;
    (Double::load(sum) + Double::load(units + i * kLanes)).store(sum);
  }
}

}  // namespace
}  // namespace CF_ISA
