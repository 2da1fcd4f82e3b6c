#include "kmeans/streaming.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include "kmeans/nearest_center.hpp"
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRows = 1024;  // for a thread at a time: their columns and labels stay in its cache

int64_t pieces(const Block& block) { return (block.rows + kRows - 1) / kRows; }

// Rows of one piece in the coordinates of the centres.
struct Piece {
  void take(const Space& space, const Block& block, int64_t index) {
    start = index * kRows;
    rows = std::min(kRows, block.rows - start);
    const double* x = block.x + start * block.columns;
    if (!space.scaling) {
      table = Table::project(x, rows, space.exponent, space.origin, space.reach);
      return;
    }
    std::vector<double> scaled = std::move(table.values);
    scaled.resize(rows * space.scaling->width());
    space.scaling->apply(x, rows, scaled.data(), 1, rows);
    table = Table::adopt(std::move(scaled), rows, space.exponent, space.origin, space.reach);
  }

  // each(clustering, labels of the rows)
  template <class Each>
  void label(const Clusterings& clusterings, const std::vector<Field>& fields, const Each& each) {
    narrow.take(table, clusterings.problems);
    for (size_t t = 0; t < fields.size(); ++t) {
      fields[t].label(table, narrow, work);
      each(t, work.chosen.data());
    }
  }

  int64_t start = 0, rows = 0;
  Table table = Table::project(nullptr, 0, {}, {}, {});
  Narrow narrow;
  Field::Workspace work;
};

std::vector<Field> make_fields(const Space& space, const Clusterings& clusterings) {
  std::vector<Field> fields;
  for (size_t t = 0; t < clusterings.problems.size(); ++t)
    fields.emplace_back(space.exponent, space.reach, clusterings.problems[t], clusterings.centers[t]);
  return fields;
}

int64_t rounded(double x) {
  constexpr double kMost = 0x1p62;  // numbers that do not fit must not do harm
  const double near = std::min(std::max(-kMost, x), kMost);
  return static_cast<int64_t>(near < 0 ? near - 0.5 : near + 0.5);
}

// Sums that do not fit wrap around.
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// A weight times an integer: exact where the weight is whole.
struct Weight {
  explicit Weight(double weight)
      : whole(static_cast<int64_t>(std::min(weight, 0x1p62))), part(weight - static_cast<double>(whole)) {}
  int64_t operator()(int64_t x) const { return plus(times(whole, x), rounded(part * static_cast<double>(x))); }
  int64_t whole;
  double part;
};

// One thread's share of the sums.
struct Share {
  void add(const Clusterings& clusterings, const std::vector<Field>& fields, const Block& block, const Sums& sums) {
    const int64_t rows = piece.rows;
    fixed.resize(piece.table.columns * rows);
    for (int64_t c = 0; c < piece.table.columns; ++c) {
      const double unit = std::ldexp(1.0, sums.bits[c]);
      const double* from = piece.table.column(c);
      int64_t* to = fixed.data() + c * rows;
      for (int64_t r = 0; r < rows; ++r) to[r] = rounded(from[r] * unit);
      if (block.weights)
        for (int64_t r = 0; r < rows; ++r) to[r] = Weight(block.weights[piece.start + r])(to[r]);
    }
    weight.assign(rows, int64_t{1} << sums.mass_bits);
    if (block.weights)
      for (int64_t r = 0; r < rows; ++r) weight[r] = Weight(block.weights[piece.start + r])(weight[r]);
    int64_t *to = values.data(), *heap = mass.data();
    piece.label(clusterings, fields, [&](size_t t, const int32_t* label) {
      const Problem& problem = clusterings.problems[t];
      for (int64_t r = 0; r < rows; ++r) heap[label[r]] = plus(heap[label[r]], weight[r]);
      int j = 0;
      for (; j + 4 <= problem.width; j += 4) add_columns<4>(problem, j, label, to + j);
      for (; j < problem.width; ++j) add_columns<1>(problem, j, label, to + j);
      to += static_cast<int64_t>(problem.k) * problem.width;
      heap += problem.k;
    });
  }

  // Several columns at once: their sums are neighbours.
  template <int N>
  void add_columns(const Problem& problem, int first, const int32_t* label, int64_t* to) const {
    const int64_t* from[N];
    for (int j = 0; j < N; ++j) from[j] = fixed.data() + problem.columns[first + j] * piece.rows;
    for (int64_t r = 0; r < piece.rows; ++r) {
      int64_t* sum = to + static_cast<int64_t>(label[r]) * problem.width;
      for (int j = 0; j < N; ++j) sum[j] = plus(sum[j], from[j][r]);
    }
  }

  Piece piece;
  std::vector<int64_t> fixed, weight, values, mass;
};

}  // namespace

void add_block(const Space& space, const Clusterings& clusterings, const Block& block, const Sums& sums, int threads) {
  size_t count = 0, clusters = 0;
  for (const Problem& problem : clusterings.problems) {
    count += static_cast<size_t>(problem.k) * problem.width;
    clusters += problem.k;
  }
  const std::vector<Field> fields = make_fields(space, clusterings);
  std::vector<Share> shares(threads);
  parallel_for(pieces(block), threads, [&](int64_t i, int worker) {
    Share& share = shares[worker];
    share.values.resize(count);
    share.mass.resize(clusters);
    share.piece.take(space, block, i);
    share.add(clusterings, fields, block, sums);
  });
  for (const Share& share : shares) {
    for (size_t i = 0; i < share.values.size(); ++i) sums.values[i] = plus(sums.values[i], share.values[i]);
    for (size_t i = 0; i < share.mass.size(); ++i) sums.mass[i] = plus(sums.mass[i], share.mass[i]);
  }
}

template <class Label>
void label_block(const Space& space, const Clusterings& clusterings, const Block& block, Label* labels, int64_t step,
                 int threads) {
  const std::vector<Field> fields = make_fields(space, clusterings);
  std::vector<Piece> each(threads);
  parallel_for(pieces(block), threads, [&](int64_t i, int worker) {
    Piece& piece = each[worker];
    piece.take(space, block, i);
    piece.label(clusterings, fields, [&](size_t t, const int32_t* label) {
      std::copy_n(label, piece.rows, labels + t * step + piece.start);
    });
  });
}

template void label_block(const Space&, const Clusterings&, const Block&, int8_t*, int64_t, int);
template void label_block(const Space&, const Clusterings&, const Block&, int16_t*, int64_t, int);
template void label_block(const Space&, const Clusterings&, const Block&, int32_t*, int64_t, int);

void hash_rows(const Block& block, uint64_t* keys, int threads) {
  parallel_for(pieces(block), threads, [&](int64_t i, int) {
    const int64_t end = std::min(block.rows, (i + 1) * kRows);
    for (int64_t r = i * kRows; r < end; ++r) {
      uint64_t key = 0;
      for (int64_t c = 0; c < block.columns; ++c) {
        double value = block.x[r * block.columns + c] + 0.0;
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
