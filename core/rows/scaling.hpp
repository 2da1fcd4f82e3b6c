// Bring columns to comparable size, in one or more views, by steps that were fitted in Python.
#pragma once
#include <cstdint>
#include <vector>

namespace cf {

// In view v, column c becomes (x * 2^-exponent - shift) / divisor or, where it is ranked, the rank interpolated between
// the nearest knots of c. Arrays are [view][column] unless noted.
struct ScalingSteps {
  int64_t views, columns;
  const int32_t* exponent;
  const double* shift;
  const double* divisor;
  const uint8_t* ranked;
  const int64_t* starts;  // [columns + 1]: where the knots of each column begin
  const double* knots;    // ascending in each column
  const double* ranks;
};

class Scaling {
 public:
  explicit Scaling(const ScalingSteps& steps);

  int64_t width() const { return views * columns; }

  // Write x[row][column] in each view to out[row * row_step + (view * columns + column) * column_step].
  void apply(const double* x, int64_t rows, double* out, int64_t row_step, int64_t column_step) const;

  // Write all views side by side: out[row][view * columns + column].
  void apply_rows(const double* x, int64_t rows, double* out, int threads) const;

  int64_t views, columns;

 private:
  // x * first * second - shift, divided. The factors are a power of two; the first is 1 unless this is no double.
  struct Affine {
    double first, second, shift, divisor;
    bool ranked;
  };
  // The knots of a column. To find those around x fast, their range is divided into as many equal steps, and the
  // number of knots before each step is kept.
  struct Ladder {
    double rank(double x) const;
    int64_t step_of(double x) const;
    std::vector<double> knots, ranks;
    std::vector<int32_t> before;
    double steps_per_unit = 0;
  };

  std::vector<Affine> affine_;
  std::vector<Ladder> ladders_;
};

}  // namespace cf
