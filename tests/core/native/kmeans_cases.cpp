// K-means, nearest centres, a single column and rows in blocks, against plain loops.
#include <algorithm>
#include <limits>
#include <numeric>
#include "kmeans/kmeans.hpp"
#include "kmeans/nearest_center.hpp"
#include "kmeans/one_dimension.hpp"
#include "self_test.hpp"

namespace self_test {
namespace {

// Clusterings of one table: of many shapes, because small ones have loops of their own.
struct Clusterings {
  Clusterings(int64_t rows, const double* weights)
      : x(make_table(rows, kColumns, 11)), table(x.data(), rows, kColumns, weights, {kColumns, nullptr}) {
    for (int32_t j = 0; j < kColumns; ++j) listed.push_back(j);
    for (int width : {1, 2, 3, 5, 12})
      for (int k : {2, 3, 5, 9}) problems.push_back({listed.data() + kColumns - width, width, k, 7});
  }

  void solve(int threads) {
    solutions = cf::solve(table, problems, {20, 30, cf::Effort::improved}, threads);
    centers.clear();
    for (const cf::Solution& solution : solutions) {
      check(solution.solved, "a problem with enough rows is not solved");
      centers.push_back(solution.centers.data());
    }
    labels.assign(problems.size() * table.rows, -2);
    cf::assign(table, problems, centers, labels.data(), threads);
  }

  double at(int64_t row, int column) const { return table.column(column)[table.place[row]]; }

  // Squared distance of a row to a centre, in units of 4^exponent of the problem.
  double apart(size_t problem, int64_t row, const double* center) const {
    const cf::Problem& own = problems[problem];
    double total = 0;
    for (int j = 0; j < own.width; ++j) {
      const int column = own.columns[j];
      const double gap = std::ldexp(at(row, column) - center[j], table.exponent[column] - solutions[problem].exponent);
      total += gap * gap;
    }
    return total;
  }

  static constexpr int kColumns = 12;
  std::vector<double> x;
  cf::Table table;
  std::vector<int32_t> listed, labels;
  std::vector<cf::Problem> problems;
  std::vector<cf::Solution> solutions;
  std::vector<const double*> centers;
};

// Each row has its nearest centre, each centre is the mean of its rows, and `within` is the sum of squares.
void check_clustering(const Clusterings& all, size_t p, const std::vector<double>& weights) {
  const cf::Problem& problem = all.problems[p];
  const int32_t* labels = all.labels.data() + p * all.table.rows;
  std::vector<double> sums(problem.k * problem.width, 0), mass(problem.k, 0);
  double within = 0;
  for (int64_t i = 0; i < all.table.rows; ++i) {
    check((labels[i] < 0) == (weights[i] == 0), "a row has no label, or one of weight 0 has");
    if (labels[i] < 0) continue;
    const double own = all.apart(p, i, all.centers[p] + labels[i] * problem.width);
    within += own * weights[i];
    for (int c = 0; c < problem.k; ++c)
      check(own <= all.apart(p, i, all.centers[p] + c * problem.width) * (1 + 1e-9) + 1e-12, "not the nearest centre");
    for (int j = 0; j < problem.width; ++j)
      sums[labels[i] * problem.width + j] += weights[i] * all.at(i, problem.columns[j]);
    mass[labels[i]] += weights[i];
  }
  for (int c = 0; c < problem.k; ++c)
    for (int j = 0; j < problem.width; ++j)
      check(near(all.centers[p][c * problem.width + j], sums[c * problem.width + j] / mass[c]), "not the mean");
  const double found = std::ldexp(all.solutions[p].within, all.table.weight_exponent);
  check(near(found, within), "not the sum of squares within the clusters");
}

// A whole table in one call is what the table, its problem and the labels are one by one.
void check_one_call(const Clusterings& all, size_t p, const double* weights, int threads) {
  const cf::Problem& own = all.problems[p];
  if (own.width != Clusterings::kColumns) return;
  std::vector<int32_t> labels(all.table.rows);
  const cf::TableFit fit = cf::fit_table({all.x.data(), weights, all.table.rows, Clusterings::kColumns}, own.k,
                                         own.seed, {20, 30, cf::Effort::improved}, labels.data(), threads);
  check(fit.places == all.solutions[p].centers, "one call finds other centres");
  for (int64_t i = 0; i < all.table.rows; ++i) {
    const int32_t label = all.labels[p * all.table.rows + i];
    check(label < 0 || label == labels[i], "one call gives other labels");
  }
}

uint64_t kmeans(const std::vector<double>& weights, bool weighted, int threads) {
  Clusterings all(static_cast<int64_t>(weights.size()), weighted ? weights.data() : nullptr);
  all.solve(threads);
  Digest digest;
  for (size_t p = 0; p < all.problems.size(); ++p) {
    check_clustering(all, p, weights);
    check_one_call(all, p, weighted ? weights.data() : nullptr, threads);
    const cf::Solution& solution = all.solutions[p];
    digest.add(solution.centers).add(solution.within).add(solution.between).add(solution.iterations);
    digest.add(solution.within_pairs).add(solution.between_pairs).add(solution.exponent);
  }
  return digest.add(all.labels).value();
}

uint64_t kmeans_case(int threads) { return kmeans(std::vector<double>(700, 1), false, threads); }
uint64_t weighted_kmeans_case(int threads) { return kmeans(make_weights(700, 12), true, threads); }

// The least sum of squares of points on a line, over all partitions into intervals.
double best_on_line(const std::vector<double>& x, int k) {
  const size_t n = x.size();
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  best[0] = 0;
  for (int c = 0; c < k; ++c) {
    std::vector<double> next(n + 1, std::numeric_limits<double>::infinity());
    for (size_t from = 0; from < n; ++from) {
      double sum = 0, squares = 0;
      for (size_t to = from; to < n; ++to) {
        sum += x[to], squares += x[to] * x[to];
        next[to + 1] = std::min(next[to + 1], best[from] + squares - sum * sum / static_cast<double>(to - from + 1));
      }
    }
    best = next;
  }
  return best[n];
}

uint64_t one_dimension_case(int) {
  std::vector<double> x;
  for (int64_t i = 0, at = 0; i < 60; ++i) x.push_back(static_cast<double>(at += 1 + draw(13, i, 90)) / 64);
  Digest digest;
  for (int k : {1, 2, 3, 7, 20}) {
    const std::vector<double> centers = cf::one_dimension_centers(x, std::vector<double>(x.size(), 1), k);
    double within = 0;
    for (double value : x) {
      double least = std::numeric_limits<double>::infinity();
      for (double center : centers) least = std::min(least, (value - center) * (value - center));
      within += least;
    }
    check(static_cast<int>(centers.size()) == k && near(within, best_on_line(x, k)), "not the best partition");
    digest.add(centers);
  }
  return digest.value();
}

// Labels in blocks are those of the whole table; sums of integers do not depend on the blocks.
uint64_t streaming_case(int threads) {
  Clusterings all(700, nullptr);
  all.solve(threads);
  const cf::Passes passes(nullptr, all.table, all.problems, all.centers);
  std::vector<int32_t> labels(all.labels.size()), bits(Clusterings::kColumns, 30);
  std::vector<int64_t> sums(passes.center_values, 0), mass(passes.clusters, 0), whole = sums, counted = mass;
  for (int64_t start = 0; start < 700; start += 200) {
    const cf::RowBlock block{all.x.data() + start * Clusterings::kColumns, std::min<int64_t>(200, 700 - start),
                             nullptr};
    passes.label(block, labels.data() + start, 700, threads);
    passes.add(block, {bits.data(), 20, sums.data(), mass.data()}, threads);
  }
  passes.add({all.x.data(), 700, nullptr}, {bits.data(), 20, whole.data(), counted.data()}, threads);
  check(labels == all.labels, "labels in blocks differ from those of the whole table");
  check(sums == whole && mass == counted, "sums depend on the blocks");
  check(std::accumulate(mass.begin(), mass.end(), int64_t{0}) ==
            static_cast<int64_t>(all.problems.size()) * 700 * (1 << 20),
        "the masses do not add up to the rows");
  return Digest().add(sums).add(mass).value();
}

}  // namespace

std::vector<Case> kmeans_cases() {
  return {{"kmeans", kmeans_case},
          {"weighted_kmeans", weighted_kmeans_case},
          {"one_dimension", one_dimension_case},
          {"streaming", streaming_case}};
}

}  // namespace self_test
