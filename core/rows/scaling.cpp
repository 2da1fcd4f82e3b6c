#include "rows/scaling.hpp"
#include <algorithm>
#include <cmath>
#include "runtime/threads.hpp"

namespace cf {

Scaling::Scaling(const ScalingSteps& steps)
    : views(steps.views),
      columns(steps.columns),
      term_starts_(steps.term_starts, steps.term_starts + steps.projected + 1) {
  // Projections.
  for (int64_t i = 0; i < term_starts_.back(); ++i) terms_.push_back({steps.term_columns[i], steps.coefficients[i]});
  // Steps. A power of two that is no double is taken as two factors.
  for (int64_t i = 0; i < views * columns; ++i) {
    const int power = -steps.exponent[i], first = std::max(0, power - 1023);
    affine_.push_back({std::ldexp(1.0, first), std::ldexp(1.0, power - first), steps.shift[i], steps.divisor[i],
                       steps.ranked[i] != 0});
  }
  // Knots, with the number of them before each of as many equal steps of their range.
  ladders_.resize(columns);
  for (int64_t c = 0; c < columns; ++c) {
    Ladder& ladder = ladders_[c];
    for (int64_t i = steps.starts[c]; i < steps.starts[c + 1]; ++i)
      ladder.knots.push_back({steps.knots[i], steps.ranks[i]});
    const size_t count = ladder.knots.size();
    if (!count) continue;
    ladder.steps_per_unit = static_cast<double>(count) / (ladder.knots.back().at - ladder.knots.front().at);
    if (!std::isfinite(ladder.steps_per_unit)) ladder.steps_per_unit = 0;
    ladder.before.assign(count + 2, 0);
    for (const Knot& knot : ladder.knots) ++ladder.before[ladder.step_of(knot.at) + 1];
    for (size_t s = 1; s < ladder.before.size(); ++s) ladder.before[s] += ladder.before[s - 1];
  }
}

// Rounding is monotone, so knots of earlier steps are below x and knots of later ones above it.
int64_t Scaling::Ladder::step_of(double x) const {
  if (!(steps_per_unit > 0)) return 0;  // the range of the knots, or a step of it, is not a double
  const double step = (x - knots.front().at) * steps_per_unit;
  if (!(step >= 0)) return 0;  // NaN: the difference is not a double
  return std::min(static_cast<int64_t>(step), static_cast<int64_t>(knots.size()));
}

double Scaling::Ladder::rank(double x) const {
  // Beyond the knots, the rank of the last one.
  if (!(x > knots.front().at)) return knots.front().rank;
  if (!(x < knots.back().at)) return knots.back().rank;
  // The knots around x are among those of its step.
  const int64_t step = step_of(x);
  const Knot *from = knots.data() + before[step], *to = knots.data() + before[step + 1];
  constexpr int64_t kFew = 16;  // knots that are looked at one by one
  if (to - from <= kFew)
    while (from < to && !(x < from->at)) ++from;
  else
    from = std::upper_bound(from, to, x, [](double value, const Knot& knot) { return value < knot.at; });
  // Interpolate between them.
  const Knot &low = from[-1], &high = from[0];
  if (low.at == x) return low.rank;
  const double gap = 0.5 * high.at - 0.5 * low.at;  // halves, because the difference may not be a double
  if (!(gap > 0)) return low.rank;
  return low.rank + (high.rank - low.rank) * ((0.5 * x - 0.5 * low.at) / gap);
}

std::vector<uint8_t> Scaling::needed(const std::vector<int32_t>& chosen) const {
  std::vector<uint8_t> found(width());
  for (const int32_t c : chosen) {
    found[c] = 1;
    const int64_t j = c - views * columns;
    for (int64_t i = j < 0 ? 0 : term_starts_[j]; j >= 0 && i < term_starts_[j + 1]; ++i) found[terms_[i].column] = 1;
  }
  return found;
}

void Scaling::apply(const double* x, int64_t rows, double* out, int64_t row_step, int64_t column_step,
                    const std::vector<uint8_t>& needed) const {
  for (int64_t i = 0; i < views * columns; ++i) {
    if (!needed[i]) continue;
    const int64_t c = i % columns;
    const Affine& step = affine_[i];
    double* to = out + i * column_step;
    if (step.ranked) {
      for (int64_t r = 0; r < rows; ++r) to[r * row_step] = ladders_[c].rank(x[r * columns + c]);
    } else {
      for (int64_t r = 0; r < rows; ++r)
        to[r * row_step] = ((x[r * columns + c] + 0.0) * step.first * step.second - step.shift) / step.divisor;
    }
  }
  if (projected()) project(rows, out, row_step, column_step, needed);
}

// Each row's terms are added in their order, starting from 0, whatever the block.
void Scaling::project(int64_t rows, double* out, int64_t row_step, int64_t column_step,
                      const std::vector<uint8_t>& needed) const {
  const int64_t tiles = row_step == 1 ? rows / kTile : 0;
  for (int64_t j = 0; j < projected(); ++j) {
    if (!needed[views * columns + j]) continue;
    const ProjectionTerm* terms = terms_.data() + term_starts_[j];
    const int64_t count = term_starts_[j + 1] - term_starts_[j];
    double* to = out + (views * columns + j) * column_step;
    kernels().project(out, column_step, terms, count, tiles, to);
    for (int64_t r = tiles * kTile; r < rows; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += terms[i].coefficient * out[terms[i].column * column_step + r * row_step];
      to[r * row_step] = sum;
    }
  }
}

void Scaling::apply_rows(const double* x, int64_t rows, double* out, int threads) const {
  constexpr int64_t kRowsPerTask = 1024;
  const std::vector<uint8_t> every(width(), 1);
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t start = task * kRowsPerTask;
    apply(x + start * columns, std::min(kRowsPerTask, rows - start), out + start * width(), width(), 1, every);
  });
}

}  // namespace cf
