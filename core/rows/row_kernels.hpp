// Kernels over rows and columns: scaling, projections, checks for NaN, sums by cluster, and distances over the features
// that two rows share. Included once per instruction set.
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

// The projections of N tiles: their sums stay in registers.
template <int N>
CF_INLINE inline void project_tiles(const double* x, int64_t step, const cf::ProjectionTerm* terms, int64_t count,
                                    double* out) {
  Double sum[N];
  times<N>(N, [&](int n) CF_INLINE { sum[n] = Double::all(0); });
  for (int64_t i = 0; i < count; ++i) {
    const double* column = x + terms[i].column * step;
    const Double coefficient = Double::all(terms[i].coefficient);
    times<N>(N, [&](int n) CF_INLINE { sum[n] = sum[n] + coefficient * Double::load(column + n * kLanes); });
  }
  times<N>(N, [&](int n) CF_INLINE { sum[n].store(out + n * kLanes); });
}

// See Kernels::project.
void project(const double* x, int64_t step, const cf::ProjectionTerm* terms, int64_t count, int64_t tiles,
             double* out) {
  constexpr int kTogether = Double::parts == 2 ? 4 : 1;  // as the registers allow
  int64_t t = 0;
  for (; t + kTogether <= tiles; t += kTogether)
    project_tiles<kTogether>(x + t * kLanes, step, terms, count, out + t * kLanes);
  for (; t < tiles; ++t) project_tiles<1>(x + t * kLanes, step, terms, count, out + t * kLanes);
}

// See Kernels::all_finite: 0 times a number is 0, or NaN if the number is not finite, and a sum keeps it.
bool all_finite(const double* x, int64_t count) {
  constexpr int kSide = Double::parts == 2 ? 2 : 1;  // sums that do not wait for each other
  Double sums[kSide];
  for (Double& lanes : sums) lanes = Double::all(0);
  int64_t i = 0;
  for (; i + kSide * kLanes <= count; i += kSide * kLanes)
    times<kSide>(kSide,
                 [&](int s) CF_INLINE { sums[s] = sums[s] + Double::load(x + i + s * kLanes) * Double::all(0); });
  double rest = 0;
  for (const Double& lanes : sums) rest += sum(lanes);
  for (; i < count; ++i) rest += 0 * x[i];
  return rest == 0;
}

// See Kernels::sum_clusters.
void sum_clusters(const double* units, const int32_t* labels, int64_t rows, double* sums) {
  for (int64_t i = 0; i < rows; ++i) {
    double* sum = sums + labels[i] * kLanes;
    (Double::load(sum) + Double::load(units + i * kLanes)).store(sum);
  }
}

// See Kernels::shared_distances.
void shared_distances(const cf::Features& features, const double* x, const double* known, int64_t tiles,
                      const double* row, double* apart, double* shared) {
  for (int64_t t = 0; t < tiles; ++t) {
    const double* values = x + t * features.columns * kLanes;
    const double* has = known + t * features.count * kLanes;
    Double total = Double::all(0), number = Double::all(0);
    for (int j = 0; j < features.count; ++j) {
      const int start = features.first[j];
      if (row[start] != row[start]) continue;
      const Double both = Double::load(has + j * kLanes);
      for (int c = start; c < start + features.widths[j]; ++c) {
        const Double gap = Double::load(values + c * kLanes) - Double::all(row[c]);
        total = total + gap * gap * both;
      }
      number = number + both;
    }
    total.store(apart + t * kLanes);
    number.store(shared + t * kLanes);
  }
}

}  // namespace
}  // namespace CF_ISA
