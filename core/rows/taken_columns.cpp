#include "rows/taken_columns.hpp"
#include <algorithm>
#include <cmath>
#include <vector>
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kColumns = 128, kRows = 16;  // at a time, so that a cache line serves all its columns and rows

struct Step {
  double first, second, shift, divisor, center;  // 2^-exponent is two factors, as in Scaling
};

}  // namespace

template <class Number>
void take_columns(const StridedTable<Number>& table, const ColumnSteps& steps, const Taken& taken, double* out,
                  int threads) {
  parallel_for((taken.column_count + kColumns - 1) / kColumns, threads, [&](int64_t task, int) {
    const int64_t begin = task * kColumns, count = std::min(kColumns, taken.column_count - begin);
    std::vector<int64_t> from(count);
    std::vector<Step> own(count);
    for (int64_t j = 0; j < count; ++j) {
      const int32_t c = taken.columns[begin + j];
      const int power = -steps.exponent[c], first = std::max(0, power - 1023);
      from[j] = c * table.column_step;
      own[j] = {std::ldexp(1.0, first), std::ldexp(1.0, power - first), steps.shift[c], steps.divisor[c],
                steps.center[c]};
    }
    for (int64_t start = 0; start < taken.row_count; start += kRows) {
      const int64_t rows = std::min(kRows, taken.row_count - start);
      for (int64_t j = 0; j < count; ++j) {
        const Number* x = table.x + from[j];
        double* to = out + (begin + j) * taken.row_count + start;
        for (int64_t i = 0; i < rows; ++i) {
          const double value = static_cast<double>(x[taken.rows[start + i] * table.row_step]) + 0.0;
          to[i] = (value * own[j].first * own[j].second - own[j].shift) / own[j].divisor - own[j].center;
        }
      }
    }
  });
}

template void take_columns(const StridedTable<float>&, const ColumnSteps&, const Taken&, double*, int);
template void take_columns(const StridedTable<double>&, const ColumnSteps&, const Taken&, double*, int);

}  // namespace cf
