#include "rows/row_hash.hpp"
#include <algorithm>
#include <cstring>
#include <limits>
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 256;
constexpr int kSide = 4;  // rows whose hashes are made side by side: each step waits for the one before

uint64_t bits_of(double value) {
  value += 0.0;  // turns -0 into 0
  if (value != value) value = std::numeric_limits<double>::quiet_NaN();
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <int N>
void hash_some(const double* x, int64_t columns, uint64_t* keys) {
  uint64_t key[N];
  for (int r = 0; r < N; ++r) key[r] = keys[r];
  for (int64_t c = 0; c < columns; ++c)
    for (int r = 0; r < N; ++r) key[r] = hash(key[r], bits_of(x[r * columns + c]));
  for (int r = 0; r < N; ++r) keys[r] = key[r];
}

}  // namespace

void hash_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads) {
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t end = std::min(rows, (task + 1) * kRowsPerTask);
    int64_t r = task * kRowsPerTask;
    for (; r + kSide <= end; r += kSide) hash_some<kSide>(x + r * columns, columns, keys + r);
    for (; r < end; ++r) hash_some<1>(x + r * columns, columns, keys + r);
  });
}

}  // namespace cf
