#include "kmeans/partition.hpp"
#include <algorithm>
#include <numeric>
#include "runtime/interrupt.hpp"

namespace cf {
namespace {

// Heaviest cluster first; of equal ones, the one whose first row comes first.
std::vector<int> heaviest_first(const ProblemRows& rows, const Partition& partition) {
  const size_t k = partition.mass.size();
  std::vector<int64_t> first(k, rows.rows);
  size_t seen = 0;
  for (int64_t i = 0; i < rows.rows && seen < k; ++i) {
    if (first[partition.labels[i]] < rows.rows) continue;
    first[partition.labels[i]] = i;
    ++seen;
  }
  std::vector<int> order(k);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return partition.mass[a] != partition.mass[b] ? partition.mass[a] > partition.mass[b] : first[a] < first[b];
  });
  return order;
}

// Within sum of squares of each cluster.
std::vector<double> spreads(const ProblemRows& rows, const Partition& partition) {
  const int d = rows.width;
  std::vector<double> within(partition.mass.size(), 0);
  if (d == 0) return within;
  for (int64_t t = 0; t < rows.tiles; ++t) {
    if (t % kTilesBetween == 0) check_interrupt();
    const int32_t* label = partition.labels.data() + t * kTile;
    for (int i = 0; i < kTile; ++i) {
      const double *x = rows.x.data() + t * d * kTile + i, *center = partition.centers.data() + label[i] * d;
      double square = 0;
      for (int j = 0; j < d; ++j) square += (x[j * kTile] - center[j]) * (x[j * kTile] - center[j]);
      within[label[i]] += rows.weight[t * kTile + i] * square;
    }
  }
  return within;
}

// From the problem's columns to those that it lists; the centre of a constant column is its origin.
std::vector<double> place_centers(const Table& table, const Problem& problem, const ProblemRows& rows,
                                  const Partition& partition, const std::vector<int>& order) {
  std::vector<double> centers(static_cast<size_t>(problem.k) * problem.width, 0.0);
  for (int j = 0; j < problem.width; ++j) {
    const PowerOfTwo scale(rows.exponent - table.exponent[problem.columns[j]]);
    const auto found = std::lower_bound(rows.source.begin(), rows.source.end(), problem.columns[j]);
    if (found == rows.source.end() || *found != problem.columns[j]) continue;
    const int64_t from = found - rows.source.begin();
    for (int c = 0; c < problem.k; ++c)
      centers[static_cast<size_t>(c) * problem.width + j] =
          scale(partition.centers[order[c] * rows.width + from] / rows.root[from]);
  }
  return centers;
}

}  // namespace

Solution measure(const Table& table, const Problem& problem, const ProblemRows& rows, const Partition& partition) {
  const int d = rows.width;
  const std::vector<int> order = heaviest_first(rows, partition);
  const std::vector<double> within = spreads(rows, partition);
  std::vector<double> mean(d, 0);
  double total = 0;
  for (int c : order) {
    total += partition.mass[c];
    for (int j = 0; j < d; ++j) mean[j] += partition.mass[c] * partition.centers[c * d + j];
  }
  for (double& coordinate : mean) coordinate /= total;
  Solution out;
  out.solved = true;
  out.exponent = rows.exponent;
  for (int c : order) {
    double apart = 0;
    for (int j = 0; j < d; ++j) {
      const double gap = partition.centers[c * d + j] - mean[j];
      apart += gap * gap;
    }
    out.within += within[c];
    out.between += partition.mass[c] * apart;
    out.within_pairs += partition.mass[c] * within[c];
  }
  // Over all pairs, half the sum of |x - y|^2 is total * (within + between).
  out.between_pairs = total * (out.within + out.between) - out.within_pairs;
  out.centers = place_centers(table, problem, rows, partition, order);
  return out;
}

}  // namespace cf
