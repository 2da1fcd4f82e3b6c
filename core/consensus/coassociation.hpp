#pragma once
#include <cstdint>

namespace cf {

// out[i][j] = table[number of partitions in which rows i of `a` and j of `b` share a label]; -1 matches nothing.
// Labels are member-major: a[member][row]. `table` has members + 1 entries.
void coassociate(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, const double* table,
                 double* out, int threads);

// out[v][i] = sum over j of matrix[i][j] * vectors[v][j], each in the same order whatever the threads.
void multiply(const double* matrix, int64_t rows, int64_t columns, const double* vectors, int count, double* out,
              int threads);

}  // namespace cf
