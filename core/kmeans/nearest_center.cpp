#include "kmeans/nearest_center.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int64_t kChunk = 512;  // for a thread at a time: their columns and labels stay in its cache

int64_t chunks(const RowBlock& block) { return (block.rows + kChunk - 1) / kChunk; }

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

// ---- The rows of a table ----

void Float32Columns::take(const Table& table, const std::vector<Problem>& problems) {
  // Only the columns that some problem lists, each once.
  tiles = (table.distinct + kTile - 1) / kTile;
  place.assign(table.columns, -1);
  int64_t used = 0;
  for (const Problem& problem : problems)
    for (int j = 0; j < problem.width; ++j)
      if (place[problem.columns[j]] < 0) place[problem.columns[j]] = used++ * tiles * kTile;
  values.resize(used * tiles * kTile);
  for (int64_t c = 0; c < table.columns; ++c)
    if (place[c] >= 0) {
      check_interrupt();
      std::copy_n(table.column(c), table.distinct, values.begin() + place[c]);
      std::fill(values.begin() + place[c] + table.distinct, values.begin() + place[c] + tiles * kTile, 0.0f);
    }
}

NearestCenter::NearestCenter(const Coordinates& coordinates, const Problem& problem, const double* centers)
    : columns_(coordinates.reach, problem),
      k_(problem.k),
      width_(static_cast<int>(columns_.source.size())),
      centers_(static_cast<size_t>(k_) * width_) {
  place_centers(coordinates, problem, centers);
  bound_errors();
}

// Bring the centres to the unit of the column that reaches farthest, as ProblemRows brings its rows.
void NearestCenter::place_centers(const Coordinates& coordinates, const Problem& problem, const double* centers) {
  for (int j = 0; j < width_; ++j) {
    const int column = columns_.source[j], power = coordinates.exponent[column] - columns_.exponent;
    scale_.emplace_back(power);
    in_range_ = in_range_ && std::abs(power) <= kFloat32Range;
    const int64_t listed = std::find(problem.columns, problem.columns + problem.width, column) - problem.columns;
    for (int64_t c = 0; c < k_; ++c)
      centers_[j * k_ + c] = scale_[j](centers[c * problem.width + listed]) * columns_.root[j];
    unit_.push_back(static_cast<float>(std::ldexp(columns_.root[j], in_range_ ? power : 0)));
  }
}

// The nearest centre c maximises x.(c - c0) + (|c0|^2 - |c|^2) / 2. Rounding changes a score by at most a linear
// function of the size of x, which is bounded here over all centres.
void NearestCenter::bound_errors() {
  const int d = width_;
  ahead_.resize(centers_.size());
  offset_.resize(k_);
  double farthest = 0, steepest = 0, highest = 0;
  for (int64_t c = 0; c < k_; ++c) {
    double square = 0, size = 0;
    for (int j = 0; j < d; ++j) {
      const double own = centers_[j * k_ + c], first = centers_[j * k_];
      ahead_[c * d + j] = static_cast<float>((own - first) * unit_[j]);
      square += (first - own) * (first + own);
      steepest = std::max(steepest, std::fabs(own - first));
      size += std::fabs(own);
    }
    offset_[c] = static_cast<float>(0.5 * square);
    highest = std::max(highest, std::fabs(square));
    farthest = std::max(farthest, size);
  }
  slope_ = static_cast<float>(float32_error(d) * steepest);
  base_ = static_cast<float>(float32_error(d) * 0.5 * highest);
  rounding_ = static_cast<float>(float64_error(d));
  floor_ = static_cast<float>(float64_error(d) * farthest * farthest + kDistanceFloor);
}

void NearestCenter::label(const Table& table, const Float32Columns& narrow, Workspace& work) const {
  // In float32, unless columns are too far apart in size.
  work.chosen.resize(narrow.tiles * kTile);
  work.unsure.resize(narrow.tiles);
  work.columns.resize(width_);
  for (int j = 0; j < width_; ++j) work.columns[j] = narrow.column(columns_.source[j]);
  const Float32Centers centers = {
      work.columns.data(), unit_.data(), ahead_.data(), offset_.data(), slope_, base_, rounding_, floor_, width_, k_};
  if (in_range_)
    kernels().nearest_center(centers, narrow.tiles, work.chosen.data(), work.unsure.data());
  else
    std::fill(work.unsure.begin(), work.unsure.end(), (uint32_t{1} << kTile) - 1);
  // The rows that it cannot decide, one by one.
  for (int64_t t = 0; t < narrow.tiles; ++t) {
    if (t % kTilesBetween == 0) check_interrupt();
    for (int lane = 0; work.unsure[t] >> lane; ++lane) {
      const int64_t row = t * kTile + lane;
      if ((work.unsure[t] >> lane & 1) && row < table.distinct) work.chosen[row] = nearest(table, row, work.apart);
    }
  }
}

// By direct distances, lowest index on ties.
int32_t NearestCenter::nearest(const Table& table, int64_t row, std::vector<double>& apart) const {
  apart.assign(k_, 0.0);
  double* const total = apart.data();
  for (int j = 0; j < width_; ++j) {
    const double x = scale_[j](table.column(columns_.source[j])[row]) * columns_.root[j];
    const double* center = centers_.data() + static_cast<int64_t>(j) * k_;
    for (int c = 0; c < k_; ++c) total[c] += (x - center[c]) * (x - center[c]);
  }
  int32_t label = 0;
  double best = INFINITY;
  for (int32_t c = 0; c < k_; ++c)
    if (total[c] < best) best = total[c], label = c;
  return label;
}

void assign(const Table& table, const std::vector<Problem>& problems, const std::vector<const double*>& centers,
            int32_t* labels, int threads) {
  Float32Columns narrow;
  narrow.take(table, problems);
  std::vector<NearestCenter::Workspace> spaces(std::max(threads, 1));
  parallel_for(static_cast<int64_t>(problems.size()), threads, [&](int64_t i, int worker) {
    NearestCenter::Workspace& work = spaces[worker];
    NearestCenter(table, problems[i], centers[i]).label(table, narrow, work);
    int32_t* out = labels + i * table.rows;
    for (int64_t r = 0; r < table.rows; ++r) out[r] = table.place[r] < 0 ? -1 : work.chosen[table.place[r]];
  });
}

// ---- Rows that come block by block ----

// A chunk of a block's rows, in the coordinates of the centres.
class Passes::PlacedRows {
 public:
  explicit PlacedRows(const Passes& passes) : passes_(passes) {}

  void take(const RowBlock& block, int64_t chunk) {
    start = chunk * kChunk;
    rows = std::min(kChunk, block.rows - start);
    const double* x = block.x + start * passes_.columns();
    // Scaled already, or scaled here into the memory of the last chunk.
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
  // Keep the lists of columns, which the caller may not.
  for (const Problem& problem : problems)
    listed_.insert(listed_.end(), problem.columns, problem.columns + problem.width);
  // Each problem with its search, and what all of them have together.
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
  // Each thread has sums of its own, which are added in any order: integers.
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
