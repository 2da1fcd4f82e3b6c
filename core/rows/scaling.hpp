// Bring columns to comparable size, in one or more views, by steps that were fitted in Python; then add up some of
// them.
#pragma once
#include <cstdint>
#include <vector>
#include "simd/kernels.hpp"

namespace cf {

// In view v, column c becomes (x * 2^-exponent - shift) / divisor or, where it is ranked, the rank interpolated between
// the nearest knots of c. Arrays are [view][column] unless noted.
//
// Projected column j is the sum of coefficient * scaled column over the terms from term_starts[j] on.
struct ScalingSteps {
  int64_t views, columns;
  const int32_t* exponent;
  const double* shift;
  const double* divisor;
  const uint8_t* ranked;
  const int64_t* starts;  // [columns + 1]: where the knots of each column begin
  const double* knots;    // ascending in each column
  const double* ranks;
  int64_t projected;            // number of projected columns
  const int64_t* term_starts;   // [projected + 1]
  const int32_t* term_columns;  // of the scaled views
  const double* coefficients;
};

class Scaling {
 public:
  explicit Scaling(const ScalingSteps& steps);

  int64_t width() const { return views * columns + projected(); }

  // The scaled columns that are needed to have these: a 1 for each of them, and for what they are projected from.
  std::vector<uint8_t> needed(const std::vector<int32_t>& chosen) const;

  // Write x[row][column] in each view to out[row * row_step + (view * columns + column) * column_step], and projected
  // column j to out[row * row_step + (views * columns + j) * column_step]. Columns that are not needed are left out.
  void apply(const double* x, int64_t rows, double* out, int64_t row_step, int64_t column_step,
             const std::vector<uint8_t>& needed) const;

  // Write all views side by side, then the projected columns: out[row][width()].
  void apply_rows(const double* x, int64_t rows, double* out, int threads) const;

  int64_t views, columns;

 private:
  // x * first * second - shift, divided. The factors are a power of two; the first is 1 unless this is no double.
  struct Affine {
    double first, second, shift, divisor;
    bool ranked;
  };
  struct Knot {
    double at, rank;
  };
  // The knots of a column. To find those around x fast, their range is divided into as many equal steps, and the
  // number of knots before each step is kept.
  struct Ladder {
    double rank(double x) const;
    int64_t step_of(double x) const;
    std::vector<Knot> knots;
    std::vector<int32_t> before;
    double steps_per_unit = 0;
  };

  int64_t projected() const { return static_cast<int64_t>(term_starts_.size()) - 1; }
  void project(int64_t rows, double* out, int64_t row_step, int64_t column_step,
               const std::vector<uint8_t>& needed) const;

  std::vector<Affine> affine_;
  std::vector<Ladder> ladders_;
  std::vector<int64_t> term_starts_;
  std::vector<ProjectionTerm> terms_;
};

}  // namespace cf
