#include "kmeans/kmeans.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include "kmeans/nearest_center.hpp"
#include "kmeans/one_dimension.hpp"
#include "runtime/random.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

// Large tables: restarts see a sample, and the best candidates are continued on all rows.
constexpr int64_t kWholeRows = 16384;  // up to this many rows, every restart sees all
constexpr int64_t kSampleRows = 4096;  // beyond, restarts run on a sample of this size
constexpr size_t kFromSample = 3;      // candidates of a sample that are continued on all rows

// Candidates that are finished by single-row moves.
constexpr int64_t kFinishedRows = 4096;  // rows * candidates, but at least kFinished
constexpr size_t kFinished = 8;
constexpr int kFewPasses = 1;  // of single-row moves with Effort::quick

// Swaps.
constexpr int kWave = 4;             // attempts made side by side
constexpr int kFirstIterations = 5;  // of an attempt, after which it may be given up
constexpr double kNoGain = 1.02;     // it is given up if its objective is still this many times the best

constexpr double kRounding = 1e-6;               // of the sum of squares: what float32 cannot tell apart
constexpr int kFewStarts = 16;                   // rows that are drawn without asking for an interrupt
constexpr int64_t kLargeProblem = 1 << 16;       // rows * columns * clusters from which two threads pay for one problem
constexpr int64_t kOneDimensionCells = 1 << 24;  // rows * clusters up to which one column is solved exactly

// Memory of one thread.
struct Workspace {
  std::vector<int64_t> start;
  LaneVector<int32_t> labels;
  LaneVector<float> scratch32;
  LaneVector<double> scratch;
  std::vector<double> sums, mass;
};

// Call task(i, workspace) for each i in [0, n), perhaps in several threads.
using ForEach = std::function<void(int64_t n, const std::function<void(int64_t, Workspace&)>& task)>;

// What Lloyd's iteration ends with.
struct Candidate {
  std::vector<float> centers;
  double objective = 0;  // within sum of squares, to float32's accuracy
  int iterations = 1;
  bool converged = false;
  uint64_t sizes = 0;  // a hash of the cluster masses in any order
};

bool lower(const Candidate& a, const Candidate& b) { return a.objective < b.objective; }

// ---- Swaps ----

// What a candidate would lose with each of its centres, and where its rows are farthest from all centres.
class Exchange {
 public:
  Exchange(const TiledRows<double>& rows, int k, const Candidate& best, Workspace& work) {
    // The distances of each row to its own centre and to the one that it would fall to without.
    const int64_t n = rows.tiles * kTile;
    const std::vector<double> centers(best.centers.begin(), best.centers.end());
    std::vector<double> nearest(n), second(n), loss(k, 0.0);
    work.labels.resize(n);
    kernels().assign(rows, k, centers.data(), work.labels.data());
    kernels().two_nearest(rows, k, centers.data(), nearest.data(), second.data());

    // Added up over rows they say where rows are drawn; added up over clusters, what a centre is worth.
    up_to_.resize(n);
    double total = 0;
    for (int64_t i = 0; i < n; ++i) {
      up_to_[i] = total += rows.weight[i] * nearest[i];
      loss[work.labels[i]] += rows.weight[i] * (second[i] - nearest[i]);
    }
    least_missed_.resize(k);
    std::iota(least_missed_.begin(), least_missed_.end(), 0);
    std::sort(least_missed_.begin(), least_missed_.end(),
              [&](int a, int b) { return loss[a] != loss[b] ? loss[a] < loss[b] : a < b; });
  }

  // Draw a row by its weighted squared distance from the nearest centre.
  int64_t draw_row(uint64_t random) const {
    const double at = static_cast<double>(random >> 11) * 0x1p-53 * up_to_.back();
    return std::min<int64_t>(std::upper_bound(up_to_.begin(), up_to_.end(), at) - up_to_.begin(), up_to_.size() - 1);
  }

  // One of the three centres that are missed least, in turn.
  int little_missed(int64_t trial) const {
    return least_missed_[trial % std::min<int64_t>(static_cast<int64_t>(least_missed_.size()), 3)];
  }

 private:
  std::vector<double> up_to_;      // running sum of weight * squared distance
  std::vector<int> least_missed_;  // clusters, the least loss first
};

// ---- Restarts of Lloyd's iteration ----

class Restarts {
 public:
  Restarts(ProblemRows& rows, const Problem& problem, const SearchSettings& settings)
      : rows_(rows), problem_(problem), settings_(settings), k_(problem.k) {}

  // False if there are fewer distinct rows than clusters.
  bool prepare() {
    std::vector<int64_t> start;
    if (rows_.rows < k_ || !choose_start(0, start)) return false;
    rows_.make_float32();
    sampled_ = rows_.rows > std::max(kWholeRows, 4 * sample_rows());
    square_ = rows_.sum_of_squares(search_tiles());
    candidates_.resize(settings_.restarts);
    return true;
  }

  int count() const { return static_cast<int>(candidates_.size()); }

  void run(int restart, Workspace& work) {
    std::vector<int64_t>& start = work.start;
    choose_start(restart, start);
    Candidate& result = candidates_[restart];
    result.centers.resize(static_cast<size_t>(k_) * rows_.width);
    for (int c = 0; c < k_; ++c)
      for (int j = 0; j < rows_.width; ++j)
        result.centers[c * rows_.width + j] = static_cast<float>(rows_.at(start[c], j));
    run_lloyd(result, search_tiles(), settings_.max_iter, work);
  }

  void sort() { std::stable_sort(candidates_.begin(), candidates_.end(), lower); }

  // Random restarts rarely place many centres well. Unless they agree on the best, try to improve it by swaps. Attempts
  // come in waves of fixed size, so that threads can share one without changing the answer.
  void improve(const ForEach& for_each, Workspace& work) {
    const int64_t agree = std::count_if(candidates_.begin(), candidates_.end(),
                                        [&](const Candidate& other) { return same(candidates_[0], other); });
    if (4 * agree >= count()) return;
    const TiledRows<double> rows = rows_.rows64(search_tiles());
    Candidate best = candidates_[0];
    Exchange exchange(rows, k_, best, work);
    const int trials = count() * std::min(k_ - 1, 6) / 3;  // fewer centres can be misplaced in fewer ways
    for (int first = 0; first < trials; first += kWave) {
      std::vector<Candidate> wave(std::min(kWave, trials - first), best);
      for_each(wave.size(), [&](int64_t i, Workspace& space) { swap(wave[i], exchange, first + i, space); });
      const auto winner = std::min_element(wave.begin(), wave.end(), lower);
      if (winner->objective < best.objective - kRounding * square_) {
        best = *winner;
        exchange = Exchange(rows, k_, best, work);
      }
    }
    candidates_.insert(candidates_.begin(), best);
  }

  // The candidates worth finishing: the best few, each partition once. A single-row move gains at most about k / rows
  // of the objective, so a candidate far behind cannot win.
  std::vector<Candidate> take_best() {
    std::vector<Candidate> kept;
    const double reach = 1 + 5.0 * k_ / rows_.rows;
    const size_t most = sampled_ ? kFromSample : std::max<size_t>(kFinished, kFinishedRows / rows_.rows);
    for (Candidate& candidate : candidates_) {
      if (!kept.empty() && candidate.objective > reach * kept[0].objective + kRounding * square_) break;
      const auto seen = [&](const Candidate& other) { return same(other, candidate); };
      if (std::none_of(kept.begin(), kept.end(), seen)) kept.push_back(std::move(candidate));
      if (kept.size() == most) break;
    }
    return kept;
  }

  // On many rows the search runs on a sample: a candidate must be continued on all rows.
  bool sampled() const { return sampled_; }
  void continue_on_all_rows(Candidate& candidate, Workspace& work) const {
    run_lloyd(candidate, rows_.tiles, settings_.max_iter, work);
  }

 private:
  int64_t sample_rows() const { return std::max(kSampleRows, int64_t{256} * k_); }
  int64_t search_tiles() const { return sampled_ ? sample_rows() / kTile : rows_.tiles; }

  // Whether two candidates are, as far as can be told without labels, the same partition.
  bool same(const Candidate& a, const Candidate& b) const {
    return a.sizes == b.sizes && std::fabs(a.objective - b.objective) <= kRounding * square_;
  }

  // Choose k distinct random rows; if an equal one is taken already, go on to the next row. False if there are too few.
  bool choose_start(int restart, std::vector<int64_t>& start) const {
    const uint64_t key = hash(problem_.seed, restart);
    start.clear();
    for (int c = 0; c < k_; ++c) {
      if (c % kFewStarts == kFewStarts - 1) check_interrupt();
      int64_t row = static_cast<int64_t>(below(hash(key, c), rows_.rows)), tried = 0;
      while (std::any_of(start.begin(), start.end(), [&](int64_t s) { return rows_.equal(s, row); })) {
        check_interrupt();
        if (++tried == rows_.rows) return false;
        row = row + 1 == rows_.rows ? 0 : row + 1;
      }
      start.push_back(row);
    }
    return true;
  }

  // Move one centre of the best candidate to another row and run Lloyd's iteration from there.
  void swap(Candidate& best, const Exchange& exchange, int64_t trial, Workspace& work) const {
    const double objective = best.objective;
    const int64_t row = exchange.draw_row(hash(hash(problem_.seed, settings_.restarts), trial));
    const int away = exchange.little_missed(trial);
    for (int j = 0; j < rows_.width; ++j) best.centers[away * rows_.width + j] = static_cast<float>(rows_.at(row, j));
    run_lloyd(best, search_tiles(), kFirstIterations, work);
    if (best.objective > kNoGain * objective + kRounding * square_) return;
    if (!best.converged) run_lloyd(best, search_tiles(), settings_.max_iter, work);
  }

  void run_lloyd(Candidate& candidate, int64_t tiles, int max_iter, Workspace& work) const {
    work.labels.resize(tiles * kTile);
    work.sums.resize(static_cast<size_t>(k_) * rows_.width);
    work.mass.resize(k_);
    work.scratch32.resize(lloyd_scratch(k_, rows_.width));
    candidate.iterations =
        kernels().lloyd(rows_.rows32(tiles), k_, max_iter, candidate.centers.data(), work.labels.data(),
                        work.sums.data(), work.mass.data(), work.scratch32.data());
    candidate.converged = candidate.iterations < max_iter;

    // The sum of squares within the clusters is that of all rows less that of the centres.
    candidate.objective = square_;
    candidate.sizes = 0;
    for (int c = 0; c < k_; ++c) {
      candidate.sizes += mix(static_cast<uint64_t>(work.mass[c] * 1024));
      double square = 0;
      for (int j = 0; j < rows_.width; ++j) square += work.sums[c * rows_.width + j] * work.sums[c * rows_.width + j];
      if (work.mass[c] > 0) candidate.objective -= square / work.mass[c];
    }
  }

  ProblemRows& rows_;
  Problem problem_;
  SearchSettings settings_;
  int k_;
  bool sampled_ = false;
  double square_ = 0;  // weighted sum of squares of the rows searched
  std::vector<Candidate> candidates_;
};

// ---- What is reported of a partition ----

struct Partition {
  LaneVector<int32_t> labels;
  std::vector<double> centers, mass;
  double objective = INFINITY;
};

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

// Measure a partition without empty clusters, and translate its centres into the table's coordinates.
Solution measure(const Table& table, const Problem& problem, const ProblemRows& rows, const Partition& partition) {
  // The mean of all rows, from the centres.
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

  // Sums of squares, cluster by cluster in the order that is reported, so that labels do not matter.
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

// ---- One problem ----

class Solver {
 public:
  Solver(const Table& table, const Problem& problem, const SearchSettings& settings)
      : table_(table),
        problem_(problem),
        settings_(settings),
        rows_(table, problem),
        restarts_(rows_, problem, settings),
        k_(problem.k) {}

  Solution solve(const ForEach& for_each, Workspace& work) {
    if (!prepare()) return {};
    // Without restarts, where no search is needed, what follows is of the one candidate that is solved directly.
    for_each(restarts_.count(), [&](int64_t r, Workspace& space) { restarts_.run(static_cast<int>(r), space); });
    restarts_.sort();
    if (settings_.effort == Effort::improved && restarts_.count() > 1) restarts_.improve(for_each, work);
    candidates_ = restarts_.take_best();
    if (candidates_.empty()) candidates_.push_back(solve_directly());
    // The best few candidates may change places when single rows move.
    finished_.resize(candidates_.size());
    for_each(candidates_.size(), [&](int64_t i, Workspace& space) { finish(i, space); });
    return best_solution();
  }

 private:
  // False if there are fewer distinct rows than clusters.
  bool prepare() {
    if (rows_.width == 0 || k_ == 1) return k_ == 1 && rows_.rows > 0;
    if (rows_.width == 1 && rows_.rows * k_ <= kOneDimensionCells) {
      rows_.sort_single_column();
      return rows_.rows >= k_;
    }
    rows_.merge_equal_rows();
    return restarts_.prepare();
  }

  // One cluster or one column needs no search.
  Candidate solve_directly() {
    exact_.assign(static_cast<size_t>(k_) * rows_.width, 0);
    if (k_ > 1)
      exact_ = one_dimension_centers(std::vector<double>(rows_.x.begin(), rows_.x.begin() + rows_.rows),
                                     std::vector<double>(rows_.weight.begin(), rows_.weight.begin() + rows_.rows), k_);
    return {};
  }

  // From a candidate's centres to a partition from which no single row wants to move.
  void finish(int64_t i, Workspace& work) {
    if (restarts_.sampled()) restarts_.continue_on_all_rows(candidates_[i], work);
    const std::vector<double> start(candidates_[i].centers.begin(), candidates_[i].centers.end());
    const TiledRows<double> rows = rows_.rows64(rows_.tiles);
    Partition& partition = finished_[i];
    partition.labels.resize(rows_.tiles * kTile);
    partition.centers.resize(static_cast<size_t>(k_) * rows_.width);
    partition.mass.resize(k_);
    work.scratch.resize(hartigan_scratch(rows_.tiles, k_, rows_.width));
    kernels().assign(rows, k_, exact_.empty() ? start.data() : exact_.data(), partition.labels.data());
    const int passes = settings_.effort == Effort::quick ? kFewPasses : std::numeric_limits<int>::max();
    partition.objective = kernels().hartigan(rows, k_, passes, partition.centers.data(), partition.mass.data(),
                                             partition.labels.data(), work.scratch.data());
  }

  Solution best_solution() const {
    const auto best = std::min_element(finished_.begin(), finished_.end(),
                                       [](const auto& a, const auto& b) { return a.objective < b.objective; });
    // Rows whose differences vanish when squared can leave a cluster empty.
    if (std::any_of(best->mass.begin(), best->mass.end(), [](double mass) { return mass <= 0; })) return {};
    Solution out = measure(table_, problem_, rows_, *best);
    out.iterations = candidates_[best - finished_.begin()].iterations;
    return out;
  }

  const Table& table_;
  Problem problem_;
  SearchSettings settings_;
  ProblemRows rows_;
  Restarts restarts_;
  int k_;
  std::vector<Candidate> candidates_;
  std::vector<double> exact_;  // centres, where no search was needed
  std::vector<Partition> finished_;
};

}  // namespace

std::vector<Solution> solve(const Table& table, const std::vector<Problem>& problems, const SearchSettings& settings,
                            int threads) {
  const int64_t count = static_cast<int64_t>(problems.size());
  std::vector<Solution> solutions(count);
  std::vector<Workspace> work(std::max(threads, 1));
  // Threads share many problems, or the restarts of few large ones. The answer is the same.
  const bool large = count > 0 && table.distinct * problems[0].width * problems[0].k >= kLargeProblem;
  const bool share_restarts = large && count < 4 * threads;
  parallel_for(count, share_restarts ? 1 : threads, [&](int64_t i, int worker) {
    const auto for_each = [&](int64_t n, const auto& task) {
      parallel_for(n, share_restarts ? threads : 1,
                   [&](int64_t t, int other) { task(t, work[share_restarts ? other : worker]); });
    };
    solutions[i] = Solver(table, problems[i], settings).solve(for_each, work[worker]);
  });
  return solutions;
}

TableFit fit_table(const WeightedRows& from, int k, uint64_t seed, const SearchSettings& settings, int32_t* labels,
                   int threads) {
  // One problem over all columns.
  const Table table(from.x, from.rows, from.columns, from.weights, {from.columns, nullptr});
  TableFit fit;
  fit.distinct = table.distinct;
  if (!table.distinct) return fit;
  std::vector<int32_t> columns(from.columns);
  std::iota(columns.begin(), columns.end(), 0);
  const int found = static_cast<int>(std::min<int64_t>(k, table.distinct));
  if (!can_be_indexed(found, from.columns)) throw std::invalid_argument(kTooManyCells);
  const std::vector<Problem> problem = {{columns.data(), static_cast<int>(from.columns), found, seed}};
  Solution solution = std::move(solve(table, problem, settings, threads)[0]);

  // Back to the units of the values.
  fit.solved = solution.solved;
  if (!fit.solved) return fit;
  fit.scale = solution.exponent;
  fit.iterations = solution.iterations;
  fit.within = std::ldexp(solution.within, 2 * solution.exponent + table.weight_exponent);
  fit.coordinates = table;
  fit.places = std::move(solution.centers);
  for (size_t i = 0; i < fit.places.size(); ++i) {
    const size_t j = i % columns.size();
    fit.centers.push_back(std::ldexp(fit.places[i] + table.origin[j], table.exponent[j]));
  }

  // Labels of all rows: those of weight 0 are not in the table.
  const bool every = std::none_of(table.place.begin(), table.place.end(), [](int32_t place) { return place < 0; });
  if (every)
    assign(table, problem, {fit.places.data()}, labels, threads);
  else
    assign(Table::project(from.x, from.rows, table), problem, {fit.places.data()}, labels, threads);
  return fit;
}

}  // namespace cf
