#include "consensus/label_tables.hpp"
#include <algorithm>
#include <numeric>
#include <vector>
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

void count_cells(const int32_t* labels, int64_t rows, int members, const int64_t* first, const int32_t* groups,
                 const double* weights, int width, double* cells, int threads) {
  parallel_for(members, threads, [&](int64_t m, int) {
    const int32_t* label = labels + m * rows;
    double* table = cells + first[m] * width;
    for (int64_t i = 0; i < rows; ++i)
      if (label[i] >= 0) table[static_cast<int64_t>(label[i]) * width + groups[i]] += weights ? weights[i] : 1.0;
  });
}

void sum_companions(const int32_t* labels, int64_t rows, int members, const int64_t* first, const double* cells,
                    const double* everyone, int width, const double* copies, double rounding, double* out,
                    int threads) {
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t start = task * kRowsPerTask, end = std::min(rows, start + kRowsPerTask);
    std::fill(out + start * (width + 1), out + end * (width + 1), 0.0);
    for (int m = 0; m < members; ++m) {
      const int32_t* label = labels + static_cast<int64_t>(m) * rows;
      for (int64_t i = start; i < end; ++i) {
        if (label[i] < 0) continue;
        const int64_t line = first[m] + label[i];
        const double companions = everyone[line] - copies[i];
        if (!(companions > rounding * copies[i])) continue;
        // A share of 1 among the companions, whatever their number.
        const double each = 1.0 / companions;
        double* sums = out + i * (width + 1);
        for (int j = 0; j < width; ++j) sums[j] += cells[line * width + j] * each;
        sums[width] += copies[i] * each;
      }
    }
  });
}

void order_columns(const int32_t* labels, int64_t rows, int members, int64_t* order, bool* is_new) {
  // The labels of each row side by side, as numbers that compare as their bytes do.
  std::vector<uint32_t> keys(static_cast<size_t>(rows) * members);
  for (int m = 0; m < members; ++m) {
    check_interrupt();
    const int32_t* label = labels + static_cast<int64_t>(m) * rows;
    for (int64_t i = 0; i < rows; ++i) {
      const uint32_t x = static_cast<uint32_t>(label[i]);
      keys[static_cast<size_t>(i) * members + m] = x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
    }
  }
  // Sort the rows by them, and compare neighbours.
  std::iota(order, order + rows, int64_t{0});
  std::sort(order, order + rows, [&](int64_t a, int64_t b) {
    const uint32_t *x = keys.data() + a * members, *y = keys.data() + b * members;
    const auto differ = std::mismatch(x, x + members, y);
    return differ.first == x + members ? a < b : *differ.first < *differ.second;
  });
  for (int64_t i = 0; i < rows; ++i) {
    const uint32_t* x = keys.data() + order[i] * members;
    is_new[i] = i == 0 || !std::equal(x, x + members, keys.data() + order[i - 1] * members);
  }
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
