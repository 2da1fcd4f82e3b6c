// To the nodes of which group a row is linked most: sums over nodes of weight * table[matches], by group. Rows that
// took no part in the cut are placed by it.
//
// Sums are taken in float32, in whatever order is fastest, and decide only where their error cannot change the answer.
#pragma once
#include <cstdint>
#include <vector>
#include "simd/kernels.hpp"

namespace cf {

// The nodes: labels[member][node], below zero where they match nothing, and of each node its group and its weight.
struct GroupedNodes {
  const int32_t* labels;
  const int32_t* groups;
  const double* weights;
  int64_t count;
  int members, groups_in_all;
};

class GroupVotes {
 public:
  // The table is power(matches) - 1, where power(a + b) = power(a) * power(b), for up to 255 members.
  GroupVotes(const GroupedNodes& nodes, const double* table);

  // Set out[row] to the group with the highest sum, or to -1 where float32 cannot tell, and where a label is missing:
  // below zero. Takes labels[member][row].
  template <class Label>
  void place(const Label* labels, int64_t rows, int32_t* out, int threads) const;

  const int members;

 private:
  struct Block {
    std::vector<uint64_t> bits;
    std::vector<float> weights;
    std::vector<GroupRun> runs;
  };

  struct Workspace {
    std::vector<int32_t> lines, lowest;
    std::vector<float> votes;
  };

  void pack(const GroupedNodes& nodes);
  template <class Label>
  void place_some(const Label* labels, int64_t step, int64_t rows, int32_t* out, Workspace& work) const;
  int32_t winner(const float* votes) const;

  const int groups_;
  double error_;                 // of a sum, relative
  std::vector<int32_t> first_;   // member -> line of its label 0
  std::vector<int32_t> labels_;  // member -> number of labels
  std::vector<double> mass_;     // of each group: the sum of its weights
  std::vector<float> power_, high_, low_;
  std::vector<Block> blocks_;
};

}  // namespace cf
