// Columns of a wide table, which is never scaled as a whole: what each needs to be scaled, its ranks, how much of its
// variance lies between clusters (a column that is informative of a clustering has much), and some columns of some
// rows.
//
// Columns are x[column][row] but where rows and columns are taken from a table of any strides.
#pragma once
#include <cstdint>

namespace cf {

struct Columns {
  const double* x;
  int64_t count, rows;
};

// Of each column: the number of different values, and the step (x * 2^-exponent - shift) / divisor that gives it mean 0
// and variance 1, or lets it range from 0 to 1. Those of a constant column are 0, 0, 1.
struct FittedSteps {
  int32_t* values;
  int32_t* exponent;
  double* shift;
  double* divisor;
};

// The values of each column must ascend.
void fit_steps(const Columns& ordered, bool range, const FittedSteps& steps, int threads);

// Write the rank of each cell among the values of its column, from 0 to 1. order[column][i] is the row of the column's
// i-th lowest value.
void rank_columns(const Columns& columns, const int64_t* order, double* ranks, int threads);

// ---- Variance between clusters ----

// Clusterings labels[clustering][row], whose clusters are numbered from 0 in each: those of clustering t are the
// clusters first[t], ..., first[t + 1] - 1 of all, with so many rows.
struct Clusterings {
  const int32_t* labels;
  int64_t count;
  const int64_t* first;
  const double* sizes;
};

// Of each column, centred and in whole numbers of a unit: the sum of squares between the clusters of each clustering,
// between[clustering][column], the sum of all squares, and the size of 2^26 units.
struct ClusterShares {
  double* between;
  double* total;
  double* scale;
};

void share_variance(const Columns& columns, const Clusterings& clusterings, const ClusterShares& shares, int threads);

// ---- Some rows and columns, scaled one by one ----

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
