// P and other matrices over pairs of rows, written out, and products with them.
#pragma once
#include <cstdint>

namespace cf {

// Set out[i][j] = table[number of members in which row i of `a` and row j of `b` share a label]; labels below zero
// match nothing. Labels are a[member][row] and b[member][row]; `table` has members + 1 entries.
void coassociate(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, const double* table,
                 double* out, int threads);

// For each row of `a` find the row of `b` with which it shares the most labels, the first on ties, and how many. `b`
// has at least one row.
void most_matched(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, int64_t* place,
                  int32_t* matches, int threads);

// Set out[v][i] to the sum over j of matrix[i][j] * vectors[v][j], in the same order for any number of threads.
void multiply(const double* matrix, int64_t rows, int64_t columns, const double* vectors, int count, double* out,
              int threads);

}  // namespace cf
