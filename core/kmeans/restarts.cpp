#include "kmeans/restarts.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include "runtime/interrupt.hpp"
#include "runtime/random.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int64_t kWholeRows = 16384;    // up to this many rows, every restart sees all
constexpr int64_t kSampleRows = 4096;    // beyond, restarts run on a sample of this size
constexpr size_t kFromSample = 3;        // candidates of a sample that are continued on all rows
constexpr int64_t kFinishedRows = 4096;  // rows * candidates that are finished, but at least kFinished
constexpr size_t kFinished = 8;          // candidates that are finished at least
constexpr int kFirstIterations = 5;      // of an attempt to improve the best, after which it may be given up
constexpr double kNoGain = 1.02;         // it is given up if its objective is still this many times the best
constexpr int kFewStarts = 16;           // of a restart, which are drawn without asking for an interrupt
constexpr int kWave = 4;                 // attempts made side by side
constexpr double kRounding = 1e-6;       // of the sum of squares: what float32 cannot tell apart

}  // namespace

// What a candidate would lose with each of its centres, and where its rows are farthest from all centres.
class Exchange {
 public:
  Exchange(const TiledRows<double>& rows, int k, const Candidate& best, Workspace& work) {
    const int64_t n = rows.tiles * kTile;
    const std::vector<double> centers(best.centers.begin(), best.centers.end());
    std::vector<double> nearest(n), second(n), loss(k, 0.0);
    work.labels.resize(n);
    kernels().assign(rows, k, centers.data(), work.labels.data());
    kernels().two_nearest(rows, k, centers.data(), nearest.data(), second.data());
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

  int little_missed(int64_t trial) const {
    return least_missed_[trial % std::min<int64_t>(static_cast<int64_t>(least_missed_.size()), 3)];
  }

 private:
  std::vector<double> up_to_;      // running sum of weight * squared distance
  std::vector<int> least_missed_;  // clusters, the least loss first
};

bool Restarts::prepare() {
  std::vector<int64_t> start;
  if (rows_.rows < k_ || !choose_start(0, start)) return false;
  rows_.make_float32();
  sampled_ = rows_.rows > std::max(kWholeRows, 4 * sample_rows());
  square_ = rows_.sum_of_squares(search_tiles());
  candidates_.resize(settings_.restarts);
  return true;
}

void Restarts::run(int restart, Workspace& work) {
  std::vector<int64_t>& start = work.start;
  choose_start(restart, start);
  Candidate& result = candidates_[restart];
  result.centers.resize(static_cast<size_t>(k_) * rows_.width);
  for (int c = 0; c < k_; ++c)
    for (int j = 0; j < rows_.width; ++j)
      result.centers[c * rows_.width + j] = static_cast<float>(rows_.at(start[c], j));
  run_lloyd(result, search_tiles(), settings_.max_iter, work);
}

void Restarts::sort() {
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.objective < b.objective; });
}

// Attempts come in waves of fixed size, so that threads can share one without changing the answer.
void Restarts::improve(const ForEach& for_each, Workspace& work) {
  const int64_t agree = std::count_if(candidates_.begin(), candidates_.end(),
                                      [&](const Candidate& other) { return same(candidates_[0], other); });
  if (4 * agree >= count()) return;
  const TiledRows<double> rows = rows_.rows64(search_tiles());
  Candidate best = candidates_[0];
  Exchange exchange(rows, k_, best, work);
  const int trials = count() * std::min(k_ - 1, 6) / 3;  // fewer centres can be misplaced in fewer ways
  for (int first = 0; first < trials; first += kWave) {
    std::vector<Candidate> wave(std::min(kWave, trials - first), best);
    for_each(wave.size(), [&](int64_t i, Workspace& space) { attempt(wave[i], exchange, first + i, space); });
    const auto winner = std::min_element(
        wave.begin(), wave.end(), [](const Candidate& a, const Candidate& b) { return a.objective < b.objective; });
    if (winner->objective < best.objective - kRounding * square_) {
      best = *winner;
      exchange = Exchange(rows, k_, best, work);
    }
  }
  candidates_.insert(candidates_.begin(), best);
}

// Move one centre of the best candidate to another row and run Lloyd's iteration from there.
void Restarts::attempt(Candidate& best, const Exchange& exchange, int64_t trial, Workspace& work) const {
  const double objective = best.objective;
  const int64_t row = exchange.draw_row(hash(hash(problem_.seed, settings_.restarts), trial));
  const int away = exchange.little_missed(trial);
  for (int j = 0; j < rows_.width; ++j) best.centers[away * rows_.width + j] = static_cast<float>(rows_.at(row, j));
  run_lloyd(best, search_tiles(), kFirstIterations, work);
  if (best.objective > kNoGain * objective + kRounding * square_) return;
  if (!best.converged) run_lloyd(best, search_tiles(), settings_.max_iter, work);
}

// A single-row move gains at most about k / rows of the objective, so a candidate far behind cannot win.
std::vector<Candidate> Restarts::take_best() {
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

void Restarts::continue_on_all_rows(Candidate& candidate, Workspace& work) const {
  run_lloyd(candidate, rows_.tiles, settings_.max_iter, work);
}

bool Restarts::same(const Candidate& a, const Candidate& b) const {
  return a.sizes == b.sizes && std::fabs(a.objective - b.objective) <= kRounding * square_;
}

int64_t Restarts::search_tiles() const { return sampled_ ? sample_rows() / kTile : rows_.tiles; }
int64_t Restarts::sample_rows() const { return std::max(kSampleRows, int64_t{256} * k_); }

// Choose k distinct random rows; if an equal one is taken already, go on to the next row.
bool Restarts::choose_start(int restart, std::vector<int64_t>& start) const {
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

void Restarts::run_lloyd(Candidate& candidate, int64_t tiles, int max_iter, Workspace& work) const {
  work.labels.resize(tiles * kTile);
  work.sums.resize(static_cast<size_t>(k_) * rows_.width);
  work.mass.resize(k_);
  work.scratch32.resize(lloyd_scratch(k_, rows_.width));
  candidate.iterations = kernels().lloyd(rows_.rows32(tiles), k_, max_iter, candidate.centers.data(),
                                         work.labels.data(), work.sums.data(), work.mass.data(), work.scratch32.data());
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

}  // namespace cf
