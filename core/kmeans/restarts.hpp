// The search for good centres: random restarts of Lloyd's iteration in float32, and attempts to improve the best.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>
#include "kmeans/problem.hpp"
#include "kmeans/problem_rows.hpp"

namespace cf {

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

struct Candidate {
  std::vector<float> centers;
  double objective = 0;  // within sum of squares, to float32's accuracy
  int iterations = 1;
  bool converged = false;
  uint64_t sizes = 0;  // a hash of the cluster masses in any order
};

class Exchange;

class Restarts {
 public:
  Restarts(ProblemRows& rows, const Problem& problem, const SearchSettings& settings)
      : rows_(rows), problem_(problem), settings_(settings), k_(problem.k) {}

  // False if there are fewer distinct rows than clusters.
  bool prepare();

  int count() const { return static_cast<int>(candidates_.size()); }
  void run(int restart, Workspace& work);
  void sort();

  // Random restarts rarely place many centres well. Unless they agree on the best, try to improve it: take away a
  // centre that is little missed and put it on a row far from all centres (drawn by squared distance).
  void improve(const ForEach& for_each, Workspace& work);

  // The candidates worth finishing: the best few, each partition once.
  std::vector<Candidate> take_best();

  // On many rows the search runs on a sample: a candidate must be continued on all rows.
  bool sampled() const { return sampled_; }
  void continue_on_all_rows(Candidate& candidate, Workspace& work) const;

 private:
  bool choose_start(int restart, std::vector<int64_t>& start) const;
  void run_lloyd(Candidate& candidate, int64_t tiles, int max_iter, Workspace& work) const;
  void attempt(Candidate& best, const Exchange& exchange, int64_t trial, Workspace& work) const;
  bool same(const Candidate& a, const Candidate& b) const;
  int64_t sample_rows() const;
  int64_t search_tiles() const;

  ProblemRows& rows_;
  Problem problem_;
  SearchSettings settings_;
  int k_;
  bool sampled_ = false;
  double square_ = 0;  // weighted sum of squares of the rows searched
  std::vector<Candidate> candidates_;
};

}  // namespace cf
