// The nearest centre of each row: in float32 where that cannot be wrong, in float64 otherwise.
#include <algorithm>
#include <cmath>
#include "kernels.hpp"
#include "packed.hpp"
#include "threads.hpp"

namespace cf {
namespace {

constexpr int kRange = 60;  // powers of two: columns further apart are not compared in float32

// A table's columns in float32, each padded to whole tiles.
struct Narrow {
  Narrow(const Table& table, const std::vector<Problem>& problems)
      : tiles((table.distinct + kTile - 1) / kTile), place(table.columns, -1) {
    int64_t used = 0;
    for (const Problem& problem : problems)
      for (int j = 0; j < problem.width; ++j)
        if (place[problem.columns[j]] < 0) place[problem.columns[j]] = used++ * tiles * kTile;
    values.resize(used * tiles * kTile);
    for (int64_t c = 0; c < table.columns; ++c)
      if (place[c] >= 0) std::copy_n(table.column(c), table.distinct, values.begin() + place[c]);
  }
  const float* column(int64_t c) const { return values.data() + place[c]; }

  int64_t tiles;
  std::vector<int64_t> place;
  std::vector<float> values;
};

// One clustering's centres among the packed columns, and what the float32 search needs of them.
class Field {
 public:
  Field(const Table& table, const Problem& problem, const double* centers, const Narrow& narrow)
      : table_(table), layout_(table, problem), k_(problem.k), centers_(k_ * layout_.source.size()) {
    const int d = static_cast<int>(layout_.source.size());
    for (int j = 0; j < d; ++j) {
      const int column = layout_.source[j], power = table.exponent[column] - layout_.exponent;
      scale_.emplace_back(power);
      in_range_ = in_range_ && std::abs(power) <= kRange;
      const int64_t listed = std::find(problem.columns, problem.columns + problem.width, column) - problem.columns;
      for (int64_t c = 0; c < k_; ++c)
        centers_[c * d + j] = scale_[j](centers[c * problem.width + listed]) * layout_.root[j];
      columns_.push_back(narrow.column(column));
      unit_.push_back(static_cast<float>(std::ldexp(layout_.root[j], in_range_ ? power : 0)));
    }
    ahead_.resize(centers_.size());
    offset_.resize(k_), slope_.resize(k_), base_.resize(k_);
    // Twice what rounding to float32 can do to a score of d products.
    const double error = (d + 8) * 0x1p-23;
    double farthest = 0;
    for (int64_t c = 0; c < k_; ++c) {
      double square = 0, largest = 0, size = 0;
      for (int j = 0; j < d; ++j) {
        const double own = centers_[c * d + j], first = centers_[j];
        ahead_[c * d + j] = static_cast<float>((own - first) * unit_[j]);
        square += (first - own) * (first + own);
        largest = std::max(largest, std::fabs(own - first));
        size += std::fabs(own);
      }
      offset_[c] = static_cast<float>(0.5 * square);
      slope_[c] = static_cast<float>(error * largest);
      base_[c] = static_cast<float>(error * 0.5 * std::fabs(square));
      farthest = std::max(farthest, size);
    }
    // And what rounding to float64 can do to the distances that have the last word.
    rounding_ = static_cast<float>((d + 4) * 0x1p-47);
    floor_ = static_cast<float>((d + 4) * 0x1p-47 * farthest * farthest + 1e-30);
  }

  Contest contest() const {
    return {columns_.data(),
            unit_.data(),
            ahead_.data(),
            offset_.data(),
            slope_.data(),
            base_.data(),
            rounding_,
            floor_,
            static_cast<int>(unit_.size()),
            k_};
  }

  bool in_range() const { return in_range_; }

  // By direct distances, lowest index on ties.
  int32_t nearest(int64_t row, std::vector<double>& x) const {
    const int d = static_cast<int>(unit_.size());
    x.resize(d);
    for (int j = 0; j < d; ++j) x[j] = scale_[j](table_.column(layout_.source[j])[row]) * layout_.root[j];
    int32_t label = 0;
    double best = INFINITY;
    for (int64_t c = 0; c < k_; ++c) {
      double total = 0;
      for (int j = 0; j < d; ++j) {
        const double gap = x[j] - centers_[c * d + j];
        total += gap * gap;
      }
      if (total < best) best = total, label = static_cast<int32_t>(c);
    }
    return label;
  }

 private:
  const Table& table_;
  Layout layout_;
  int k_;
  bool in_range_ = true;
  std::vector<PowerOfTwo> scale_;
  std::vector<double> centers_;
  std::vector<const float*> columns_;
  std::vector<float> unit_, ahead_, offset_, slope_, base_;
  float rounding_ = 0, floor_ = 0;
};

}  // namespace

void assign(const Table& table, const std::vector<Problem>& problems, const std::vector<const double*>& centers,
            int32_t* labels, int threads) {
  const Narrow narrow(table, problems);
  struct Workspace {
    std::vector<int32_t> chosen;
    std::vector<uint32_t> unsure;
    std::vector<double> x;
  };
  std::vector<Workspace> spaces(std::max(threads, 1));
  parallel_for(static_cast<int64_t>(problems.size()), threads, [&](int64_t i, int worker) {
    Workspace& work = spaces[worker];
    work.chosen.resize(narrow.tiles * kTile);
    work.unsure.resize(narrow.tiles);
    const Field field(table, problems[i], centers[i], narrow);
    if (field.in_range())
      kernels().nearest(field.contest(), narrow.tiles, work.chosen.data(), work.unsure.data());
    else
      std::fill(work.unsure.begin(), work.unsure.end(), (uint32_t{1} << kTile) - 1);
    for (int64_t t = 0; t < narrow.tiles; ++t)
      for (int lane = 0; work.unsure[t] >> lane; ++lane) {
        const int64_t row = t * kTile + lane;
        if ((work.unsure[t] >> lane & 1) && row < table.distinct) work.chosen[row] = field.nearest(row, work.x);
      }
    int32_t* out = labels + i * table.rows;
    for (int64_t r = 0; r < table.rows; ++r) out[r] = table.place[r] < 0 ? -1 : work.chosen[table.place[r]];
  });
}

}  // namespace cf
