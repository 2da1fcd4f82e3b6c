// Sums as NumPy takes them, to the last bit: of up to 128 numbers in eight running sums, of more in two halves.
#pragma once
#include <cstdint>

namespace cf {

inline double pairwise_sum(const double* x, int64_t n, int64_t step = 1) {
  constexpr int64_t kBlock = 128;
  if (n < 8) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x[i * step];
    return sum;
  }
  if (n <= kBlock) {
    double part[8];
    for (int j = 0; j < 8; ++j) part[j] = x[j * step];
    int64_t i = 8;
    for (; i + 8 <= n; i += 8)
      for (int j = 0; j < 8; ++j) part[j] += x[(i + j) * step];
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < n; ++i) sum += x[i * step];
    return sum;
  }
  const int64_t half = n / 2 - n / 2 % 8;
  return pairwise_sum(x, half, step) + pairwise_sum(x + half * step, n - half, step);
}

}  // namespace cf
