// Keys of rows, by which a table is ordered: hashes of the values, each column divided by a power of two.
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

// Of the largest magnitude of a column, which becomes about 1 when it is divided by 2^exponent.
int exponent_of(double largest);

// Factors that divide columns by 2^exponent.
std::vector<PowerOfTwo> undo(const std::vector<int>& exponents);

// The largest magnitude in each column, over the rows that have a weight; all of them if `weights` is null.
std::vector<double> largest_by_column(const double* x, int64_t n, int64_t p, const double* weights);

// The keys of rows whose columns come some at a time, from the first to the last.
class RowKeys {
 public:
  explicit RowKeys(int64_t rows);

  // Add the next columns, x[column][row] of a table of `length` rows, of which the keys' rows are the given ones.
  // Exponents are of the rows that have a weight.
  void add(const double* x, int64_t columns, int64_t length, const int64_t* rows, const double* weights, int threads);

  // Add the leading columns of x[row], whose exponents are known.
  void add(const double* x, int64_t row_step, const std::vector<PowerOfTwo>& scale, int threads);

  std::vector<uint64_t> finished() const&;
  std::vector<uint64_t> finished() &&;

  int64_t rows() const { return static_cast<int64_t>(keys_.size()); }

 private:
  std::vector<uint64_t> keys_;
};

}  // namespace cf
