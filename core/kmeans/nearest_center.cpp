#include "kmeans/nearest_center.hpp"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include "kmeans/error_bounds.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {

void Float32Columns::take(const Table& table, const std::vector<Problem>& problems) {
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

}  // namespace cf
