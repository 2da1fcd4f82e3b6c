// The nearest centre in float32, and for which rows that is certain. Included per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

struct Nearest {
  const cf::Contest& contest;
  Float size;  // of the rows: the sum of their coordinates' magnitudes
  Float best, second, error;
  Int label;

  // The nearest centre maximises x.c - |c|^2 / 2; what the first one reaches is taken off. What competes is the most
  // that a score can be: the winner is certain if the least that it can be is above all others.
  template <int B>
  CF_INLINE void compete(int64_t row, int first) {
    const int d = contest.width;
    const float* center = contest.ahead + static_cast<int64_t>(first) * d;
    Float score[B];
    times<B>(B, [&](int b) CF_INLINE { score[b] = Float::all(contest.offset[first + b]); });
    for (int j = 0; j < d; ++j) {
      const Float x = Float::load(contest.columns[j] + row);
      times<B>(B, [&](int b) CF_INLINE { score[b] = score[b] + x * Float::all(center[b * d + j]); });
    }
    times<B>(B, [&](int b) CF_INLINE {
      const Float off = size * Float::all(contest.slope[first + b]) + Float::all(contest.base[first + b]);
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
    for (int j = 0; j < contest.width; ++j) {
      const Float x = Float::load(contest.columns[j] + row) * Float::all(contest.unit[j]);
      size = size + select(x < zero, zero - x, x);
    }
    best = error = zero;
    second = Float::all(-3e38f);
    label = Int::all(0);
    constexpr int kWide = Float::parts == 1 ? 8 : 4;
    int c = 1;
    for (; c + kWide <= contest.k; c += kWide) compete<kWide>(row, c);
    if (kWide > 4 && c + 4 <= contest.k) compete<4>(row, c), c += 4;
    if (c + 2 <= contest.k) compete<2>(row, c), c += 2;
    if (c < contest.k) compete<1>(row, c);
    label.store(labels + row);
    const Float exact = size * size * Float::all(contest.rounding) + Float::all(contest.floor);
    const auto sure = second < best - (error + error) - exact;
    return nonzero(select(sure, Int::all(0), Int::all(1)));
  }
};

void nearest(const cf::Contest& contest, int64_t tiles, int32_t* labels, uint32_t* unsure) {
  Nearest one{contest, {}, {}, {}, {}, {}};
  for (int64_t t = 0; t < tiles; ++t) {
    if (t % cf::kTilesBetween == 0) cf::check_interrupt();
    unsure[t] = one.run(t * kLanes, labels);
  }
}

}  // namespace
}  // namespace CF_ISA
