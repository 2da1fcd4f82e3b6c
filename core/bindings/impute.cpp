// fill.
#include "rows/impute.hpp"
#include <algorithm>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

// A copy of `values` (n, C) with its missing cells filled from the donors (m, C).
Out<double, 2> fill(In<double, 2> values, In<double, 2> places, In<double, 2> donor_values, In<double, 2> donor_places,
                    In<double, 1> weights, In<int32_t, 1> first, In<int32_t, 1> widths, In<double, 1> means,
                    double neighbours, int nearest, int threads) {
  const size_t n = values.shape(0), m = donor_values.shape(0), columns = values.shape(1), p = first.shape(0);
  require_aligned(values, places, donor_values, donor_places, weights, first, widths, means);
  require(places.shape(0) == n && places.shape(1) == columns, "places must have the shape of values");
  require(donor_values.shape(1) == columns, "donors must have the columns of values");
  require(donor_places.shape(0) == m && donor_places.shape(1) == columns, "places must have the shape of donors");
  require(weights.shape(0) == m && means.shape(0) == columns, "one weight per donor, one mean per column");
  require(widths.shape(0) == p, "one width per feature");
  require(m >= 1 && nearest >= 1 && neighbours > 0, "donors and nearest must be at least 1, neighbours above 0");
  require_threads(threads);
  for (size_t j = 0; j < p; ++j)
    require(first(j) >= 0 && widths(j) >= 1 && first(j) + int64_t{widths(j)} <= static_cast<int64_t>(columns),
            "a feature is out of range");
  Out<double, 2> out = uninitialised<double, 2>({n, columns});
  cf::Call call;
  std::copy_n(values.data(), n * columns, out.data());
  const cf::Features features{first.data(), widths.data(), static_cast<int>(p), static_cast<int>(columns)};
  const cf::Donors donors(features, m, donor_places.data(), donor_values.data(), weights.data());
  cf::impute(donors, {neighbours, nearest, means.data()}, places.data(), out.data(), n, threads);
  return out;
}

}  // namespace

void bind_impute(nb::module_& m) {
  m.def("fill", &fill, "values"_a, "places"_a, "donor_values"_a, "donor_places"_a, "weights"_a, "first"_a, "widths"_a,
        "means"_a, "neighbours"_a, "nearest"_a, "threads"_a);
}
