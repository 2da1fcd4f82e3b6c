#include "kmeans/solver.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include "kmeans/nearest_center.hpp"
#include "kmeans/one_dimension.hpp"
#include "kmeans/problem_rows.hpp"
#include "runtime/random.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int64_t kWholeRows = 16384;  // up to here every restart sees every row
constexpr int64_t kSampleRows = 4096;  // beyond, restarts run on a sample, its best are finished on all rows
constexpr size_t kFromSample = 3;
constexpr int64_t kFinishedRows = 4096;     // rows * restarts that go on to Hartigan's moves, but at least eight
constexpr int kFewPasses = 1;               // of single-row moves where no more is asked for
constexpr int kFirst = 5;                   // iterations after which an attempt to improve is given up
constexpr int kWave = 4;                    // attempts made side by side
constexpr double kNoGain = 1.02;            // if it is still so many times the best
constexpr double kRounding = 1e-6;          // of the sum of squares: what float32 cannot tell apart
constexpr int64_t kLargeProblem = 1 << 16;  // rows * columns * clusters from which a problem is worth two threads
constexpr int64_t kLineCells = 1 << 24;     // rows * k up to which one column is solved exactly

struct Workspace {
  std::vector<int32_t> labels;
  std::vector<float> scratch32;
  std::vector<double> scratch, sums, mass;
};

struct Candidate {
  std::vector<float> centers;
  double objective = 0;  // within sum of squares, to float32's accuracy
  int iterations = 1;
  bool converged = false;
  uint64_t sizes = 0;  // a hash of the cluster masses in any order
};

struct Partition {
  std::vector<int32_t> labels;
  std::vector<double> centers, mass;
  double objective = INFINITY;
};

class Solver {
 public:
  Solver(const Table& table, const Problem& problem, const Search& search)
      : table_(table), problem_(problem), search_(search), rows_(table, problem), k_(problem.k) {}

  // False if there are fewer distinct rows than clusters.
  bool prepare() {
    if (rows_.width == 0 || k_ == 1) return k_ == 1 && rows_.rows > 0;
    if (rows_.width == 1 && rows_.rows * k_ <= kLineCells) {
      rows_.sort_line();
      return rows_.rows >= k_;
    }
    rows_.collapse();
    std::vector<int64_t> start;
    if (rows_.rows < k_ || !choose_start(0, start)) return false;
    rows_.narrow();
    sampled_ = rows_.rows > std::max(kWholeRows, 4 * sample_rows());
    square_ = rows_.square(search_tiles());
    candidates_.resize(search_.restarts);
    return true;
  }

  int restarts() const { return static_cast<int>(candidates_.size()); }

  void restart(int r, Workspace& work) {
    std::vector<int64_t> start;
    choose_start(r, start);
    Candidate& result = candidates_[r];
    result.centers.resize(static_cast<size_t>(k_) * rows_.width);
    for (int c = 0; c < k_; ++c)
      for (int j = 0; j < rows_.width; ++j)
        result.centers[c * rows_.width + j] = static_cast<float>(rows_.at(start[c], j));
    run_lloyd(result, search_tiles(), search_.max_iter, work);
  }

  void sort() {
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.objective < b.objective; });
  }

  // Random starts rarely place many centres well. Unless the restarts agree on the best, try to improve it: take away
  // a centre that is little missed and put it on a row far from all centres (drawn by squared distance).
  // Attempts come in waves of fixed size, so that threads can share one without changing the answer.
  template <class Each>
  void improve(const Each& each, Workspace& work) {
    const int64_t agree = std::count_if(candidates_.begin(), candidates_.end(),
                                        [&](const Candidate& other) { return same(candidates_[0], other); });
    if (4 * agree >= restarts()) return;
    Candidate best = candidates_[0];
    Exchange exchange(*this, best, work);
    const int trials = restarts() * std::min(k_ - 1, 6) / 3;  // fewer centres have fewer ways to be misplaced
    for (int first = 0; first < trials; first += kWave) {
      std::vector<Candidate> wave(std::min(kWave, trials - first), best);
      each(wave.size(), [&](int64_t i, Workspace& space) { attempt(wave[i], exchange, first + i, space); });
      const auto winner = std::min_element(
          wave.begin(), wave.end(), [](const Candidate& a, const Candidate& b) { return a.objective < b.objective; });
      if (winner->objective < best.objective - kRounding * square_) {
        best = *winner;
        exchange = Exchange(*this, best, work);
      }
    }
    candidates_.insert(candidates_.begin(), best);
  }

  // The restarts worth finishing: the best few, each partition once. A move gains at most about k / rows of the
  // objective, so a restart far behind cannot win.
  void select() {
    std::vector<Candidate> kept;
    const double reach = 1 + 5.0 * k_ / rows_.rows;
    const size_t most = sampled_ ? kFromSample : std::max<size_t>(8, kFinishedRows / rows_.rows);
    for (Candidate& candidate : candidates_) {
      if (!kept.empty() && candidate.objective > reach * kept[0].objective + kRounding * square_) break;
      const auto seen = [&](const Candidate& other) { return same(other, candidate); };
      if (std::none_of(kept.begin(), kept.end(), seen)) kept.push_back(std::move(candidate));
      if (kept.size() == most) break;
    }
    candidates_.swap(kept);
    if (candidates_.empty()) candidates_.push_back(direct());
    finished_.resize(candidates_.size());
  }

  int finishes() const { return static_cast<int>(candidates_.size()); }

  void finish(int i, Workspace& work) {
    if (sampled_) run_lloyd(candidates_[i], rows_.tiles, search_.max_iter, work);
    const std::vector<double> start(candidates_[i].centers.begin(), candidates_[i].centers.end());
    Partition& partition = finished_[i];
    partition.labels.resize(rows_.tiles * kTile);
    partition.centers.resize(static_cast<size_t>(k_) * rows_.width);
    partition.mass.resize(k_);
    work.scratch.resize(hartigan_scratch(rows_.tiles, k_));
    kernels().assign(rows_.exact(rows_.tiles), k_, exact_.empty() ? start.data() : exact_.data(),
                     partition.labels.data());
    const int passes = search_.effort == Effort::quick ? kFewPasses : std::numeric_limits<int>::max();
    partition.objective = kernels().hartigan(rows_.exact(rows_.tiles), k_, passes, partition.centers.data(),
                                             partition.mass.data(), partition.labels.data(), work.scratch.data());
  }

  Solution result() {
    const auto best = std::min_element(finished_.begin(), finished_.end(),
                                       [](const auto& a, const auto& b) { return a.objective < b.objective; });
    // Rows that differ by less than their squares can show leave a cluster empty.
    if (std::any_of(best->mass.begin(), best->mass.end(), [](double mass) { return mass <= 0; })) return {};
    Solution out = measure(*best, heaviest_first(*best));
    out.iterations = candidates_[best - finished_.begin()].iterations;
    return out;
  }

 private:
  // What the best candidate would lose and where it is worst.
  struct Exchange {
    Exchange(const Solver& solver, const Candidate& best, Workspace& work) {
      const Rows<double> rows = solver.rows_.exact(solver.search_tiles());
      const int64_t n = rows.tiles * kTile;
      const std::vector<double> centers(best.centers.begin(), best.centers.end());
      std::vector<double> own(n), other(n), loss(solver.k_, 0.0);
      work.labels.resize(n);
      kernels().assign(rows, solver.k_, centers.data(), work.labels.data());
      kernels().gaps(rows, solver.k_, centers.data(), own.data(), other.data());
      upto.resize(n);
      double total = 0;
      for (int64_t i = 0; i < n; ++i) {
        upto[i] = total += rows.weight[i] * own[i];
        loss[work.labels[i]] += rows.weight[i] * (other[i] - own[i]);
      }
      missed.resize(solver.k_);
      std::iota(missed.begin(), missed.end(), 0);
      std::sort(missed.begin(), missed.end(),
                [&](int a, int b) { return loss[a] != loss[b] ? loss[a] < loss[b] : a < b; });
    }

    int64_t draw(uint64_t random) const {
      const double at = static_cast<double>(random >> 11) * 0x1p-53 * upto.back();
      return std::min<int64_t>(std::upper_bound(upto.begin(), upto.end(), at) - upto.begin(), upto.size() - 1);
    }

    std::vector<double> upto;  // running sum of weight * squared distance
    std::vector<int> missed;   // clusters, least missed first
  };

  // One centre of the best moved to another row, and Lloyd from there.
  void attempt(Candidate& best, const Exchange& exchange, int64_t trial, Workspace& work) const {
    const double objective = best.objective;
    const int64_t row = exchange.draw(hash(hash(problem_.seed, search_.restarts), trial));
    const int away = exchange.missed[trial % std::min(k_, 3)];
    for (int j = 0; j < rows_.width; ++j) best.centers[away * rows_.width + j] = static_cast<float>(rows_.at(row, j));
    run_lloyd(best, search_tiles(), kFirst, work);
    if (best.objective > kNoGain * objective + kRounding * square_) return;
    if (!best.converged) run_lloyd(best, search_tiles(), search_.max_iter, work);
  }

  bool same(const Candidate& a, const Candidate& b) const {
    return a.sizes == b.sizes && std::fabs(a.objective - b.objective) <= kRounding * square_;
  }

  int64_t search_tiles() const { return sampled_ ? sample_rows() / kTile : rows_.tiles; }
  int64_t sample_rows() const { return std::max(kSampleRows, int64_t{256} * k_); }

  // k distinct random rows: a taken value sends the search to the next row.
  bool choose_start(int restart, std::vector<int64_t>& start) const {
    const uint64_t key = hash(problem_.seed, restart);
    start.clear();
    for (int c = 0; c < k_; ++c) {
      check_interrupt();
      int64_t row = static_cast<int64_t>(below(hash(key, c), rows_.rows)), tried = 0;
      while (std::any_of(start.begin(), start.end(), [&](int64_t s) { return rows_.equal(s, row); })) {
        if (++tried == rows_.rows) return false;
        row = row + 1 == rows_.rows ? 0 : row + 1;
      }
      start.push_back(row);
    }
    return true;
  }

  // One cluster, or one column: no search needed.
  Candidate direct() {
    exact_.assign(static_cast<size_t>(k_) * rows_.width, 0);
    if (k_ > 1)
      exact_ = cut_line(std::vector<double>(rows_.x.begin(), rows_.x.begin() + rows_.rows),
                        std::vector<double>(rows_.weight.begin(), rows_.weight.begin() + rows_.rows), k_);
    return {};
  }

  void run_lloyd(Candidate& candidate, int64_t tiles, int max_iter, Workspace& work) const {
    work.labels.resize(tiles * kTile);
    work.sums.resize(static_cast<size_t>(k_) * rows_.width);
    work.mass.resize(k_);
    work.scratch32.resize(lloyd_scratch(k_, rows_.width));
    candidate.iterations =
        kernels().lloyd(rows_.fast(tiles), k_, max_iter, candidate.centers.data(), work.labels.data(), work.sums.data(),
                        work.mass.data(), work.scratch32.data());
    candidate.converged = candidate.iterations < max_iter;
    candidate.objective = square_;
    candidate.sizes = 0;
    for (int c = 0; c < k_; ++c) {
      candidate.sizes += mix(static_cast<uint64_t>(work.mass[c] * 1024));
      double square = 0;
      for (int j = 0; j < rows_.width; ++j) square += work.sums[c * rows_.width + j] * work.sums[c * rows_.width + j];
      if (work.mass[c] > 0) candidate.objective -= square / work.mass[c];
    }
  }

  std::vector<int> heaviest_first(const Partition& partition) const {
    std::vector<int64_t> first(k_, rows_.rows);
    for (int64_t i = rows_.rows - 1; i >= 0; --i) first[partition.labels[i]] = i;
    std::vector<int> order(k_);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return partition.mass[a] != partition.mass[b] ? partition.mass[a] > partition.mass[b] : first[a] < first[b];
    });
    return order;
  }

  Solution measure(const Partition& partition, const std::vector<int>& order) const {
    const int d = rows_.width;
    const double* centers = partition.centers.data();
    Solution out;
    out.outcome = Outcome::solved;
    out.exponent = rows_.exponent;
    std::vector<double> within(k_, 0), mean(d, 0);
    double total = 0;
    for (int64_t i = 0; i < rows_.rows; ++i) {
      if (i % kRowsBetween == 0) check_interrupt();
      const int c = partition.labels[i];
      double square = 0;
      for (int j = 0; j < d; ++j) {
        const double gap = rows_.at(i, j) - centers[c * d + j];
        square += gap * gap;
      }
      within[c] += rows_.weight[i] * square;
    }
    for (int c : order) {
      total += partition.mass[c];
      for (int j = 0; j < d; ++j) mean[j] += partition.mass[c] * centers[c * d + j];
    }
    for (int c : order) {
      double apart = 0;
      for (int j = 0; j < d; ++j) {
        const double gap = centers[c * d + j] - mean[j] / total;
        apart += gap * gap;
      }
      out.within += within[c];
      out.between += partition.mass[c] * apart;
      out.within_pairs += partition.mass[c] * within[c];
    }
    // All pairs: half the sum of |x - y|^2 is total * (within + between).
    out.between_pairs = total * (out.within + out.between) - out.within_pairs;
    out.centers = place_centers(partition, order);
    return out;
  }

  // From packed to listed columns; a constant column's centre is its origin.
  std::vector<double> place_centers(const Partition& partition, const std::vector<int>& order) const {
    std::vector<double> centers(static_cast<size_t>(k_) * problem_.width, 0.0);
    for (int j = 0; j < problem_.width; ++j) {
      const PowerOfTwo scale(rows_.exponent - table_.exponent[problem_.columns[j]]);
      const auto found = std::lower_bound(rows_.source.begin(), rows_.source.end(), problem_.columns[j]);
      if (found == rows_.source.end() || *found != problem_.columns[j]) continue;
      const int64_t from = found - rows_.source.begin();
      for (int c = 0; c < k_; ++c)
        centers[static_cast<size_t>(c) * problem_.width + j] =
            scale(partition.centers[order[c] * rows_.width + from] / rows_.root[from]);
    }
    return centers;
  }

  const Table& table_;
  Problem problem_;
  Search search_;
  Packed rows_;
  int k_;
  bool sampled_ = false;
  double square_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<double> exact_;
  std::vector<Partition> finished_;
};

}  // namespace

std::vector<Solution> solve(const Table& table, const std::vector<Problem>& problems, const Search& search,
                            int threads) {
  const int64_t count = static_cast<int64_t>(problems.size());
  std::vector<Solution> solutions(count);
  std::vector<Workspace> work(std::max(threads, 1));
  // Many problems: one thread each. Few large ones: the restarts of one side by side. The answer is the same.
  const bool large = count > 0 && table.distinct * problems[0].width * problems[0].k >= kLargeProblem;
  const bool side_by_side = large && count < 4 * threads;
  parallel_for(count, side_by_side ? 1 : threads, [&](int64_t i, int worker) {
    const auto each = [&](int64_t n, const auto& task) {
      parallel_for(n, side_by_side ? threads : 1,
                   [&](int64_t t, int other) { task(t, work[side_by_side ? other : worker]); });
    };
    Solver solver(table, problems[i], search);
    if (!solver.prepare()) return;
    each(solver.restarts(), [&](int64_t r, Workspace& space) { solver.restart(static_cast<int>(r), space); });
    solver.sort();
    if (search.effort == Effort::improved && solver.restarts() > 1) solver.improve(each, work[worker]);
    solver.select();
    each(solver.finishes(), [&](int64_t c, Workspace& space) { solver.finish(static_cast<int>(c), space); });
    solutions[i] = solver.result();
  });
  return solutions;
}

void assign(const Table& table, const std::vector<Problem>& problems, const std::vector<const double*>& centers,
            int32_t* labels, int threads) {
  Narrow narrow;
  narrow.take(table, problems);
  std::vector<Field::Workspace> spaces(std::max(threads, 1));
  parallel_for(static_cast<int64_t>(problems.size()), threads, [&](int64_t i, int worker) {
    Field::Workspace& work = spaces[worker];
    Field(table.exponent, table.reach, problems[i], centers[i]).label(table, narrow, work);
    int32_t* out = labels + i * table.rows;
    for (int64_t r = 0; r < table.rows; ++r) out[r] = table.place[r] < 0 ? -1 : work.chosen[table.place[r]];
  });
}

}  // namespace cf
