// What follows from the labels of rows alone: sums of table lines, and hashes.
#pragma once
#include <cstdint>

namespace cf {

// For each row i, sum the line for labels[m][i] of each member's table m. Table m is lines[first[m]], ...,
// lines[first[m + 1] - 1], each of `width` numbers. Its last line is for labels below zero, the one before it for
// labels that have no line of their own.
void sum_lines(const int32_t* labels, int64_t rows, int members, const int64_t* first, const double* lines, int width,
               double* out, int threads);

// Add the weight of each row, 1 if `weights` is null, to cells[first[m] + labels[m][i]][groups[i]] of every member m.
// The lines of a member end with one for labels below zero, which is left alone.
void count_cells(const int32_t* labels, int64_t rows, int members, const int64_t* first, const int32_t* groups,
                 const double* weights, int width, double* cells, int threads);

// For each row i, sum over the members the share of each group among its companions: those in the line that its label
// picks, less copies[i] of the row itself. `everyone` are the sums of the lines. A member in which the companions weigh
// at most `rounding` times the copies says nothing. The last of a row's width + 1 numbers sums what it counts for
// itself.
void sum_companions(const int32_t* labels, int64_t rows, int members, const int64_t* first, const double* cells,
                    const double* everyone, int width, const double* copies, double rounding, double* out, int threads);

// Order the rows by the bytes of their labels over all members, those of the lowest value first; equal rows stay in
// their order. is_new[i] says whether row order[i] differs from the one before it.
void order_columns(const int32_t* labels, int64_t rows, int members, int64_t* order, bool* is_new);

// Hash the labels of each row over all members.
void column_keys(const int32_t* labels, int64_t rows, int members, uint64_t* out);

}  // namespace cf
