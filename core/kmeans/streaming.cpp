#include "kmeans/streaming.hpp"
#include <algorithm>
#include <cmath>
#include <utility>
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRows = 512;  // for a thread at a time: their columns and labels stay in its cache

int64_t chunks(const RowBlock& block) { return (block.rows + kRows - 1) / kRows; }

int64_t rounded(double x) {
  constexpr double kMost = 0x1p62;  // clip what does not fit: converting it would be undefined
  const double near = std::min(std::max(-kMost, x), kMost);
  return static_cast<int64_t>(near < 0 ? near - 0.5 : near + 0.5);
}

// Integers that wrap around instead of overflowing.
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Multiplies integers by a weight, exactly if the weight is a whole number.
struct Weight {
  explicit Weight(double weight)
      : whole(static_cast<int64_t>(std::min(weight, 0x1p62))), part(weight - static_cast<double>(whole)) {}
  int64_t operator()(int64_t x) const { return plus(times(whole, x), rounded(part * static_cast<double>(x))); }
  int64_t whole;
  double part;
};

}  // namespace

// A chunk of a block's rows, in the coordinates of the centres.
class Passes::PlacedRows {
 public:
  explicit PlacedRows(const Passes& passes) : passes_(passes) {}

  void take(const RowBlock& block, int64_t chunk) {
    start = chunk * kRows;
    rows = std::min(kRows, block.rows - start);
    const double* x = block.x + start * passes_.columns();
    if (!passes_.scaling_) {
      table = Table::project(x, rows, passes_.coordinates_);
      return;
    }
    std::vector<double> scaled = std::move(table.values);
    scaled.resize(rows * passes_.scaling_->width());
    passes_.scaling_->apply(x, rows, scaled.data(), 1, rows, passes_.needed_);
    table = Table::adopt(std::move(scaled), rows, passes_.coordinates_);
  }

  // Call each(number of the clustering, problem, labels of the rows) for each clustering.
  template <class Each>
  void label(const Each& each) {
    narrow_.take(table, passes_.problems_);
    for (size_t t = 0; t < passes_.searches_.size(); ++t) {
      passes_.searches_[t].label(table, narrow_, work_);
      each(t, passes_.problems_[t], work_.chosen.data());
    }
  }

  int64_t start = 0, rows = 0;
  Table table = Table::project(nullptr, 0, {});

 private:
  const Passes& passes_;
  Float32Columns narrow_;
  NearestCenter::Workspace work_;
};

// The sums of one thread.
class Passes::ThreadSums {
 public:
  explicit ThreadSums(const Passes& passes) : placed_(passes) {}

  void add(const RowBlock& block, int64_t chunk, const ClusterSums& units, const Passes& passes) {
    values.resize(passes.center_values);
    mass.resize(passes.clusters);
    placed_.take(block, chunk);
    to_fixed_point(block, units);
    int64_t *to = values.data(), *heap = mass.data();
    placed_.label([&](size_t, const Problem& problem, const int32_t* label) {
      add_clustering(problem, label, to, heap);
      to += static_cast<int64_t>(problem.k) * problem.width;
      heap += problem.k;
    });
  }

  std::vector<int64_t> values, mass;

 private:
  // The rows' coordinates, times their weights, and the weights.
  void to_fixed_point(const RowBlock& block, const ClusterSums& units) {
    const int64_t rows = placed_.rows;
    const double* weights = block.weights ? block.weights + placed_.start : nullptr;
    fixed_.resize(placed_.table.columns * rows);
    for (int64_t c = 0; c < placed_.table.columns; ++c) {
      const double unit = std::ldexp(1.0, units.bits[c]);
      const double* from = placed_.table.column(c);
      int64_t* to = fixed_.data() + c * rows;
      for (int64_t r = 0; r < rows; ++r) to[r] = rounded(from[r] * unit);
      if (weights)
        for (int64_t r = 0; r < rows; ++r) to[r] = Weight(weights[r])(to[r]);
    }
    weight_.assign(rows, int64_t{1} << units.mass_bits);
    if (weights)
      for (int64_t r = 0; r < rows; ++r) weight_[r] = Weight(weights[r])(weight_[r]);
  }

  // Add the rows to the sums of one clustering, `to`, and their weights to `heap`.
  void add_clustering(const Problem& problem, const int32_t* label, int64_t* to, int64_t* heap) const;

  // Add several columns at once: their sums are side by side.
  template <int N>
  void add_columns(const Problem& problem, int first, const int32_t* label, int64_t* to) const {
    const int64_t rows = placed_.rows, width = problem.width;
    const int64_t* from[N];
    for (int j = 0; j < N; ++j) from[j] = fixed_.data() + problem.columns[first + j] * rows;
    for (int64_t r = 0; r < rows; ++r) {
      int64_t* sum = to + label[r] * width;
      for (int j = 0; j < N; ++j) sum[j] = plus(sum[j], from[j][r]);
    }
  }

  PlacedRows placed_;
  std::vector<int64_t> fixed_, weight_;
};

void Passes::ThreadSums::add_clustering(const Problem& problem, const int32_t* label, int64_t* to,
                                        int64_t* heap) const {
  for (int64_t r = 0; r < placed_.rows; ++r) heap[label[r]] = plus(heap[label[r]], weight_[r]);
  int j = 0;
  for (; j + 4 <= problem.width; j += 4) add_columns<4>(problem, j, label, to + j);
  for (; j < problem.width; ++j) add_columns<1>(problem, j, label, to + j);
}

Passes::Passes(const Scaling* scaling, const Coordinates& coordinates, const std::vector<Problem>& problems,
               const std::vector<const double*>& centers)
    : coordinates_(coordinates), problems_(problems) {
  if (scaling) scaling_ = *scaling;
  for (const Problem& problem : problems)
    listed_.insert(listed_.end(), problem.columns, problem.columns + problem.width);
  const int32_t* columns = listed_.data();
  for (size_t i = 0; i < problems_.size(); ++i) {
    Problem& problem = problems_[i];
    problem.columns = columns;
    columns += problem.width;
    searches_.emplace_back(coordinates_, problem, centers[i]);
    clusters += problem.k;
    center_values += static_cast<size_t>(problem.k) * problem.width;
    most_clusters = std::max(most_clusters, problem.k);
  }
  if (scaling_) needed_ = scaling_->needed(listed_);
}

void Passes::add(const RowBlock& block, const ClusterSums& sums, int threads) const {
  std::vector<ThreadSums> shares(threads, ThreadSums(*this));
  parallel_for(chunks(block), threads, [&](int64_t i, int worker) { shares[worker].add(block, i, sums, *this); });
  for (const ThreadSums& share : shares) {
    for (size_t i = 0; i < share.values.size(); ++i) sums.values[i] = plus(sums.values[i], share.values[i]);
    for (size_t i = 0; i < share.mass.size(); ++i) sums.mass[i] = plus(sums.mass[i], share.mass[i]);
  }
}

template <class Label>
void Passes::label(const RowBlock& block, Label* labels, int64_t step, int threads) const {
  std::vector<PlacedRows> placed(threads, PlacedRows(*this));
  parallel_for(chunks(block), threads, [&](int64_t i, int worker) {
    PlacedRows& rows = placed[worker];
    rows.take(block, i);
    rows.label([&](size_t t, const Problem&, const int32_t* label) {
      std::copy_n(label, rows.rows, labels + t * step + rows.start);
    });
  });
}

template void Passes::label(const RowBlock&, int8_t*, int64_t, int) const;
template void Passes::label(const RowBlock&, int16_t*, int64_t, int) const;
template void Passes::label(const RowBlock&, int32_t*, int64_t, int) const;

}  // namespace cf
