// What is known of rows from their labels alone: sums over tables, hashes.
#pragma once
#include <cstdint>

namespace cf {

// out[i] = sum over members m of the line of table m for labels[m][i]. Table m is the lines first[m] to first[m + 1] of
// `lines`, each of `width` numbers; its last line is for labels below zero, the one before it for labels beyond.
void sum_lines(const int32_t* labels, int64_t rows, int members, const int64_t* first, const double* lines, int width,
               double* out, int threads);

// A hash of each column of labels.
void column_keys(const int32_t* labels, int64_t rows, int members, uint64_t* out);

}  // namespace cf
