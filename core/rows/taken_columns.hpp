// Some rows and columns of a table, scaled one by one: a part of a wide table that is never scaled as a whole.
#pragma once
#include <cstdint>

namespace cf {

// x[row * row_step + column * column_step], of float or double.
template <class Number>
struct StridedTable {
  const Number* x;
  int64_t row_step, column_step;
};

// How each column of the table is scaled: (x * 2^-exponent - shift) / divisor - center.
struct ColumnSteps {
  const int32_t* exponent;
  const double* shift;
  const double* divisor;
  const double* center;
};

// Which rows and columns are taken.
struct Taken {
  const int64_t* rows;
  int64_t row_count;
  const int32_t* columns;
  int64_t column_count;
};

// Write the scaled columns to out[column][row].
template <class Number>
void take_columns(const StridedTable<Number>& table, const ColumnSteps& steps, const Taken& taken, double* out,
                  int threads);

}  // namespace cf
