#include "rows/wide_columns.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>
#include "rows/row_hash.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

// A sum as NumPy takes it, to the last bit: of up to 128 numbers in eight running sums, of more in two halves (pairwise
// summation: Higham 1993).
double pairwise_sum(const double* x, int64_t n, int64_t step = 1) {
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

constexpr int64_t kColumnsPerTask = 64;

// Call work(column, worker) for each column.
template <class Work>
void each_column(const Columns& columns, int threads, const Work& work) {
  parallel_for((columns.count + kColumnsPerTask - 1) / kColumnsPerTask, threads, [&](int64_t task, int worker) {
    const int64_t end = std::min(columns.count, (task + 1) * kColumnsPerTask);
    for (int64_t c = task * kColumnsPerTask; c < end; ++c) work(c, worker);
  });
}

// The different values of a column, and the share of the rows that have each.
struct Distribution {
  void take(const double* ordered, int64_t rows) {
    values.clear();
    shares.clear();
    for (int64_t i = 0, start = 0; i < rows; ++i) {
      if (i + 1 < rows && ordered[i + 1] == ordered[i]) continue;
      values.push_back(ordered[start]);
      shares.push_back(static_cast<double>(i + 1 - start) / static_cast<double>(rows));
      start = i + 1;
    }
  }

  std::vector<double> values, shares;
};

// Write the step of a column whose distribution is known; the column is scaled by its power of two on the way.
void fit_step(Distribution& column, bool range, int64_t c, const FittedSteps& steps) {
  std::vector<double>& x = column.values;
  const int64_t n = static_cast<int64_t>(x.size());
  steps.values[c] = static_cast<int32_t>(n);
  steps.exponent[c] = 0, steps.shift[c] = 0, steps.divisor[c] = 1;
  if (n < 2) return;
  // Divide by a power of two, so that no square overflows or vanishes.
  const int exponent = exponent_of(std::max(std::fabs(x.front()), std::fabs(x.back())));
  const bool one_factor = std::abs(exponent) < 1000;  // otherwise 2^-exponent may not be a double
  const double factor = one_factor ? std::ldexp(1.0, -exponent) : 1;
  for (double& value : x) value = one_factor ? value * factor : std::ldexp(value, -exponent);
  steps.exponent[c] = exponent;
  if (range) {
    steps.shift[c] = x.front(), steps.divisor[c] = x.back() - x.front();
    return;
  }
  // Mean and standard deviation over the different values, with their shares of the rows.
  std::vector<double>& share = column.shares;
  std::vector<double> product(n);
  for (int64_t i = 0; i < n; ++i) product[i] = share[i] * x[i];
  const double mean = pairwise_sum(product.data(), n);
  for (int64_t i = 0; i < n; ++i) product[i] = share[i] * ((x[i] - mean) * (x[i] - mean));
  steps.shift[c] = mean, steps.divisor[c] = std::sqrt(pairwise_sum(product.data(), n));
}

// The nearest whole number, even on ties, of one below 2^51.
double whole(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

constexpr int kSide = kTile;  // columns that are added up side by side

// Columns in whole numbers up to 2^26, whose sums are exact in any order.
class WholeUnits {
 public:
  explicit WholeUnits(int64_t rows) : units(rows * kSide), rows_(rows), column_(rows) {}

  void take(const double* x, int side, double& total, double& scale) {
    // Centre the column, in units of its largest value.
    constexpr double kUnit = 0x1p26, kLeast = 1e-300, kRounding = 1e-12;
    double size = kLeast, reach = 0;
    for (int64_t i = 0; i < rows_; ++i) size = std::max(size, std::fabs(x[i]));
    for (int64_t i = 0; i < rows_; ++i) column_[i] = x[i] / size;
    const double mean = pairwise_sum(column_.data(), rows_) / static_cast<double>(rows_);
    for (int64_t i = 0; i < rows_; ++i) column_[i] -= mean;
    // Round it to whole numbers of a unit; what is all rounding error becomes 0.
    for (int64_t i = 0; i < rows_; ++i) reach = std::max(reach, std::fabs(column_[i]));
    for (int64_t i = 0; i < rows_; ++i) column_[i] = reach > kRounding ? whole(kUnit * column_[i] / reach) : 0;
    for (int64_t i = 0; i < rows_; ++i) units[i * kSide + side] = column_[i];
    for (double& value : column_) value *= value;
    total = pairwise_sum(column_.data(), rows_);
    scale = size * reach;
  }

  std::vector<double> units;  // [row][kSide]

 private:
  int64_t rows_;
  std::vector<double> column_;
};

// The sums of squares between the clusters of one clustering, of kSide columns.
void add_between(const int32_t* labels, int64_t rows, const double* units, const double* sizes, int64_t clusters,
                 std::vector<double>& sums, double* between) {
  // Between clusters: the squared sum of each over its size.
  sums.assign(clusters * kSide, 0);
  kernels().sum_clusters(units, labels, rows, sums.data());
  for (int64_t k = 0; k < clusters; ++k) {
    double* sum = sums.data() + k * kSide;
    const double size = std::max(sizes[k], 1.0);
    for (int j = 0; j < kSide; ++j) sum[j] = sum[j] * sum[j] / size;
  }
  for (int j = 0; j < kSide; ++j) between[j] = sums[j] + pairwise_sum(sums.data() + kSide + j, clusters - 1, kSide);
}

constexpr int64_t kTakenColumns = 256;  // at a time, so that a cache line serves all its columns

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

void fit_steps(const Columns& ordered, bool range, const FittedSteps& steps, int threads) {
  std::vector<Distribution> own(threads);
  each_column(ordered, threads, [&](int64_t c, int worker) {
    own[worker].take(ordered.x + c * ordered.rows, ordered.rows);
    fit_step(own[worker], range, c, steps);
  });
}

void rank_columns(const Columns& columns, const int64_t* order, double* ranks, int threads) {
  const int64_t n = columns.rows;
  each_column(columns, threads, [&](int64_t c, int) {
    const double* x = columns.x + c * n;
    const int64_t* at = order + c * n;
    for (int64_t start = 0, end = 0; start < n; start = end) {
      // Equal values share the middle of their ranks.
      for (end = start + 1; end < n && x[at[end]] == x[at[start]];) ++end;
      const double rank = (static_cast<double>(end) - static_cast<double>(end - start) / 2) / static_cast<double>(n);
      for (int64_t i = start; i < end; ++i) ranks[c * n + at[i]] = rank;
    }
  });
}

void share_variance(const Columns& columns, const Clusterings& clusterings, const ClusterShares& shares, int threads) {
  // Some columns at a time, through all clusterings while their numbers are in the cache.
  struct Own {
    explicit Own(int64_t rows) : whole(rows) {}
    WholeUnits whole;
    std::vector<double> sums;
  };
  const int64_t n = columns.rows;
  std::vector<Own> own(threads, Own(n));
  parallel_for((columns.count + kSide - 1) / kSide, threads, [&](int64_t task, int worker) {
    Own& mine = own[worker];
    const int64_t start = task * kSide;
    const int count = static_cast<int>(std::min<int64_t>(kSide, columns.count - start));
    for (int j = 0; j < count; ++j)
      mine.whole.take(columns.x + (start + j) * n, j, shares.total[start + j], shares.scale[start + j]);
    double between[kSide];
    for (int64_t t = 0; t < clusterings.count; ++t) {
      const int64_t first = clusterings.first[t];
      add_between(clusterings.labels + t * n, n, mine.whole.units.data(), clusterings.sizes + first,
                  clusterings.first[t + 1] - first, mine.sums, between);
      std::copy_n(between, count, shares.between + t * columns.count + start);
    }
  });
}

// ---- Some rows and columns, scaled one by one ----

template <class Number>
void take_columns(const StridedTable<Number>& table, const ColumnSteps& steps, const Taken& taken, double* out,
                  int threads) {
  parallel_for((taken.column_count + kTakenColumns - 1) / kTakenColumns, threads, [&](int64_t task, int) {
    const int64_t begin = task * kTakenColumns, count = std::min(kTakenColumns, taken.column_count - begin);
    ColumnBlock<Number> block(table, steps, taken.columns + begin, count);
    for (int64_t start = 0; start < taken.row_count; start += kTile)
      block.write(taken.rows + start, std::min<int64_t>(kTile, taken.row_count - start),
                  out + begin * taken.row_count + start, taken.row_count);
  });
}

template void take_columns(const StridedTable<float>&, const ColumnSteps&, const Taken&, double*, int);
template void take_columns(const StridedTable<double>&, const ColumnSteps&, const Taken&, double*, int);

}  // namespace cf
