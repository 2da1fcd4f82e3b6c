// Columns brought to comparable size, in one or more views: what scaling.py fitted, applied to any rows.
#pragma once
#include <cstdint>
#include <vector>

namespace cf {

// In view v, column c of a row is (x * 2^-exponent - shift) / divisor or, where it is ranked, what the ranks of the
// nearest knots of c say. All arrays are [view][column].
struct ScalingSteps {
  int64_t views, columns;
  const int32_t* exponent;
  const double* shift;
  const double* divisor;
  const uint8_t* ranked;
  const int64_t* starts;  // columns + 1: where each column's knots start
  const double* knots;    // ascending in each column
  const double* ranks;
};

class Scaling {
 public:
  explicit Scaling(const ScalingSteps& steps);

  int64_t width() const { return views * columns; }

  // x[row][column] to out[row * row_step + (view * columns + column) * column_step].
  void apply(const double* x, int64_t rows, double* out, int64_t row_step, int64_t column_step) const;

  int64_t views, columns;

 private:
  // A power of two as two factors of which the first is 1 unless 2^exponent is not a double.
  struct Affine {
    double first, second, shift, divisor;
    bool ranked;
  };
  // Knots and, for each of as many equal steps of their range, the number of knots before it.
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
