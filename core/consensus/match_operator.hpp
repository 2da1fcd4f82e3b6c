// W as an operator: products with table[number of members in which two rows share a label], W never stored.
#pragma once
#include <cstdint>
#include <vector>
#include "consensus/label_bits.hpp"

namespace cf {

// One row against one panel of columns: where its counts reach what the table tells from 0 and which they are, or, if
// those are many, the counts of all columns.
template <class Count>
struct Piece {
  bool all;
  int64_t n;
  const uint16_t* at;
  const Count* counts;
};

// Pieces of some rows, panel by panel and row by row.
template <class Count>
struct StoredRows {
  std::vector<int64_t> sizes;  // below zero where all counts are kept
  std::vector<uint16_t> at;
  std::vector<Count> counts;

  void clear() {
    sizes.clear();
    at.clear();
    counts.clear();
  }
};

// The columns' labels as bits, packed once for many products. Labels below zero match nothing.
class Matches {
 public:
  // Member-major: labels[member][column]; the table has an entry for each number of matches. With `shares` it has one
  // for each pair of numbers, [members in which both rows have a label][matches], and there are at most 255 members.
  Matches(const int32_t* labels, int64_t columns, int members, const double* table, bool shares);

  // out[v][i] = sum over j of table[matches of row i and column j] * vectors[v][j]. A row's value depends neither on
  // the other rows nor on the threads.
  void multiply(const int32_t* rows, int64_t n, const double* vectors, int count, double* out, int threads) const;

  // Keeps what the products with these rows need; then the same products, bit for bit.
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
                const std::vector<StoredRows<Count>>* stored) const;
  template <class Count>
  std::vector<StoredRows<Count>> pieces(const int32_t* rows, int64_t n, int threads) const;

  bool narrow() const { return members < 256 && !shares; }

  std::vector<BitRows> panels_;
  std::vector<BitRows> labelled_;  // bits of the columns that have a label; none without `shares`
  double common_ = 0;              // table[0]: its product with the sum of a vector stands apart,
  std::vector<double> table_;      // so that pairs with this value cost nothing here
  int lowest_ = 0;                 // first count with another value
  std::vector<StoredRows<uint8_t>> narrow_;
  std::vector<StoredRows<uint16_t>> wide_;
};

}  // namespace cf
