#include "rows/taken_columns.hpp"
#include <algorithm>
#include <cmath>
#include <vector>
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int64_t kColumns = 256;  // at a time, so that a cache line serves all its columns

ColumnStep step_of(const ColumnSteps& steps, int32_t column) {
  const int power = -steps.exponent[column], first = std::max(0, power - 1023);
  return {std::ldexp(1.0, first), std::ldexp(1.0, power - first), steps.shift[column], steps.divisor[column],
          steps.center[column]};
}

// A block of columns: tiles of sixteen rows are copied, scaled and written.
template <class Number>
class ColumnBlock {
 public:
  ColumnBlock(const StridedTable<Number>& table, const ColumnSteps& steps, const int32_t* columns, int64_t count)
      : table_(table), places_(count), tile_(count * kTile) {
    for (int64_t j = 0; j < count; ++j) {
      places_[j] = columns[j] * table.column_step;
      steps_.push_back(step_of(steps, columns[j]));
    }
  }

  void write(const int64_t* rows, int64_t count, double* out, int64_t column_step) {
    const int64_t columns = static_cast<int64_t>(places_.size());
    for (int64_t i = 0; i < kTile; ++i) {
      const Number* row = table_.x + rows[std::min(i, count - 1)] * table_.row_step;
      for (int64_t j = 0; j < columns; ++j) tile_[j * kTile + i] = static_cast<double>(row[places_[j]]) + 0.0;
    }
    kernels().scale_tile(tile_.data(), columns, steps_.data());
    for (int64_t j = 0; j < columns; ++j) std::copy_n(&tile_[j * kTile], count, out + j * column_step);
  }

 private:
  const StridedTable<Number>& table_;
  std::vector<int64_t> places_;
  std::vector<ColumnStep> steps_;
  std::vector<double> tile_;
};

}  // namespace

template <class Number>
void take_columns(const StridedTable<Number>& table, const ColumnSteps& steps, const Taken& taken, double* out,
                  int threads) {
  parallel_for((taken.column_count + kColumns - 1) / kColumns, threads, [&](int64_t task, int) {
    const int64_t begin = task * kColumns, count = std::min(kColumns, taken.column_count - begin);
    ColumnBlock<Number> block(table, steps, taken.columns + begin, count);
    for (int64_t start = 0; start < taken.row_count; start += kTile)
      block.write(taken.rows + start, std::min<int64_t>(kTile, taken.row_count - start),
                  out + begin * taken.row_count + start, taken.row_count);
  });
}

template void take_columns(const StridedTable<float>&, const ColumnSteps&, const Taken&, double*, int);
template void take_columns(const StridedTable<double>&, const ColumnSteps&, const Taken&, double*, int);

}  // namespace cf
