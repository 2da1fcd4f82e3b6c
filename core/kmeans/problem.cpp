#include "kmeans/problem.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include "runtime/random.hpp"

namespace cf {
namespace {

constexpr int64_t kProbe = 64;  // rows that are looked at to see whether merging pays

uint64_t key_of(const ProblemRows& rows, int64_t row) {
  uint64_t key = kGolden;
  for (int j = 0; j < rows.width; ++j) {
    const double value = rows.at(row, j);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    key = mix(key ^ bits) + kGolden;
  }
  return key;
}

}  // namespace

ProblemColumns::ProblemColumns(const std::vector<int>& reach, const Problem& problem) {
  // Equal columns lie side by side then.
  std::vector<int> listed(problem.columns, problem.columns + problem.width);
  std::sort(listed.begin(), listed.end());
  int most = Table::kConstant;
  for (size_t i = 0; i < listed.size();) {
    const size_t end = std::upper_bound(listed.begin(), listed.end(), listed[i]) - listed.begin();
    if (reach[listed[i]] != Table::kConstant) {
      source.push_back(listed[i]);
      root.push_back(std::sqrt(static_cast<double>(end - i)));
      most = std::max(most, reach[listed[i]]);
    }
    i = end;
  }
  exponent = source.empty() ? 0 : most;
}

ProblemRows::ProblemRows(const Table& table, const Problem& problem)
    : ProblemColumns(table.reach, problem),
      rows(table.distinct),
      width(static_cast<int>(source.size())),
      unit(table.unit) {
  // All columns in the unit of the one that reaches farthest.
  tiles = (rows + kTile - 1) / kTile;
  x.resize(static_cast<size_t>(tiles) * kTile * width);
  for (int j = 0; j < width; ++j) {
    const PowerOfTwo scale(table.exponent[source[j]] - exponent);
    const double* from = table.column(source[j]);
    for (int64_t t = 0; t < tiles; ++t) {
      if (t % kTilesBetween == 0) check_interrupt();
      double* to = x.data() + (t * width + j) * kTile;
      const int64_t end = std::min<int64_t>(kTile, rows - t * kTile);
      for (int64_t i = 0; i < end; ++i) to[i] = scale(from[t * kTile + i]) * root[j];
    }
  }
  weight.assign(table.weight.begin(), table.weight.end());
  pad();
}

// The last tile is filled up with copies of the last row at weight 0.
void ProblemRows::pad() {
  weight.resize(static_cast<size_t>(tiles) * kTile, 0.0);
  for (int64_t i = rows; i < tiles * kTile; ++i)
    for (int j = 0; j < width; ++j) x[(i / kTile) * kTile * width + j * kTile + i % kTile] = at(rows - 1, j);
}

bool ProblemRows::equal(int64_t a, int64_t b) const {
  for (int j = 0; j < width; ++j)
    if (at(a, j) != at(b, j)) return false;
  return true;
}

// Keep the chosen rows, with these weights.
void ProblemRows::keep(const std::vector<int64_t>& chosen, const std::vector<double>& mass) {
  LaneVector<double> old;
  old.swap(x);
  const auto value = [&](int64_t i, int j) { return old[(i / kTile) * kTile * width + j * kTile + i % kTile]; };
  rows = static_cast<int64_t>(chosen.size());
  tiles = (rows + kTile - 1) / kTile;
  x.resize(static_cast<size_t>(tiles) * kTile * width);
  for (int64_t i = 0; i < rows; ++i) {
    if (i % kRowsBetween == 0) check_interrupt();
    for (int j = 0; j < width; ++j) x[(i / kTile) * kTile * width + j * kTile + i % kTile] = value(chosen[i], j);
  }
  weight.assign(mass.begin(), mass.end());
  unit = std::all_of(mass.begin(), mass.end(), [](double w) { return w == 1; });
  pad();
}

void ProblemRows::merge_equal_rows() {
  // Looking at every row costs as much as an iteration: do so only where it will pay.
  const int64_t probe = std::min(rows, kProbe);
  std::vector<uint64_t> keys(probe);
  for (int64_t i = 0; i < probe; ++i) keys[i] = key_of(*this, i);
  std::sort(keys.begin(), keys.end());
  if (2 * (std::unique(keys.begin(), keys.end()) - keys.begin()) > probe) return;
  // An open hash table, at most half full, of the rows that are kept.
  size_t capacity = 16;
  while (capacity < 2 * static_cast<size_t>(rows)) capacity *= 2;
  std::vector<int32_t> slot(capacity, -1);
  std::vector<int64_t> chosen;
  std::vector<double> mass;
  for (int64_t i = 0; i < rows; ++i) {
    if (i % kRowsBetween == 0) check_interrupt();
    size_t at = key_of(*this, i) & (capacity - 1);
    while (slot[at] >= 0 && !equal(chosen[slot[at]], i)) at = (at + 1) & (capacity - 1);
    if (slot[at] < 0) {
      slot[at] = static_cast<int32_t>(chosen.size());
      chosen.push_back(i);
      mass.push_back(0);
    }
    mass[slot[at]] += weight[i];
  }
  keep(chosen, mass);
}

void ProblemRows::sort_single_column() {
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), int64_t{0});
  int64_t compared = 0;
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if (++compared % kRowsBetween == 0) check_interrupt();
    return at(a, 0) != at(b, 0) ? at(a, 0) < at(b, 0) : a < b;
  });
  // Equal values are neighbours now.
  std::vector<int64_t> chosen;
  std::vector<double> mass;
  for (int64_t i : order) {
    if (chosen.empty() || !equal(chosen.back(), i)) {
      chosen.push_back(i);
      mass.push_back(0);
    }
    mass.back() += weight[i];
  }
  keep(chosen, mass);
}

void ProblemRows::make_float32() {
  x32.assign(x.begin(), x.end());
  weight32.assign(weight.begin(), weight.end());
}

// In sixteen sums, so that the order does not depend on the width of registers.
double ProblemRows::sum_of_squares(int64_t first_tiles) const {
  double lane[kTile] = {0};
  for (int64_t t = 0; t < first_tiles; ++t) {
    if (t % kTilesBetween == 0) check_interrupt();
    for (int j = 0; j < width; ++j)
      for (int i = 0; i < kTile; ++i) {
        const double value = x[(t * width + j) * kTile + i];
        lane[i] += weight[t * kTile + i] * value * value;
      }
  }
  return std::accumulate(lane, lane + kTile, 0.0);
}

}  // namespace cf
