// Scaling.
#include "rows/scaling.hpp"
#include <cmath>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

void require_knots(In<uint8_t, 2> ranked, In<int64_t, 1> starts, In<double, 1> knots) {
  const size_t views = ranked.shape(0), columns = ranked.shape(1);
  for (size_t c = 0; c < columns; ++c) {
    require(starts(c) <= starts(c + 1) && starts(c + 1) <= starts(columns), "starts must ascend");
    require(starts(c + 1) - starts(c) < (int64_t{1} << 30), "a column has too many knots");
    for (size_t v = 0; v < views; ++v)
      require(!ranked(v, c) || starts(c) < starts(c + 1), "a ranked column must have knots");
    for (int64_t i = starts(c); i < starts(c + 1); ++i) {
      require(std::isfinite(knots(i)), "knots must be finite");
      require(i == starts(c) || knots(i - 1) < knots(i), "knots must ascend");
    }
  }
}

void require_terms(size_t scaled_columns, In<int64_t, 1> starts, In<int32_t, 1> columns, In<double, 1> coefficients) {
  const size_t count = columns.shape(0);
  require(starts.shape(0) >= 1 && starts(0) == 0, "projected columns must start at term 0");
  require(starts.shape(0) == 1 || scaled_columns > 0, "projected columns need scaled ones");
  require(coefficients.shape(0) == count && starts(starts.shape(0) - 1) == static_cast<int64_t>(count),
          "projected columns must end at the number of terms, which have a coefficient each");
  for (size_t j = 1; j < starts.shape(0); ++j)
    require(starts(j - 1) <= starts(j), "the starts of projected columns must ascend");
  for (size_t i = 0; i < count; ++i) {
    require(columns(i) >= 0 && static_cast<size_t>(columns(i)) < scaled_columns, "a term's column is out of range");
    require(std::isfinite(coefficients(i)), "coefficients must be finite");
  }
}

void make_scaling(cf::Scaling* self, In<int32_t, 2> exponent, In<double, 2> shift, In<double, 2> divisor,
                  In<uint8_t, 2> ranked, In<int64_t, 1> starts, In<double, 1> knots, In<double, 1> ranks,
                  In<int64_t, 1> term_starts, In<int32_t, 1> term_columns, In<double, 1> coefficients) {
  const size_t views = exponent.shape(0), columns = exponent.shape(1);
  require_aligned(exponent, shift, divisor, ranked, starts, knots, ranks, term_starts, term_columns, coefficients);
  const auto fits = [&](const auto& a) { return a.shape(0) == views && a.shape(1) == columns; };
  require(fits(shift) && fits(divisor) && fits(ranked), "all steps must have the same shape");
  require(starts.shape(0) == columns + 1 && starts(0) == 0, "starts must be one longer than columns, from 0");
  require(knots.shape(0) == ranks.shape(0) && starts(columns) == static_cast<int64_t>(knots.shape(0)),
          "starts must end at the number of knots, which have a rank each");
  require_knots(ranked, starts, knots);
  for (size_t i = 0; i < views * columns; ++i)
    require(exponent.data()[i] > -2000 && exponent.data()[i] < 2000, "an exponent is out of range");
  require_terms(exponent.size(), term_starts, term_columns, coefficients);
  new (self) cf::Scaling({static_cast<int64_t>(views), static_cast<int64_t>(columns), exponent.data(), shift.data(),
                          divisor.data(), ranked.data(), starts.data(), knots.data(), ranks.data(),
                          static_cast<int64_t>(term_starts.shape(0)) - 1, term_starts.data(), term_columns.data(),
                          coefficients.data()});
}

Out<double, 2> apply(const cf::Scaling& scaling, In<double, 2> x, int threads) {
  require(static_cast<int64_t>(x.shape(1)) == scaling.columns, "the rows must have the scaling's columns");
  require_threads(threads);
  require_table(x);
  require_aligned(x);
  Out<double, 2> out = uninitialised<double, 2>({x.shape(0), static_cast<size_t>(scaling.width())});
  cf::Call call;
  scaling.apply_rows(x.data(), x.shape(0), out.data(), threads);
  return out;
}

}  // namespace

void bind_scaling(nb::module_& m) {
  nb::class_<cf::Scaling>(m, "Scaling")
      .def("__init__", &make_scaling, "exponent"_a, "shift"_a, "divisor"_a, "ranked"_a, "starts"_a, "knots"_a,
           "ranks"_a, "term_starts"_a, "term_columns"_a, "coefficients"_a)
      .def("apply", &apply, "x"_a, "threads"_a = 1);
}
