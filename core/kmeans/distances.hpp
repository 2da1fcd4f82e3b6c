// Distances between rows and centres in float64. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

constexpr double kFar = 1e300;  // above every squared distance

// Squared distances of a tile's rows to a centre.
inline Double distance(const double* tile, int d, const double* center) {
  Double total = Double::all(0);
  for (int j = 0; j < d; ++j) {
    const Double gap = Double::load(tile + j * kLanes) - Double::all(center[j]);
    total = total + gap * gap;
  }
  return total;
}

// The same for the row in one lane.
inline double distance_at(const double* tile, int lane, int d, const double* center) {
  double total = 0;
  for (int j = 0; j < d; ++j) {
    const double gap = tile[j * kLanes + lane] - center[j];
    total += gap * gap;
  }
  return total;
}

// See Kernels::assign.
void assign(const cf::TiledRows<double>& rows, int k, const double* centers, int32_t* labels) {
  const int d = rows.columns;
  for (int64_t t = 0; t < rows.tiles; ++t) {
    if (t % cf::kTilesBetween == 0) cf::check_interrupt();
    const double* tile = rows.x + t * d * kLanes;
    Double best = distance(tile, d, centers), label = Double::all(0);
    for (int c = 1; c < k; ++c) {
      const Double here = distance(tile, d, centers + static_cast<int64_t>(c) * d);
      const auto closer = here < best;
      best = select(closer, here, best);
      label = select(closer, Double::all(c), label);
    }
    double chosen[kLanes];
    label.store(chosen);
    for (int i = 0; i < kLanes; ++i) labels[t * kLanes + i] = static_cast<int32_t>(chosen[i]);
  }
}

// See Kernels::two_nearest.
void two_nearest(const cf::TiledRows<double>& rows, int k, const double* centers, double* nearest, double* second) {
  const int d = rows.columns;
  for (int64_t t = 0; t < rows.tiles; ++t) {
    if (t % cf::kTilesBetween == 0) cf::check_interrupt();
    const double* tile = rows.x + t * d * kLanes;
    Double best = distance(tile, d, centers), next = Double::all(kFar);
    for (int c = 1; c < k; ++c) {
      const Double here = distance(tile, d, centers + static_cast<int64_t>(c) * d);
      const auto closer = here < best;
      next = select(closer, best, select(here < next, here, next));
      best = select(closer, here, best);
    }
    best.store(nearest + t * kLanes);
    next.store(second + t * kLanes);
  }
}

}  // namespace
}  // namespace CF_ISA
