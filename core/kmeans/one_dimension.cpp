#include "kmeans/one_dimension.hpp"
#include <cstdint>
#include <limits>
#include "runtime/interrupt.hpp"

namespace cf {
namespace {

// Dynamic programming over the number of intervals. Optimal clusters on a line are intervals, and the best left end of
// the last one moves right with its right end, so that each layer is solved by divide and conquer in O(n log n).
struct Layers {
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
    const int64_t middle = (low + high) / 2;
    double best = std::numeric_limits<double>::infinity();
    int64_t at = best_low;
    for (int64_t i = best_low; i <= best_high && i < middle; ++i) {
      const double value = previous[i] + spread(i, middle);
      if (value < best) best = value, at = i;
    }
    current[middle] = best;
    start[middle] = static_cast<int32_t>(at);
    solve(low, middle - 1, best_low, at);
    solve(middle + 1, high, at, best_high);
  }
};

}  // namespace

std::vector<double> one_dimension_centers(const std::vector<double>& x, const std::vector<double>& weight, int k) {
  const int64_t n = static_cast<int64_t>(x.size());
  Layers layers;
  layers.mass.assign(n + 1, 0);
  layers.first.assign(n + 1, 0);
  layers.second.assign(n + 1, 0);
  for (int64_t i = 0; i < n; ++i) {
    layers.mass[i + 1] = layers.mass[i] + weight[i];
    layers.first[i + 1] = layers.first[i] + weight[i] * x[i];
    layers.second[i + 1] = layers.second[i] + weight[i] * x[i] * x[i];
  }
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
