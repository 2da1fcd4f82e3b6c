#include "rows/row_hash.hpp"
#include <algorithm>
#include <cstring>
#include <limits>
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 1024;

}  // namespace

void hash_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads) {
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t end = std::min(rows, (task + 1) * kRowsPerTask);
    for (int64_t r = task * kRowsPerTask; r < end; ++r) {
      uint64_t key = keys[r];
      for (int64_t c = 0; c < columns; ++c) {
        double value = x[r * columns + c] + 0.0;  // turns -0 into 0
        if (value != value) value = std::numeric_limits<double>::quiet_NaN();
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        key = hash(key, bits);
      }
      keys[r] = key;
    }
  });
}

}  // namespace cf
