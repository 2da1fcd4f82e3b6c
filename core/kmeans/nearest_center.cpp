#include "kmeans/nearest_center.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int kRange = 60;  // powers of two: columns further apart are not compared in float32

}  // namespace

void Narrow::take(const Table& table, const std::vector<Problem>& problems) {
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

Field::Field(const std::vector<int>& exponent, const std::vector<int>& reach, const Problem& problem,
             const double* centers)
    : layout_(reach, problem),
      k_(problem.k),
      width_(static_cast<int>(layout_.source.size())),
      centers_(static_cast<size_t>(k_) * width_) {
  const int d = width_;
  for (int j = 0; j < d; ++j) {
    const int column = layout_.source[j], power = exponent[column] - layout_.exponent;
    scale_.emplace_back(power);
    in_range_ = in_range_ && std::abs(power) <= kRange;
    const int64_t listed = std::find(problem.columns, problem.columns + problem.width, column) - problem.columns;
    for (int64_t c = 0; c < k_; ++c)
      centers_[c * d + j] = scale_[j](centers[c * problem.width + listed]) * layout_.root[j];
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

void Field::label(const Table& table, const Narrow& narrow, Workspace& work) const {
  work.chosen.resize(narrow.tiles * kTile);
  work.unsure.resize(narrow.tiles);
  work.columns.resize(width_);
  for (int j = 0; j < width_; ++j) work.columns[j] = narrow.column(layout_.source[j]);
  const Contest contest = {work.columns.data(), unit_.data(), ahead_.data(), offset_.data(), slope_.data(),
                           base_.data(),        rounding_,    floor_,        width_,         k_};
  if (in_range_)
    kernels().nearest(contest, narrow.tiles, work.chosen.data(), work.unsure.data());
  else
    std::fill(work.unsure.begin(), work.unsure.end(), (uint32_t{1} << kTile) - 1);
  for (int64_t t = 0; t < narrow.tiles; ++t) {
    if (t % kTilesBetween == 0) check_interrupt();
    for (int lane = 0; work.unsure[t] >> lane; ++lane) {
      const int64_t row = t * kTile + lane;
      if ((work.unsure[t] >> lane & 1) && row < table.distinct) work.chosen[row] = nearest(table, row, work.x);
    }
  }
}

// By direct distances, lowest index on ties.
int32_t Field::nearest(const Table& table, int64_t row, std::vector<double>& x) const {
  x.resize(width_);
  for (int j = 0; j < width_; ++j) x[j] = scale_[j](table.column(layout_.source[j])[row]) * layout_.root[j];
  int32_t label = 0;
  double best = INFINITY;
  for (int64_t c = 0; c < k_; ++c) {
    double total = 0;
    for (int j = 0; j < width_; ++j) {
      const double gap = x[j] - centers_[c * width_ + j];
      total += gap * gap;
    }
    if (total < best) best = total, label = static_cast<int32_t>(c);
  }
  return label;
}

}  // namespace cf
