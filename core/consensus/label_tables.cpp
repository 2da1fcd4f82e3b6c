#include "consensus/label_tables.hpp"
#include <algorithm>
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 1024;

}  // namespace

void sum_lines(const int32_t* labels, int64_t rows, int members, const int64_t* first, const double* lines, int width,
               double* out, int threads) {
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t start = task * kRowsPerTask, end = std::min(rows, start + kRowsPerTask);
    std::fill(out + start * width, out + end * width, 0.0);
    for (int m = 0; m < members; ++m) {
      const int32_t* label = labels + static_cast<int64_t>(m) * rows;
      const int64_t last = first[m + 1] - first[m] - 1;
      const double* table = lines + first[m] * width;
      for (int64_t i = start; i < end; ++i) {
        const int64_t at = label[i] < 0 ? last : std::min<int64_t>(label[i], last - 1);
        for (int j = 0; j < width; ++j) out[i * width + j] += table[at * width + j];
      }
    }
  });
}

void column_keys(const int32_t* labels, int64_t rows, int members, uint64_t* out) {
  std::fill(out, out + rows, kGolden);
  for (int m = 0; m < members; ++m) {
    check_interrupt();
    const int32_t* label = labels + static_cast<int64_t>(m) * rows;
    for (int64_t i = 0; i < rows; ++i) out[i] = mix(out[i] ^ static_cast<uint32_t>(label[i])) + kGolden;
  }
}

}  // namespace cf
