// Hashes of rows, by which equal ones are found.
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

}  // namespace cf
