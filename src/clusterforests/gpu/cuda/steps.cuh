// How a cell of the table becomes a coordinate of the trees: the numbers of the CPU, bit for bit.
// REAL is the table's type. Built without fused multiply-adds.

// How a column of a view comes from one of the table, then gets to its place relative to the centres.
struct Step {
  double first, second, shift, divisor;
  double to_first, to_second, origin;
  double steps_per_unit;
  i64 knots, before;  // where this column's begin
  int column, count;  // count: number of knots; 0 if it is not ranked
  int terms, end;     // of a projected column; the end is -1 if it is not one
};

// A step's column, before it gets to its place, times a coefficient.
struct Term {
  double coefficient;
  i64 step;
};

// A table's rows, and the steps of its columns. Knots come with their ranks.
struct Cells {
  const REAL* x;
  i64 row_step, column_step;
  const Step* steps;
  const double2* knots;
  const int* before;
  const Term* terms;
};

__device__ double rank_of(double x, const Step& step, const double2* knots, const int* before) {
  const double2* own = knots + step.knots;
  const int last = step.count - 1;
  if (!(x > own[0].x)) return own[0].y;
  if (!(x < own[last].x)) return own[last].y;
  const i64 at = step.steps_per_unit > 0 ? static_cast<i64>((x - own[0].x) * step.steps_per_unit) : 0;
  const int* bounds = before + step.before + (at < step.count ? at : step.count);
  int low = bounds[0], high = bounds[1];  // the first knot above x is among them, or just after
  while (low < high) {
    const int middle = (low + high) / 2;
    if (own[middle].x > x)
      high = middle;
    else
      low = middle + 1;
  }
  const double2 below = own[low - 1];
  if (below.x == x) return below.y;
  const double2 above = own[low];
  const double gap = 0.5 * above.x - 0.5 * below.x;
  if (!(gap > 0)) return below.y;
  return below.y + (above.y - below.y) * ((0.5 * x - 0.5 * below.x) / gap);
}

__device__ REAL cell_of(const Cells& cells, i64 row, const Step& step) {
  return cells.x[row * cells.row_step + step.column * cells.column_step];
}

__device__ double scaled(double cell, const Cells& cells, const Step& step) {
  return step.count ? rank_of(cell, step, cells.knots, cells.before)
                    : ((cell + 0.0) * step.first * step.second - step.shift) / step.divisor;
}

// The terms are added in their order, starting from 0, as on the CPU. Neither inlined nor given the address of the cells,
// so that these can stay in registers where columns are not projected.
__device__ __noinline__ double sum_terms(Cells cells, i64 row, int begin, int end) {
  double sum = 0;
  for (int i = begin; i < end; ++i) {
    const Term term = cells.terms[i];
    const Step& step = cells.steps[term.step];
    sum += term.coefficient * scaled(cell_of(cells, row, step), cells, step);
  }
  return sum;
}

// The cell is the one that the step names.
__device__ double place_of(double cell, const Cells& cells, i64 row, const Step& step) {
  const double value = step.end < 0 ? scaled(cell, cells, step) : sum_terms(cells, row, step.terms, step.end);
  return value * step.to_first * step.to_second + 0.0 - step.origin;
}
