// The data of one fit: distinct rows in an order that depends on their values alone.
#pragma once
#include <cstdint>
#include <vector>

namespace cf {

// A power of two as two factors, because 2^1074 is not a double.
struct PowerOfTwo {
  explicit PowerOfTwo(int exponent);
  double operator()(double x) const { return x * first * second; }
  double first, second;
};

// Equal rows are merged and their weights added; rows of weight 0 are left out. The order is by a hash of the values,
// so weights, repeats and permutations of the input give the same table, and a prefix of it is a random sample.
// Each column is divided by a power of two (its largest magnitude becomes about 1), then its origin is taken off.
// Weights other than 1 are divided by a power of two as well.
class Table {
 public:
  Table(const double* x, int64_t rows, int64_t columns, const double* weights);

  // Other rows in the coordinates of this table, in their own order.
  Table project(const double* x, int64_t rows) const { return project(x, rows, exponent, origin, reach); }
  static Table project(const double* x, int64_t rows, const std::vector<int>& exponent,
                       const std::vector<double>& origin, const std::vector<int>& reach);
  // The same for rows that come column by column.
  static Table adopt(std::vector<double>&& values, int64_t rows, const std::vector<int>& exponent,
                     const std::vector<double>& origin, const std::vector<int>& reach);

  const double* column(int64_t j) const { return values.data() + j * distinct; }

  int64_t rows = 0, distinct = 0, columns = 0;
  std::vector<double> values;  // columns of length `distinct`
  std::vector<double> weight;
  bool unit = true;            // every weight is 1
  bool projected = false;      // in coordinates of other rows, which may leave numbers that are not finite
  std::vector<int32_t> place;  // input row -> distinct row; -1 for a row of weight 0
  std::vector<int> exponent;   // true value = (value + origin) * 2^exponent, per column
  std::vector<double> origin;
  std::vector<int> reach;   // |true value - origin| < 2^reach[j]; kConstant if the column is constant
  int weight_exponent = 0;  // true weight = weight * 2^weight_exponent

  static constexpr int kConstant = -100000;

 private:
  Table() = default;
  void fill(const double* x, const std::vector<int64_t>& source);
  void set_origin();
  void measure();
};

}  // namespace cf
