// Products with W[i][j] = table[number of members in which row i and column j share a label], without storing W.
#pragma once
#include <cstdint>
#include <vector>
#include "consensus/label_bits.hpp"

namespace cf {

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
