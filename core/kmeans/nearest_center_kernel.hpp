// The nearest centre in float32, and for which rows it is certain. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

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
