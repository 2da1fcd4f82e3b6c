#include "consensus/coassociation.hpp"
#include <algorithm>
#include <vector>
#include "consensus/label_bits.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 32;

// Call use(i, start, counts, columns) with the matches of each row i of `a` and the rows of `b` from `start` on, panel
// by panel.
template <class Count, class Use>
void count_matches(const CountKernels<Count>& kernel, const int32_t* a, int64_t rows_a, const int32_t* b,
                   int64_t rows_b, int members, int threads, const Use& use) {
  for (int64_t start = 0; start < rows_b; start += kPanel) {
    const int64_t end = std::min(rows_b, start + kPanel);
    const LabelBits panel(b, rows_b, members, start, end);
    parallel_for((rows_a + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
      std::vector<int32_t> chosen(members);
      std::vector<Count> counts(panel.columns);
      std::vector<uint64_t> high(panel.words);
      for (int64_t i = task * kRowsPerTask; i < std::min(rows_a, (task + 1) * kRowsPerTask); ++i) {
        panel.choose(a, rows_a, i, chosen);
        kernel.count_row(panel.bits.data(), panel.words, chosen.data(), members, panel.columns, 0, counts.data(),
                         high.data());
        use(i, start, counts.data(), panel.columns);
      }
    });
  }
}

template <class Count>
void coassociate(const CountKernels<Count>& kernel, const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b,
                 int members, const double* table, double* out, int threads) {
  count_matches(kernel, a, rows_a, b, rows_b, members, threads,
                [&](int64_t i, int64_t start, const Count* counts, int64_t columns) {
                  kernel.look_up(counts, columns, table, out + i * rows_b + start);
                });
}

template <class Count>
void most_matched(const CountKernels<Count>& kernel, const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b,
                  int members, int64_t* place, int32_t* matches, int threads) {
  std::fill(matches, matches + rows_a, -1);
  count_matches(kernel, a, rows_a, b, rows_b, members, threads,
                [&](int64_t i, int64_t start, const Count* counts, int64_t columns) {
                  Count most = 0;
                  for (int64_t j = 0; j < columns; ++j) most = std::max(most, counts[j]);
                  if (static_cast<int32_t>(most) <= matches[i]) return;
                  matches[i] = most;
                  place[i] = start + (std::find(counts, counts + columns, most) - counts);
                });
}

}  // namespace

void coassociate(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, const double* table,
                 double* out, int threads) {
  if (members < 256)
    coassociate(kernels().counts8, a, rows_a, b, rows_b, members, table, out, threads);
  else
    coassociate(kernels().counts16, a, rows_a, b, rows_b, members, table, out, threads);
}

void most_matched(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, int64_t* place,
                  int32_t* matches, int threads) {
  if (members < 256)
    most_matched(kernels().counts8, a, rows_a, b, rows_b, members, place, matches, threads);
  else
    most_matched(kernels().counts16, a, rows_a, b, rows_b, members, place, matches, threads);
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
