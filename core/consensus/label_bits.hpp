// Labels as bits, so that the matches of many columns are counted at a time.
#pragma once
#include <cstdint>
#include <algorithm>
#include <vector>
#include "simd/kernels.hpp"

namespace cf {

constexpr int64_t kPanel = 4096;  // columns whose bit rows are used together, to stay in the cache

// For each label of each member, a row of bits: which columns of a panel have it. Bit row 0 is empty, for labels that
// match nothing.
struct LabelBits {
  int64_t columns, words;
  std::vector<int32_t> first;   // member -> bit row of its label 0
  std::vector<int32_t> labels;  // member -> number of labels
  std::vector<uint64_t> bits;

  LabelBits(const int32_t* partitions, int64_t rows, int members, int64_t start, int64_t end)
      : columns(end - start),
        words((end - start + kGroup - 1) / kGroup * (kGroup / 64)),
        first(members),
        labels(members) {
    int32_t next = 1;
    for (int m = 0; m < members; ++m) {
      const int32_t* row = partitions + static_cast<int64_t>(m) * rows;
      first[m] = next;
      labels[m] = std::max(*std::max_element(row + start, row + end) + 1, 0);
      next += labels[m];
    }
    bits.assign(static_cast<size_t>(next) * words, 0);
    for (int m = 0; m < members; ++m) {
      const int32_t* row = partitions + static_cast<int64_t>(m) * rows + start;
      for (int64_t j = 0; j < columns; ++j)
        if (row[j] >= 0) bits[static_cast<size_t>(first[m] + row[j]) * words + word(j)] |= 1ull << bit(j);
    }
  }

  // Column 128 k + 8 w + b of a group is bit k of byte b of word w: so, eight planes of sums transposed byte by byte
  // are the counts of the columns in their order.
  static int64_t word(int64_t j) { return j / kGroup * (kGroup / 64) + j % 128 / 8; }
  static int bit(int64_t j) { return static_cast<int>(8 * (j % 8) + j % kGroup / 128); }

  static int64_t column(int64_t word, int bit) { return word / 16 * kGroup + bit % 8 * 128 + word % 16 * 8 + bit / 8; }

  // The bit row of a label.
  int32_t of(int member, int32_t label) const {
    return label >= 0 && label < labels[member] ? first[member] + label : 0;
  }

  // The bit rows of a row's labels.
  void choose(const int32_t* partitions, int64_t rows, int64_t row, std::vector<int32_t>& chosen) const {
    for (size_t m = 0; m < first.size(); ++m)
      chosen[m] = of(static_cast<int>(m), partitions[static_cast<int64_t>(m) * rows + row]);
  }
};

}  // namespace cf
