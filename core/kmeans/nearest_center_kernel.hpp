// The nearest centre in float32, and for which rows it is certain. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

struct CenterSearch {
  const cf::Float32Centers& centers;
  Float size;  // sum of the magnitudes of a row's coordinates
  Float best, second, error;
  Int label;

  // Compare B centres with the best so far, by the same scores as in lloyd.hpp. Compared are upper bounds of scores:
  // the winner is certain if its lower bound is above the upper bounds of all others.
  template <int B>
  CF_INLINE void compete(int64_t row, int first) {
    const int d = centers.width;
    const float* center = centers.ahead + static_cast<int64_t>(first) * d;
    Float score[B];
    times<B>(B, [&](int b) CF_INLINE { score[b] = Float::all(centers.offset[first + b]); });
    for (int j = 0; j < d; ++j) {
      const Float x = Float::load(centers.columns[j] + row);
      times<B>(B, [&](int b) CF_INLINE { score[b] = score[b] + x * Float::all(center[b * d + j]); });
    }
    times<B>(B, [&](int b) CF_INLINE {
      const Float off = size * Float::all(centers.slope[first + b]) + Float::all(centers.base[first + b]);
      const Float most = score[b] + off;
      const auto better = best < most;
      second = select(better, best, select(second < most, most, second));
      best = select(better, most, best);
      error = select(better, off, error);
      label = select(better, Int::all(first + b), label);
    });
  }

  CF_INLINE uint32_t run(int64_t row, int32_t* labels) {
    const Float zero = Float::all(0);
    size = zero;
    for (int j = 0; j < centers.width; ++j) {
      const Float x = Float::load(centers.columns[j] + row) * Float::all(centers.unit[j]);
      size = size + select(x < zero, zero - x, x);
    }
    best = error = zero;
    second = Float::all(-3e38f);
    label = Int::all(0);
    constexpr int kWide = Float::parts == 1 ? 8 : 4;
    int c = 1;
    for (; c + kWide <= centers.k; c += kWide) compete<kWide>(row, c);
    if (kWide > 4 && c + 4 <= centers.k) compete<4>(row, c), c += 4;
    if (c + 2 <= centers.k) compete<2>(row, c), c += 2;
    if (c < centers.k) compete<1>(row, c);
    label.store(labels + row);
    const Float exact = size * size * Float::all(centers.rounding) + Float::all(centers.floor);
    const auto sure = second < best - (error + error) - exact;
    return nonzero(select(sure, Int::all(0), Int::all(1)));
  }
};

// See Kernels::nearest_center.
void nearest_center(const cf::Float32Centers& centers, int64_t tiles, int32_t* labels, uint32_t* unsure) {
  CenterSearch search{centers, {}, {}, {}, {}, {}};
  for (int64_t t = 0; t < tiles; ++t) {
    if (t % cf::kTilesBetween == 0) cf::check_interrupt();
    unsure[t] = search.run(t * kLanes, labels);
  }
}

}  // namespace
}  // namespace CF_ISA
