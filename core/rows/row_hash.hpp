// Hashes of rows: of the values as they are, by which equal rows are found, and of values that are divided by a power
// of two, by which a table is ordered. Units, weights and the order of rows leave the latter as they are.
//
// Each step mixes the bits of one value into a key (the finaliser of splitmix64: Steele, Lea, Flood 2014).
#pragma once
#include <cstdint>
#include <vector>

namespace cf {

// Hash each of the rows x[row][column]. 0 and -0 are equal, and so are all NaNs. `keys` holds zeros, or the hashes of
// the columns before these.
void hash_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads);

// The smallest and the largest value of each column: NaN where it has a NaN, infinite where it has no value.
struct ColumnEnds {
  std::vector<double> low, high;
};

// Hash the rows and find the ends of the columns in one pass.
ColumnEnds scan_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads);

// ---- Keys, which order a table ----

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
