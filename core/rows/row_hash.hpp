// Hashes of rows, by which equal ones are found.
#pragma once
#include <cstdint>

namespace cf {

// Hash each of the rows x[row][column]. 0 and -0 are equal, and so are all NaNs. `keys` holds zeros, or the hashes of
// the columns before these.
void hash_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads);

}  // namespace cf
