// In how many members of the forest two rows share a label: the co-association matrix (Fred & Jain 2005) and functions
// of it, written out or as an operator that is never stored.
//
// A "member" is one partition, a "match" a label that two rows share in it. Labels below zero match nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>
#include "simd/kernels.hpp"

namespace cf {

// ---- Written out ----

// Set out[i][j] = table[number of members in which row i of `a` and row j of `b` share a label]. Labels
// are a[member][row] and b[member][row]; `table` has members + 1 entries.
void coassociate(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, const double* table,
                 double* out, int threads);

// For each row of `a` find the row of `b` with which it shares the most labels, the first on ties, and how many. `b`
// has at least one row.
void most_matched(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, int64_t* place,
                  int32_t* matches, int threads);

// Set out[v][i] to the sum over j of matrix[i][j] * vectors[v][j], in the same order for any number of threads.
void multiply(const double* matrix, int64_t rows, int64_t columns, const double* vectors, int count, double* out,
              int threads);

// ---- Labels as bits ----

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
    // The bit rows of the members, one after the other.
    int32_t next = 1;
    for (int m = 0; m < members; ++m) {
      const int32_t* row = partitions + static_cast<int64_t>(m) * rows;
      first[m] = next;
      labels[m] = std::max(*std::max_element(row + start, row + end) + 1, 0);
      next += labels[m];
    }
    // Set the bit of each column in the row of its label.
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

// ---- As an operator ----

// The match counts of one row with one panel of columns: those high enough to matter and their columns or, if these are
// many, the counts of all columns.
template <class Count>
struct RowMatches {
  bool all;
  int64_t n;
  const uint16_t* at;
  const Count* counts;
};

// The matches of a block of rows, panel by panel and row by row.
template <class Count>
struct StoredMatches {
  std::vector<int64_t> sizes;  // negative where the counts of all columns are kept
  std::vector<uint16_t> at;
  std::vector<Count> counts;

  void clear() {
    sizes.clear();
    at.clear();
    counts.clear();
  }
};

// The labels of the columns are packed into bits once, for many products. Labels below zero match nothing.
class MatchOperator {
 public:
  // Takes labels[member][column] and a table with an entry for each number of matches. With `shares` the table is
  // [members in which both rows have a label][matches], for at most 255 members.
  MatchOperator(const int32_t* labels, int64_t columns, int members, const double* table, bool shares);

  // Set out[v][i] to the sum over j of W[i][j] * vectors[v][j]. It depends neither on the other rows nor on the number
  // of threads.
  void multiply(const int32_t* rows, int64_t n, const double* vectors, int count, double* out, int threads) const;

  // Keep the matches of these rows; then multiply them again, faster but with the same results bit for bit.
  void store(const int32_t* rows, int64_t n, int threads);
  void multiply_stored(const double* vectors, int count, double* out, int threads) const;
  int64_t stored_bytes() const;

  const int64_t columns;
  const int members;
  const bool shares;
  int64_t stored_rows = 0;

 private:
  template <class Count>
  void multiply(const int32_t* rows, int64_t n, const double* vectors, int count, double* out, int threads,
                const std::vector<StoredMatches<Count>>* stored) const;
  template <class Count>
  std::vector<StoredMatches<Count>> count_matches(const int32_t* rows, int64_t n, int threads) const;

  bool one_byte() const { return members < 256 && !shares; }

  std::vector<LabelBits> panels_;
  std::vector<LabelBits> labelled_;  // which columns have a label; empty without `shares`
  double common_ = 0;                // table[0]: its product with the sum of a vector is added apart,
  std::vector<double> table_;        // so that pairs with this value cost nothing
  int lowest_ = 0;                   // lowest count with another value
  std::vector<StoredMatches<uint8_t>> stored8_;
  std::vector<StoredMatches<uint16_t>> stored16_;
};

}  // namespace cf
