// The data of one fit: distinct rows in an order that depends on their values alone.
#pragma once
#include <cstdint>
#include <vector>
#include "rows/row_hash.hpp"

namespace cf {

// Where the numbers of each column are: true value = (coordinate + origin) * 2^exponent.
struct Coordinates {
  static constexpr int kConstant = -100000;  // the reach of a column without variation

  std::vector<int> exponent;
  std::vector<double> origin;
  std::vector<int> reach;  // |true value - origin * 2^exponent| < 2^reach, or kConstant
};

// What rows are ordered by: their keys, or where these are null, hashes of the `keyed` leading columns. Columns after
// these are functions of them, and do not change the order. Keys that are given may be of columns that the table lacks;
// rows whose keys and columns are equal are one.
struct RowOrder {
  int64_t keyed;
  const uint64_t* keys;
};

// Equal rows are merged and their weights added; rows of weight 0 are left out. The order is by a hash of the values,
// so weights, repeats and permutations of the input give the same table, and a prefix of it is a random sample.
// Each column is divided by a power of two (its largest magnitude becomes about 1), then its origin is subtracted.
// Weights other than 1 are divided by a power of two as well.
class Table : public Coordinates {
 public:
  Table(const double* x, int64_t rows, int64_t columns, const double* weights, const RowOrder& by);

  // Take other rows to the given coordinates. They keep their order, and equal ones are not merged.
  static Table project(const double* x, int64_t rows, const Coordinates& coordinates);
  // The same for rows that are stored column by column.
  static Table adopt(std::vector<double>&& values, int64_t rows, const Coordinates& coordinates);

  const double* column(int64_t j) const { return values.data() + j * distinct; }

  int64_t rows = 0, distinct = 0, columns = 0;
  std::vector<double> values;  // columns of length `distinct`
  std::vector<double> weight;
  bool unit = true;            // every weight is 1
  bool projected = false;      // in the coordinates of other rows, where numbers may not be finite
  std::vector<int32_t> place;  // input row -> distinct row; -1 for a row of weight 0
  int weight_exponent = 0;     // true weight = weight * 2^weight_exponent

 private:
  Table() = default;
  std::vector<int64_t> merge_equal_rows(const double* x, const double* weights, const RowOrder& by);
  void scale_weights();
  void fill(const double* x, const std::vector<int64_t>& source);
  void set_origin();
  void measure_reach();
};

}  // namespace cf
