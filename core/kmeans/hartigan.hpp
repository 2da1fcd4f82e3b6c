// Moves of single rows between clusters, in float64, until none lowers the objective (Hartigan & Wong 1979; the
// criterion, which weighs a distance by the mass of its cluster, is of Hartigan 1975). Included once per instruction
// set.
#pragma once
#include "kmeans/distances.hpp"
#include "kmeans/lloyd.hpp"
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

// A move must lower its row's cost by more than rounding could.
constexpr double kLower = 1.0 - 1e-12;
constexpr int kStalled = 3;  // consecutive passes that do not lower the objective: rounding, not progress

// What a row of weight w at squared distance 1 costs its own cluster (leave), or would cost another one (join).
inline double leave(double mass, double w) { return mass > w ? mass / (mass - w) : 0; }
inline double join(double mass, double w) { return mass / (mass + w); }

// Sum the rows and weights of each cluster, lane by lane.
void sum_lanes(const cf::TiledRows<double>& rows, int k, const double* lane_labels, double* lane_sums, double* sums,
               double* mass) {
  const int d = rows.columns;
  std::memset(lane_sums, 0, sizeof(double) * kLanes * k * (d + 1));
  for (int64_t t = 0; t < rows.tiles; t += kNear) {
    if (t % cf::kTilesBetween == 0) cf::check_interrupt();
    const int64_t end = t + kNear < rows.tiles ? t + kNear : rows.tiles;
    LaneSums<double, double>{rows, lane_labels, t, end, lane_sums}.add(k);
  }
  for (int c = 0; c < k; ++c) {
    const double* from = lane_sums + c * (d + 1) * kLanes;
    for (int j = 0; j < d; ++j) sums[c * d + j] = sum(Double::load(from + j * kLanes));
    mass[c] = sum(Double::load(from + d * kLanes));
  }
}

// The same for any number of clusters, row by row.
void sum_rows(const cf::TiledRows<double>& rows, const int32_t* labels, double* sums, double* mass) {
  const int d = rows.columns;
  for (int64_t i = 0; i < rows.tiles * kLanes; ++i) {
    if (i % cf::kRowsBetween == 0) cf::check_interrupt();
    const double* tile = rows.x + i / kLanes * d * kLanes + i % kLanes;
    double* into = sums + static_cast<int64_t>(labels[i]) * d;
    for (int j = 0; j < d; ++j) into[j] += rows.weight[i] * tile[j * kLanes];
    mass[labels[i]] += rows.weight[i];
  }
}

// Recompute centres and masses from the labels: updating them with each move accumulates rounding errors.
void recompute(const cf::TiledRows<double>& rows, int k, const int32_t* labels, const double* lane_labels,
               double* lane_sums, double* centers, double* mass) {
  const int64_t d = rows.columns;
  for (int64_t i = 0; i < k * d; ++i) centers[i] = 0;
  for (int c = 0; c < k; ++c) mass[c] = 0;
  if (k <= cf::kFewClusters)
    sum_lanes(rows, k, lane_labels, lane_sums, centers, mass);
  else
    sum_rows(rows, labels, centers, mass);
  for (int c = 0; c < k; ++c)
    for (int j = 0; j < d && mass[c] > 0; ++j) centers[c * d + j] /= mass[c];
}

struct Moves {
  const cf::TiledRows<double>& rows;
  int k;
  double* centers;
  double* mass;
  int32_t* labels;
  double* lane_labels;  // the labels as doubles, for lane-wise comparison
  double* leaving;      // of each cluster: leave(mass[c], 1)
  double* joining;      // of each cluster: join(mass[c], 1)
  double* wish;         // of each tile: the result of `wishes`
  double* lane_sums;    // k * (columns + 1) * 16, for few clusters

  void refresh(int c) {
    leaving[c] = leave(mass[c], 1);
    joining[c] = join(mass[c], 1);
  }

  // Find the rows of a tile that would be cheaper in another cluster, as bits, and add the tile to the objective.
  uint32_t wishes(int64_t t, Double& objective) const {
    const int d = rows.columns;
    const double* tile = rows.x + t * d * kLanes;
    const Double own = Double::load(lane_labels + t * kLanes), weight = Double::load(rows.weight + t * kLanes);
    Double here = Double::all(0), there = Double::all(kFar), spread = here;
    for (int c = 0; c < k; ++c) {
      const Double apart = distance(tile, d, centers + static_cast<int64_t>(c) * d);
      const auto mine = own == Double::all(c);
      Double out = Double::all(leaving[c]), in = Double::all(joining[c]);
      if (!rows.unit) {
        const Double m = Double::all(mass[c]), zero = Double::all(0);
        out = select(weight < m, m / (m - weight), zero);
        in = m / (m + weight);
      }
      const Double cost = apart * in;
      there = select(mine, there, select(cost < there, cost, there));
      here = select(mine, apart * out, here);
      spread = select(mine, apart, spread);
    }
    objective = objective + spread * weight;
    const Double wish = select(there < here * Double::all(kLower), weight, Double::all(0));
    double lane[kLanes];
    wish.store(lane);
    uint32_t bits = 0;
    for (int i = 0; i < kLanes; ++i) bits |= static_cast<uint32_t>(lane[i] > 0) << i;
    return bits;
  }

  // Move a row to its cheapest cluster and update both centres; return whether that was worthwhile.
  bool move(int64_t t, int lane) {
    const int d = rows.columns;
    const double* tile = rows.x + t * d * kLanes;
    const double w = rows.weight[t * kLanes + lane];
    const int from = labels[t * kLanes + lane];
    // What the row costs where it is, and where it would cost least.
    const double here = distance_at(tile, lane, d, centers + static_cast<int64_t>(from) * d) * leave(mass[from], w);
    double there = kFar;
    int to = from;
    for (int c = 0; c < k; ++c) {
      if (c == from) continue;
      const double cost = distance_at(tile, lane, d, centers + static_cast<int64_t>(c) * d) * join(mass[c], w);
      if (cost < there) there = cost, to = c;
    }
    if (!(there < here * kLower)) return false;
    // Both centres move, and both masses change.
    double *a = centers + static_cast<int64_t>(from) * d, *b = centers + static_cast<int64_t>(to) * d;
    const double out = w / (mass[from] - w), in = w / (mass[to] + w);
    for (int j = 0; j < d; ++j) {
      const double x = tile[j * kLanes + lane];
      a[j] -= (x - a[j]) * out;
      b[j] += (x - b[j]) * in;
    }
    mass[from] -= w;
    mass[to] += w;
    refresh(from);
    refresh(to);
    labels[t * kLanes + lane] = to;
    lane_labels[t * kLanes + lane] = to;
    return true;
  }

  // In each pass, find the rows that wish to move with all centres as they stand, then move those that still gain, in
  // turn.
  double run(int passes) {
    double lowest = kFar;
    for (int stalled = 0;; --passes) {
      // Centres and masses, afresh.
      recompute(rows, k, labels, lane_labels, lane_sums, centers, mass);
      for (int c = 0; c < k; ++c) refresh(c);
      // Which rows wish to move, and the objective, which says whether the last pass was progress.
      Double total = Double::all(0);
      for (int64_t t = 0; t < rows.tiles; ++t) {
        if (t % cf::kTilesBetween == 0) cf::check_interrupt();
        wish[t] = wishes(t, total);
      }
      const double objective = sum(total);
      stalled = objective < lowest ? 0 : stalled + 1;
      lowest = objective < lowest ? objective : lowest;
      if (stalled == kStalled || passes == 0) return objective;
      // Move those that still gain.
      bool moved = false;
      for (int64_t t = 0; t < rows.tiles; ++t) {
        if (t % cf::kTilesBetween == 0) cf::check_interrupt();
        for (uint32_t bits = static_cast<uint32_t>(wish[t]); bits; bits &= bits - 1) moved |= move(t, lowest_bit(bits));
      }
      if (!moved) return objective;
    }
  }
};

// See Kernels::hartigan.
double hartigan(const cf::TiledRows<double>& rows, int k, int passes, double* centers, double* mass, int32_t* labels,
                double* scratch) {
  const int64_t n = rows.tiles * kLanes;
  for (int64_t i = 0; i < n; ++i) scratch[i] = labels[i];
  double *leaving = scratch + n, *joining = leaving + k, *wish = joining + k;
  return Moves{rows, k, centers, mass, labels, scratch, leaving, joining, wish, wish + rows.tiles}.run(passes);
}

}  // namespace
}  // namespace CF_ISA
