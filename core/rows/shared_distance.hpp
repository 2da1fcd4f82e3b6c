// Distances between rows over the features that both have. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

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
