// What follows from the labels of rows alone: sums of table lines, and hashes.
#pragma once
#include <cstdint>

namespace cf {

// For each row i, sum the line for labels[m][i] of each member's table m. Table m is lines[first[m]], ...,
// lines[first[m + 1] - 1], each of `width` numbers. Its last line is for labels below zero, the one before it for
// labels that have no line of their own.
void sum_lines(const int32_t* labels, int64_t rows, int members, const int64_t* first, const double* lines, int width,
               double* out, int threads);

// Hash the labels of each row over all members.
void column_keys(const int32_t* labels, int64_t rows, int members, uint64_t* out);

}  // namespace cf
