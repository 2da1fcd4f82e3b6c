// Distances from rows to centres, and the nearest centre: in float64 by direct distances, and in float32 with the rows
// for which it is certain. Included once per instruction set.
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

// ---- In float32 ----

// Searches for the rows of R tiles, so that a centre is loaded once for all of them.
template <int R>
struct CenterSearch {
  const cf::Float32Centers& centers;
  Float best[R], second[R];
  Int label[R];

  // Compare B centres with the best so far, by the same scores as in lloyd.hpp.
  template <int B>
  CF_INLINE void compete(int64_t row, int first) {
    const int d = centers.width;
    const float* center = centers.ahead + static_cast<int64_t>(first) * d;
    Float score[B * R];
    times<B * R>(B * R, [&](int i) CF_INLINE { score[i] = Float::all(centers.offset[first + i / R]); });
    for (int j = 0; j < d; ++j) {
      const float* column = centers.columns[j] + row;
      Float x[R];
      times<R>(R, [&](int r) CF_INLINE { x[r] = Float::load(column + r * kLanes); });
      times<B>(B, [&](int b) CF_INLINE {
        const Float c = Float::all(center[b * d + j]);
        times<R>(R, [&](int r) CF_INLINE { score[b * R + r] = multiply_add(x[r], c, score[b * R + r]); });
      });
    }
    times<B * R>(B * R, [&](int i) CF_INLINE {
      const int r = i % R;
      label[r] = select(best[r] < score[i], Int::all(first + i / R), label[r]);
      second[r] = larger(smaller(score[i], best[r]), second[r]);
      best[r] = larger(score[i], best[r]);
    });
  }

  // The winner is certain if its score is above all others by more than the errors of both.
  CF_INLINE uint32_t doubtful(int64_t row, int r) const {
    const Float zero = Float::all(0);
    Float size = zero;
    for (int j = 0; j < centers.width; ++j) {
      const Float x = Float::load(centers.columns[j] + row) * Float::all(centers.unit[j]);
      size = size + select(x < zero, zero - x, x);
    }
    const Float error = size * Float::all(centers.slope) + Float::all(centers.base);
    const Float exact = size * size * Float::all(centers.rounding) + Float::all(centers.floor);
    const auto sure = second[r] < best[r] - (error + error) - exact;
    return nonzero(select(sure, Int::all(0), Int::all(1)));
  }

  CF_INLINE void run(int64_t row, int32_t* labels, uint32_t* unsure) {
    for (int r = 0; r < R; ++r) {
      best[r] = Float::all(0);  // the score of the first centre
      second[r] = Float::all(-3e38f);
      label[r] = Int::all(0);
    }
    constexpr int kWide = 4;
    int c = 1;
    for (; c + kWide <= centers.k; c += kWide) compete<kWide>(row, c);
    if (c + 2 <= centers.k) compete<2>(row, c), c += 2;
    if (c < centers.k) compete<1>(row, c);
    for (int r = 0; r < R; ++r) {
      label[r].store(labels + row + r * kLanes);
      unsure[row / kLanes + r] = doubtful(row + r * kLanes, r);
    }
  }
};

// See Kernels::nearest_center.
void nearest_center(const cf::Float32Centers& centers, int64_t tiles, int32_t* labels, uint32_t* unsure) {
  constexpr int kTogether = Float::parts == 1 ? 4 : 1;  // as the registers allow
  CenterSearch<kTogether> search{centers, {}, {}, {}};
  CenterSearch<1> rest{centers, {}, {}, {}};
  int64_t t = 0;
  for (; t + kTogether <= tiles; t += kTogether) {
    if (t % cf::kTilesBetween == 0) cf::check_interrupt();
    search.run(t * kLanes, labels, unsure);
  }
  for (; t < tiles; ++t) rest.run(t * kLanes, labels, unsure);
}

}  // namespace
}  // namespace CF_ISA
