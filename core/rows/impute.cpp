#include "rows/impute.hpp"
#include <algorithm>
#include <cmath>
#include "runtime/threads.hpp"

namespace cf {
namespace {

// A distance is a mean over the features that both rows have and some imagined ones, which differ as much as features
// of variance 1 do on average. So rows with few features in common are neither near nor far.
constexpr double kImaginedFeatures = 2, kImaginedDistance = 2;
constexpr int64_t kRowsPerTask = 16;

struct Neighbour {
  double apart;
  int64_t row;
  bool operator<(const Neighbour& other) const { return apart != other.apart ? apart < other.apart : row < other.row; }
};

struct Donation {
  double share;
  const double* from;
};

struct Workspace {
  std::vector<double> apart, shared;
  std::vector<Neighbour> near;
  std::vector<Donation> taken;
};

// List the donors nearest to a place, nearest first.
void find_nearest(const Donors& donors, const double* place, int nearest, Workspace& work) {
  const int64_t padded = donors.tiles * kTile;
  // Distances over shared features, shrunk towards that of two rows at random.
  work.apart.resize(padded);
  work.shared.resize(padded);
  kernels().shared_distances(donors.features, donors.x.data(), donors.known.data(), donors.tiles, place,
                             work.apart.data(), work.shared.data());
  work.near.resize(donors.rows);
  for (int64_t r = 0; r < donors.rows; ++r)
    work.near[r] = {(work.apart[r] + kImaginedFeatures * kImaginedDistance) / (work.shared[r] + kImaginedFeatures), r};
  // The nearest few, by row where they are equally near.
  const auto end = work.near.begin() + std::min<int64_t>(nearest, donors.rows);
  std::partial_sort(work.near.begin(), end, work.near.end());
  work.near.erase(end, work.near.end());
}

// Fill one feature of a row with the mean of the nearest donors that have it.
void fill_feature(const Donors& donors, const ImputeSettings& settings, int feature, double* row, Workspace& work) {
  const int first = donors.features.first[feature], width = donors.features.widths[feature];
  // The nearest donors that have the feature, until they weigh enough.
  work.taken.clear();
  double total = 0;
  for (const Neighbour& near : work.near) {
    if (total >= settings.neighbours) break;
    if (!donors.has(near.row, feature)) continue;
    const double share = std::min(settings.neighbours - total, donors.weight[near.row]);
    work.taken.push_back({share, donors.values + near.row * donors.features.columns + first});
    total += share;
  }
  // Their weighted mean, column by column.
  for (int c = 0; c < width; ++c) {
    if (work.taken.empty()) {
      row[first + c] = settings.means[first + c];
      continue;
    }
    double mean = 0, least = work.taken[0].from[c], most = least;
    for (const Donation& taken : work.taken) {
      mean += taken.share / total * taken.from[c];
      least = std::min(least, taken.from[c]);
      most = std::max(most, taken.from[c]);
    }
    row[first + c] = std::min(std::max(mean, least), most);  // equal values give that value, whatever the rounding
  }
}

}  // namespace

Donors::Donors(const Features& features, int64_t rows, const double* places, const double* values, const double* weight)
    : features(features),
      rows(rows),
      tiles((rows + kTile - 1) / kTile),
      values(values),
      weight(weight),
      x(static_cast<size_t>(tiles) * features.columns * kTile, 0.0),
      known(static_cast<size_t>(tiles) * features.count * kTile, 0.0) {
  for (int64_t r = 0; r < rows; ++r) {
    if (r % kRowsBetween == 0) check_interrupt();
    const int64_t t = r / kTile, lane = r % kTile;
    const double* place = places + r * features.columns;
    for (int j = 0; j < features.count; ++j) {
      if (std::isnan(place[features.first[j]])) continue;
      known[(t * features.count + j) * kTile + lane] = 1;
      for (int c = features.first[j]; c < features.first[j] + features.widths[j]; ++c)
        x[(t * features.columns + c) * kTile + lane] = place[c];
    }
  }
}

bool Donors::has(int64_t row, int feature) const {
  return !std::isnan(values[row * features.columns + features.first[feature]]);
}

void impute(const Donors& donors, const ImputeSettings& settings, const double* places, double* values, int64_t rows,
            int threads) {
  const Features& features = donors.features;
  std::vector<Workspace> work(std::max(threads, 1));
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int worker) {
    for (int64_t i = task * kRowsPerTask; i < std::min(rows, (task + 1) * kRowsPerTask); ++i) {
      double* row = values + i * features.columns;
      bool found = false;
      for (int j = 0; j < features.count; ++j) {
        if (!std::isnan(row[features.first[j]])) continue;
        if (!found) find_nearest(donors, places + i * features.columns, settings.nearest, work[worker]);
        found = true;
        fill_feature(donors, settings, j, row, work[worker]);
      }
    }
  });
}

}  // namespace cf
