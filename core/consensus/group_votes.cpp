#include "consensus/group_votes.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr double kLeast = 0x1p-80;  // sums of weights of at most 1 that differ by less are not told apart

constexpr size_t kCacheLine = 64;  // a line of bits that lies across two takes twice as long to read

const uint64_t* aligned(const std::vector<uint64_t>& bits) {
  const size_t past = reinterpret_cast<uintptr_t>(bits.data()) % kCacheLine;
  return bits.data() + (past ? (kCacheLine - past) / sizeof(uint64_t) : 0);
}

template <class Label>
FindLines<Label>* finder() {
  if constexpr (sizeof(Label) == 1)
    return kernels().find_lines8;
  else if constexpr (sizeof(Label) == 2)
    return kernels().find_lines16;
  else
    return kernels().find_lines32;
}

}  // namespace

GroupVotes::GroupVotes(const GroupedNodes& nodes, const double* table)
    : members(nodes.members),
      groups_(nodes.groups_in_all),
      first_(nodes.members),
      labels_(nodes.members),
      mass_(nodes.groups_in_all),
      power_(256),
      high_(kTile),
      low_(kTile) {
  for (int c = 0; c <= members; ++c) power_[c] = static_cast<float>(table[c] + 1);
  for (int c = 0; c < kTile; ++c) {
    if (c <= members) low_[c] = power_[c];
    if (kTile * c <= members) high_[c] = power_[kTile * c];
  }
  pack(nodes);
  // Five roundings of a term, one for each sum that it goes into, and as much again for the float64 sums it stands for.
  error_ = (static_cast<double>(nodes.count) / kTile + groups_ + 32.0) * 0x1p-23;
}

// Each group begins with a new sixteen of nodes; what is left of its last one has no bits and no weight.
void GroupVotes::pack(const GroupedNodes& nodes) {
  // A line of bits for each label of each member; line 0 is empty, for labels that no node has.
  int32_t lines = 1;
  for (int m = 0; m < members; ++m) {
    const int32_t* row = nodes.labels + m * nodes.count;
    first_[m] = lines;
    labels_[m] = nodes.count ? std::max(*std::max_element(row, row + nodes.count) + 1, 0) : 0;
    lines += labels_[m];
  }
  // Where each node goes: group after group, in blocks that stay in the cache.
  const double most = nodes.count ? *std::max_element(nodes.weights, nodes.weights + nodes.count) : 1.0;
  std::vector<int64_t> size(groups_), place(nodes.count);
  for (int64_t j = 0; j < nodes.count; ++j) place[j] = size[nodes.groups[j]]++;
  std::vector<int64_t> begin(groups_ + 1);
  for (int g = 0; g < groups_; ++g) begin[g + 1] = begin[g] + (size[g] + kTile - 1) / kTile * kTile;
  blocks_.resize((begin[groups_] + kNodeBlock - 1) / kNodeBlock);
  for (Block& block : blocks_) {
    block.bits.assign((static_cast<size_t>(lines) + 1) * kNodeWords, 0);
    block.weights.assign(kNodeBlock, 0);
  }
  // A group that spans blocks has a run in each.
  for (int g = 0; g < groups_; ++g)
    for (int64_t at = begin[g]; at < begin[g + 1];) {
      const int64_t block = at / kNodeBlock, end = std::min((block + 1) * kNodeBlock, begin[g + 1]);
      const int64_t origin = block * kNodeBlock;
      blocks_[block].runs.push_back({g, static_cast<int>(at - origin), static_cast<int>(end - origin)});
      at = end;
    }
  // Weights of at most 1, and the bits of the labels.
  for (int64_t j = 0; j < nodes.count; ++j) {
    if (j % kTilesBetween == 0) check_interrupt();
    const int64_t at = begin[nodes.groups[j]] + place[j], in = at % kNodeBlock;
    Block& block = blocks_[at / kNodeBlock];
    const double weight = most > 0 ? nodes.weights[j] / most : 0;
    block.weights[in] = static_cast<float>(weight);
    mass_[nodes.groups[j]] += weight;
    uint64_t* word = const_cast<uint64_t*>(aligned(block.bits)) + in % 64 / 8;
    const uint64_t bit = uint64_t{1} << (8 * (in % 8) + in / 64);
    for (int m = 0; m < members; ++m) {
      const int32_t label = nodes.labels[m * nodes.count + j];
      if (label >= 0) word[static_cast<int64_t>(first_[m] + label) * kNodeWords] |= bit;
    }
  }
}

// The sums of powers are too high by the sums of the weights.
int32_t GroupVotes::winner(const float* votes) const {
  int32_t best = 0;
  double most = -1, rival = -1;  // lower bound of the best sum, upper bound of the others
  double best_sum = 0;
  for (int g = 0; g < groups_; ++g) {
    const float* lane = votes + static_cast<int64_t>(g) * kTile;
    const double sum = std::accumulate(lane, lane + kTile, 0.0), value = sum - mass_[g];
    if (g == 0 || value > most) {
      if (g) rival = std::max(rival, most + error_ * best_sum);
      best = g, most = value, best_sum = sum;
    } else {
      rival = std::max(rival, value + error_ * sum);
    }
  }
  return most - error_ * best_sum - kLeast > rival ? best : -1;
}

template <class Label>
void GroupVotes::place(const Label* labels, int64_t rows, int32_t* out, int threads) const {
  std::vector<Workspace> spaces(threads);
  parallel_for((rows + kVoters - 1) / kVoters, threads, [&](int64_t task, int worker) {
    const int64_t from = task * kVoters;
    place_some(labels + from, rows, std::min(kVoters, rows - from), out + from, spaces[worker]);
  });
}

template <class Label>
void GroupVotes::place_some(const Label* labels, int64_t step, int64_t rows, int32_t* out, Workspace& work) const {
  // The lines of the labels of these rows.
  work.lines.resize(kVoters * members);
  work.lowest.assign(rows, 0);
  const auto find_lines = finder<Label>();
  for (int m = 0; m < members; ++m)
    find_lines(labels + m * step, rows, first_[m], labels_[m], work.lines.data() + m * kVoters, work.lowest.data());
  // Votes of all nodes, block by block.
  const int64_t votes = static_cast<int64_t>(groups_) * kTile;
  work.votes.assign(rows * votes, 0);
  for (const Block& block : blocks_) {
    check_interrupt();
    const NodeBlock nodes = {
        aligned(block.bits), block.weights.data(), block.runs.data(), static_cast<int>(block.runs.size()),
        power_.data(),       high_.data(),         low_.data()};
    kernels().vote(nodes, work.lines.data(), members, rows, votes, work.votes.data());
  }
  for (int64_t r = 0; r < rows; ++r) out[r] = work.lowest[r] < 0 ? -1 : winner(work.votes.data() + r * votes);
}

template void GroupVotes::place(const int8_t*, int64_t, int32_t*, int) const;
template void GroupVotes::place(const int16_t*, int64_t, int32_t*, int) const;
template void GroupVotes::place(const int32_t*, int64_t, int32_t*, int) const;

}  // namespace cf
