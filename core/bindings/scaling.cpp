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

cf::Scaling make_scaling(In<int32_t, 2> exponent, In<double, 2> shift, In<double, 2> divisor, In<uint8_t, 2> ranked,
                         In<int64_t, 1> starts, In<double, 1> knots, In<double, 1> ranks) {
  const size_t views = exponent.shape(0), columns = exponent.shape(1);
  require_aligned(exponent, shift, divisor, ranked, starts, knots, ranks);
  const auto fits = [&](const auto& a) { return a.shape(0) == views && a.shape(1) == columns; };
  require(fits(shift) && fits(divisor) && fits(ranked), "all steps must have the same shape");
  require(starts.shape(0) == columns + 1 && starts(0) == 0, "starts must be one longer than columns, from 0");
  require(knots.shape(0) == ranks.shape(0) && starts(columns) == static_cast<int64_t>(knots.shape(0)),
          "starts must end at the number of knots, which have a rank each");
  require_knots(ranked, starts, knots);
  for (size_t i = 0; i < views * columns; ++i)
    require(exponent.data()[i] > -2000 && exponent.data()[i] < 2000, "an exponent is out of range");
  return cf::Scaling({static_cast<int64_t>(views), static_cast<int64_t>(columns), exponent.data(), shift.data(),
                      divisor.data(), ranked.data(), starts.data(), knots.data(), ranks.data()});
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
      .def(
          "__init__",
          [](cf::Scaling* self, In<int32_t, 2> exponent, In<double, 2> shift, In<double, 2> divisor,
             In<uint8_t, 2> ranked, In<int64_t, 1> starts, In<double, 1> knots, In<double, 1> ranks) {
            new (self) cf::Scaling(make_scaling(exponent, shift, divisor, ranked, starts, knots, ranks));
          },
          "exponent"_a, "shift"_a, "divisor"_a, "ranked"_a, "starts"_a, "knots"_a, "ranks"_a)
      .def("apply", &apply, "x"_a, "threads"_a = 1);
}
