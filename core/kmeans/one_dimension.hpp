// Exact K-means on a line (Fisher 1958, "On grouping for maximum homogeneity"; Wang & Song 2011, Ckmeans.1d.dp).
//
// The clusters of an optimal partition are intervals, so that dynamic programming over the number of intervals finds
// it. The best left end of the last interval moves right with its right end: each layer is solved by divide and conquer
// in O(n log n) steps instead of O(n^2).
#pragma once
#include <cstdint>
#include <limits>
#include <vector>
#include "runtime/threads.hpp"

namespace cf {

struct IntervalLayers {
  std::vector<double> mass, first, second;  // prefix sums of w, w x, w x^2
  std::vector<double> previous, current;  // least objective of the points before each, with one interval fewer and now
  std::vector<int32_t> start;             // of the last interval, in the layer being solved

  // Within sum of squares of the points from, ..., to - 1.
  double spread(int64_t from, int64_t to) const {
    const double w = mass[to] - mass[from], s = first[to] - first[from], q = second[to] - second[from];
    const double value = q - s * s / w;
    return value > 0 ? value : 0;
  }

  // Solve the current layer for the right ends low, ..., high, whose best left ends are in [best_low, best_high].
  void solve(int64_t low, int64_t high, int64_t best_low, int64_t best_high) {
    if (low > high) return;
    if (high - low > kRowsBetween) check_interrupt();

    // Try every left end for the middle one.
    const int64_t middle = (low + high) / 2;
    double best = std::numeric_limits<double>::infinity();
    int64_t at = best_low;
    for (int64_t i = best_low; i <= best_high && i < middle; ++i) {
      const double value = previous[i] + spread(i, middle);
      if (value < best) best = value, at = i;
    }
    current[middle] = best;
    start[middle] = static_cast<int32_t>(at);

    // Those before it need no left end after its own, and those after it none before.
    solve(low, middle - 1, best_low, at);
    solve(middle + 1, high, at, best_high);
  }
};

// Find the best partition of weighted points on a line into k intervals; return its centres, ascending.
// `x` is strictly ascending and has at least k points.
inline std::vector<double> one_dimension_centers(const std::vector<double>& x, const std::vector<double>& weight,
                                                 int k) {
  // With prefix sums, the sum of squares of any interval takes one step.
  const int64_t n = static_cast<int64_t>(x.size());
  IntervalLayers layers;
  layers.mass.assign(n + 1, 0);
  layers.first.assign(n + 1, 0);
  layers.second.assign(n + 1, 0);
  for (int64_t i = 0; i < n; ++i) {
    layers.mass[i + 1] = layers.mass[i] + weight[i];
    layers.first[i + 1] = layers.first[i] + weight[i] * x[i];
    layers.second[i + 1] = layers.second[i] + weight[i] * x[i] * x[i];
  }

  // One interval, then two, and so on up to k.
  layers.previous.assign(n + 1, std::numeric_limits<double>::infinity());
  for (int64_t j = 1; j <= n; ++j) layers.previous[j] = layers.spread(0, j);
  std::vector<std::vector<int32_t>> starts;
  for (int c = 2; c <= k; ++c) {
    layers.current.assign(n + 1, std::numeric_limits<double>::infinity());
    layers.start.assign(n + 1, c - 1);
    layers.solve(c, n, c - 1, n - 1);
    layers.previous.swap(layers.current);
    starts.push_back(layers.start);
  }

  // Follow the left ends back from the last point.
  std::vector<double> centers(k);
  int64_t end = n;
  for (int c = k; c >= 1; --c) {
    const int64_t begin = c == 1 ? 0 : starts[c - 2][end];
    centers[c - 1] = (layers.first[end] - layers.first[begin]) / (layers.mass[end] - layers.mass[begin]);
    end = begin;
  }
  return centers;
}

}  // namespace cf
