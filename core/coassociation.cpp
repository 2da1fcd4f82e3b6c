#include "coassociation.hpp"
#include <algorithm>
#include <vector>
#include "kernels.hpp"
#include "threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 32;
constexpr int64_t kPanel = 4096;  // columns whose bit rows are used together, to stay in the cache

// One bit row per (member, label) over the columns of a panel; bit row 0 is empty, for labels that match nothing.
struct BitRows {
  int64_t words;
  std::vector<int32_t> first;   // member -> its first bit row
  std::vector<int32_t> labels;  // member -> number of labels
  std::vector<uint64_t> bits;

  BitRows(const int32_t* partitions, int64_t rows, int members, int64_t start, int64_t end)
      : words((end - start + 1023) / 1024 * 16), first(members), labels(members) {
    int32_t next = 1;
    for (int m = 0; m < members; ++m) {
      const int32_t* row = partitions + static_cast<int64_t>(m) * rows;
      first[m] = next;
      labels[m] = *std::max_element(row + start, row + end) + 1;
      next += labels[m];
    }
    bits.assign(static_cast<size_t>(next) * words, 0);
    for (int m = 0; m < members; ++m) {
      const int32_t* row = partitions + static_cast<int64_t>(m) * rows;
      for (int64_t j = start; j < end; ++j)
        if (row[j] >= 0)
          bits[static_cast<size_t>(first[m] + row[j]) * words + (j - start) / 64] |= 1ull << ((j - start) % 64);
    }
  }

  int32_t of(int member, int32_t label) const {
    return label >= 0 && label < labels[member] ? first[member] + label : 0;
  }
};

}  // namespace

void coassociate(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, const double* table,
                 double* out, int threads) {
  for (int64_t start = 0; start < rows_b; start += kPanel) {
    const int64_t end = std::min(rows_b, start + kPanel);
    const BitRows panel(b, rows_b, members, start, end);
    parallel_for((rows_a + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
      std::vector<int32_t> chosen(members);
      for (int64_t i = task * kRowsPerTask; i < std::min(rows_a, (task + 1) * kRowsPerTask); ++i) {
        for (int m = 0; m < members; ++m) chosen[m] = panel.of(m, a[static_cast<int64_t>(m) * rows_a + i]);
        kernels().count_row(panel.bits.data(), panel.words, chosen.data(), members, end - start, table,
                            out + i * rows_b + start);
      }
    });
  }
}

void multiply(const double* matrix, int64_t rows, int64_t columns, const double* vectors, int count, double* out,
              int threads) {
  constexpr int64_t kBlock = 64;
  if (rows * columns < 1 << 17) threads = 1;  // starting a thread costs more than the product
  parallel_for((rows + kBlock - 1) / kBlock, threads, [&](int64_t task, int) {
    std::vector<double> products(count);
    for (int64_t i = task * kBlock; i < std::min(rows, (task + 1) * kBlock); ++i) {
      kernels().row_products(matrix + i * columns, columns, vectors, count, products.data());
      for (int v = 0; v < count; ++v) out[static_cast<int64_t>(v) * rows + i] = products[v];
    }
  });
}

}  // namespace cf
