#include "kmeans/solver.hpp"
#include <algorithm>
#include <limits>
#include "kmeans/one_dimension.hpp"
#include "kmeans/partition.hpp"
#include "kmeans/problem_rows.hpp"
#include "kmeans/restarts.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int kFewPasses = 1;                    // of single-row moves with Effort::quick
constexpr int64_t kLargeProblem = 1 << 16;       // rows * columns * clusters from which two threads pay for one problem
constexpr int64_t kOneDimensionCells = 1 << 24;  // rows * clusters up to which one column is solved exactly

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
    for_each(restarts_.count(), [&](int64_t r, Workspace& space) { restarts_.run(static_cast<int>(r), space); });
    restarts_.sort();
    if (settings_.effort == Effort::improved && restarts_.count() > 1) restarts_.improve(for_each, work);
    candidates_ = restarts_.take_best();
    if (candidates_.empty()) candidates_.push_back(solve_directly());
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

}  // namespace cf
