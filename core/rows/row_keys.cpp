#include "rows/row_keys.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include "runtime/interrupt.hpp"
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 256;

void extend(uint64_t& key, double value) {
  value += 0.0;  // turns -0 into 0
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  key = (key ^ bits) * 0xD6E8FEB86659FD93ull;
  key ^= key >> 32;
}

}  // namespace

PowerOfTwo::PowerOfTwo(int exponent)
    : first(std::ldexp(1.0, exponent / 2)), second(std::ldexp(1.0, exponent - exponent / 2)) {}

int exponent_of(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

std::vector<PowerOfTwo> undo(const std::vector<int>& exponents) {
  std::vector<PowerOfTwo> factors;
  for (int e : exponents) factors.emplace_back(-e);
  return factors;
}

std::vector<double> largest_by_column(const double* x, int64_t n, int64_t p, const double* weights) {
  std::vector<double> largest(p, 0.0);
  int64_t i = 0;
  if (weights) {
    for (; i < n; ++i) {
      if (i % kRowsBetween == 0) check_interrupt();
      for (int64_t j = 0; j < p && weights[i] > 0; ++j) largest[j] = std::max(largest[j], std::fabs(x[i * p + j]));
    }
    return largest;
  }
  for (; i + 4 <= n; i += 4) {  // four rows between two visits to the same maximum
    if (i % kRowsBetween == 0) check_interrupt();
    for (int64_t j = 0; j < p; ++j) {
      const double* at = x + i * p + j;
      const double two = std::max(std::fabs(at[0]), std::fabs(at[p]));
      const double more = std::max(std::fabs(at[2 * p]), std::fabs(at[3 * p]));
      largest[j] = std::max(largest[j], std::max(two, more));
    }
  }
  for (; i < n; ++i)
    for (int64_t j = 0; j < p; ++j) largest[j] = std::max(largest[j], std::fabs(x[i * p + j]));
  return largest;
}

RowKeys::RowKeys(int64_t rows) : keys_(rows, kGolden) {}

void RowKeys::add(const double* x, int64_t columns, int64_t length, const int64_t* rows, const double* weights,
                  int threads) {
  const int64_t n = this->rows();
  std::vector<PowerOfTwo> scale(columns, PowerOfTwo(0));
  parallel_for(columns, threads, [&](int64_t c, int) {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i)
      if (!weights || weights[i] > 0) largest = std::max(largest, std::fabs(x[c * length + rows[i]]));
    scale[c] = PowerOfTwo(-exponent_of(largest));
  });
  parallel_for((n + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t end = std::min(n, (task + 1) * kRowsPerTask);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t i = task * kRowsPerTask; i < end; ++i) extend(keys_[i], scale[c](x[c * length + rows[i]]));
  });
}

void RowKeys::add(const double* x, int64_t row_step, const std::vector<PowerOfTwo>& scale, int threads) {
  const int64_t n = rows();
  parallel_for((n + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t end = std::min(n, (task + 1) * kRowsPerTask);
    const size_t columns = scale.size();
    for (int64_t i = task * kRowsPerTask; i < end; ++i) {
      uint64_t key = keys_[i];
      for (size_t j = 0; j < columns; ++j) extend(key, scale[j](x[i * row_step + j]));
      keys_[i] = key;
    }
  });
}

std::vector<uint64_t> RowKeys::finished() const& { return RowKeys(*this).finished(); }

std::vector<uint64_t> RowKeys::finished() && {
  for (uint64_t& key : keys_) key = mix(key);
  return std::move(keys_);
}

}  // namespace cf
