// Tables: RowKeys, Table, project, hash_rows, scan_rows, is_finite. Columns: Scaling, take_columns, fit_steps,
// rank_columns, share_variance, fill. They check and convert arguments and release the GIL.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>
#include "bindings/arrays.hpp"
#include "rows/impute.hpp"
#include "rows/row_hash.hpp"
#include "rows/scaling.hpp"
#include "rows/table.hpp"
#include "rows/wide_columns.hpp"
#include "runtime/threads.hpp"
#include "runtime/random.hpp"

using namespace nb::literals;

namespace {

using Keys = std::optional<In<uint64_t, 1>>;

cf::Table make_table(In<double, 2> x, const Weights& weights, std::optional<int64_t> keyed, const Keys& keys) {
  require_rows(x, weights);
  const int64_t columns = static_cast<int64_t>(x.shape(1)), key = keyed.value_or(columns);
  require(key >= 1 && key <= columns, "keyed must be a number of columns");
  require_aligned(keys.value_or(In<uint64_t, 1>()));
  require(!keys || keys->shape(0) == x.shape(0), "keys must have one entry per row");
  cf::Call call;
  require_numbers(x, weights);
  const double* w = weights ? weights->data() : nullptr;
  return cf::Table(x.data(), x.shape(0), columns, w, {key, keys ? keys->data() : nullptr});
}

cf::Table project(In<double, 2> x, In<int32_t, 1> exponent, In<double, 1> origin, In<int32_t, 1> reach) {
  require_table(x);
  require_aligned(x);
  const cf::Coordinates coordinates = read_coordinates(exponent, origin, reach, x.shape(1));
  cf::Call call;
  return cf::Table::project(x.data(), x.shape(0), coordinates);
}

Out<uint64_t, 1> hash_rows(In<double, 2> x, int threads, const Keys& before) {
  require_cells(x);
  require_aligned(x, before.value_or(In<uint64_t, 1>()));
  require_threads(threads);
  require(!before || before->shape(0) == x.shape(0), "before must have one entry per row");
  Out<uint64_t, 1> keys = uninitialised<uint64_t, 1>({x.shape(0)});
  cf::Call call;
  if (before)
    std::copy_n(before->data(), x.shape(0), keys.data());
  else
    std::fill_n(keys.data(), x.shape(0), uint64_t{0});
  cf::hash_rows(x.data(), x.shape(0), x.shape(1), keys.data(), threads);
  return keys;
}

std::tuple<Out<uint64_t, 1>, Out<double, 1>, Out<double, 1>> scan_rows(In<double, 2> x, int threads) {
  require_cells(x);
  require_aligned(x);
  require_threads(threads);
  Out<uint64_t, 1> keys = uninitialised<uint64_t, 1>({x.shape(0)});
  const cf::ColumnEnds ends = [&] {
    cf::Call call;
    std::fill_n(keys.data(), x.shape(0), uint64_t{0});
    return cf::scan_rows(x.data(), x.shape(0), x.shape(1), keys.data(), threads);
  }();
  return {keys, copy_of<double>(ends.low), copy_of<double>(ends.high)};
}

bool is_finite(In<double, 2> x) {
  require_aligned(x);
  cf::Call call;
  return all_finite(x.data(), x.size());
}

bool within(const int64_t* first, size_t count, size_t limit) {
  return std::all_of(first, first + count, [&](int64_t i) { return i >= 0 && static_cast<size_t>(i) < limit; });
}

cf::Columns read_columns(In<double, 2> x, int threads) {
  require_cells(x);
  require_aligned(x);
  require_threads(threads);
  require(x.shape(1) < static_cast<size_t>(std::numeric_limits<int32_t>::max()), "X has 2^31 rows or more");
  return {x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1))};
}

void make_keys(cf::RowKeys* self, int64_t rows) {
  require(rows >= 0 && rows < std::numeric_limits<int32_t>::max(), "rows must be a number of rows");
  new (self) cf::RowKeys(rows);
}

void add_to_keys(cf::RowKeys& self, In<double, 2> x, In<int64_t, 1> rows, const std::optional<In<double, 1>>& weights,
                 int threads) {
  const cf::Columns columns = read_columns(x, threads);
  require_aligned(rows, weights.value_or(In<double, 1>()));
  require(static_cast<int64_t>(rows.shape(0)) == self.rows(), "rows must be those of the keys");
  require(within(rows.data(), rows.shape(0), x.shape(1)), "a row index is out of range");
  require(!weights || weights->shape(0) == rows.shape(0), "weights must have one entry per row");
  cf::Call call;
  require_finite(x);
  if (weights) require_weights(weights->data(), weights->shape(0));
  self.add(columns.x, columns.count, columns.rows, rows.data(), weights ? weights->data() : nullptr, threads);
}

template <class Number>
using Strided = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;

template <class Number>
Out<double, 2> take_columns(Strided<Number> x, In<int64_t, 1> rows, In<int32_t, 1> columns, In<int32_t, 1> exponent,
                            In<double, 1> shift, In<double, 1> divisor, In<double, 1> center, int threads) {
  require_aligned(x, rows, columns, exponent, shift, divisor, center);
  require_threads(threads);
  const size_t p = x.shape(1);
  require(exponent.shape(0) == p && shift.shape(0) == p && divisor.shape(0) == p && center.shape(0) == p,
          "there must be a step for each column");
  require(within(rows.data(), rows.shape(0), x.shape(0)), "a row index is out of range");
  for (size_t j = 0; j < columns.shape(0); ++j) {
    require(columns(j) >= 0 && static_cast<size_t>(columns(j)) < p, "a column index is out of range");
    require(exponent(columns(j)) > -2000 && exponent(columns(j)) < 2000, "an exponent is out of range");
  }
  Out<double, 2> out = uninitialised<double, 2>({columns.shape(0), rows.shape(0)});
  cf::Call call;
  cf::take_columns<Number>(
      {x.data(), x.stride(0), x.stride(1)}, {exponent.data(), shift.data(), divisor.data(), center.data()},
      {rows.data(), static_cast<int64_t>(rows.shape(0)), columns.data(), static_cast<int64_t>(columns.shape(0))},
      out.data(), threads);
  return out;
}

using Steps = std::tuple<Out<int32_t, 1>, Out<int32_t, 1>, Out<double, 1>, Out<double, 1>>;

Steps fit_steps(In<double, 2> ordered, bool range, int threads) {
  const cf::Columns columns = read_columns(ordered, threads);
  const size_t count = ordered.shape(0);
  auto values = uninitialised<int32_t, 1>({count}), exponent = uninitialised<int32_t, 1>({count});
  auto shift = uninitialised<double, 1>({count}), divisor = uninitialised<double, 1>({count});
  cf::Call call;
  require_finite(ordered);
  cf::fit_steps(columns, range, {values.data(), exponent.data(), shift.data(), divisor.data()}, threads);
  return {values, exponent, shift, divisor};
}

Out<double, 2> rank_columns(In<double, 2> x, In<int64_t, 2> order, int threads) {
  const cf::Columns columns = read_columns(x, threads);
  require_aligned(order);
  require(order.shape(0) == x.shape(0) && order.shape(1) == x.shape(1), "order must be of the columns");
  require(within(order.data(), order.size(), x.shape(1)), "a row index is out of range");
  Out<double, 2> ranks = uninitialised<double, 2>({x.shape(0), x.shape(1)});
  cf::Call call;
  std::fill_n(ranks.data(), ranks.size(), 0.0);  // a row that the order lacks
  cf::rank_columns(columns, order.data(), ranks.data(), threads);
  return ranks;
}

using Shares = std::tuple<Out<double, 2>, Out<double, 1>, Out<double, 1>>;

Shares share_variance(In<double, 2> x, In<int32_t, 2> labels, In<int64_t, 1> first, In<double, 1> sizes, int threads) {
  const cf::Columns columns = read_columns(x, threads);
  const size_t clusterings = labels.shape(0), n = labels.shape(1);
  require_aligned(labels, first, sizes);
  require(n == x.shape(1), "labels must be of the rows");
  require(
      first.shape(0) == clusterings + 1 && first(0) == 0 && first(clusterings) == static_cast<int64_t>(sizes.shape(0)),
      "first must run from 0 to the number of clusters");
  for (size_t t = 0; t < clusterings; ++t) {
    const int64_t begin = first(t), end = first(t + 1);
    require(begin < end && end <= static_cast<int64_t>(sizes.shape(0)), "a clustering must have clusters");
    const int64_t clusters = end - begin;
    for (size_t i = 0; i < n; ++i) require(labels(t, i) >= 0 && labels(t, i) < clusters, "a label is out of range");
  }
  auto between = uninitialised<double, 2>({clusterings, x.shape(0)});
  auto total = uninitialised<double, 1>({x.shape(0)}), scale = uninitialised<double, 1>({x.shape(0)});
  cf::Call call;
  require_finite(x);
  cf::share_variance(columns, {labels.data(), static_cast<int64_t>(clusterings), first.data(), sizes.data()},
                     {between.data(), total.data(), scale.data()}, threads);
  return {between, total, scale};
}

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

Out<int32_t, 2> draw_features(In<uint64_t, 1> keys, int features, int count, In<int32_t, 1> excluded,
                              In<int64_t, 1> offsets) {
  require_aligned(keys, excluded, offsets);
  require(features >= 1 && count >= 1 && count <= features, "1 <= count <= features");
  require(offsets.shape(0) == keys.shape(0) + 1, "offsets must be one longer than keys");
  require(offsets(0) >= 0 && offsets(keys.shape(0)) <= static_cast<int64_t>(excluded.shape(0)), "offsets out of range");
  for (size_t i = 0; i < keys.shape(0); ++i) require(offsets(i) <= offsets(i + 1), "offsets must ascend");
  Out<int32_t, 2> out = uninitialised<int32_t, 2>({keys.shape(0), static_cast<size_t>(count)});
  cf::Call call;
  std::vector<int32_t> taken;
  for (size_t i = 0; i < keys.shape(0); ++i) {
    taken.assign(excluded.data() + offsets(i), excluded.data() + offsets(i + 1));
    cf::draw_features(keys(i), features, count, taken, out.data() + i * count);
  }
  return out;
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<cf::Table>(
      m, "Table",
      "The distinct rows of a table, in an order that depends on their values alone.\n"
      "\n"
      "By column, true value = (coordinate + origin) * 2**exponent, and coordinates differ from 0 by less than\n"
      "2**(reach - exponent).")
      .def(
          "__init__",
          [](cf::Table* self, In<double, 2> x, const Weights& weights, std::optional<int64_t> keyed, const Keys& keys) {
            new (self) cf::Table(make_table(x, weights, keyed, keys));
          },
          "x"_a, "weights"_a = nb::none(), "keyed"_a = nb::none(), "keys"_a = nb::none())
      .def_ro("rows", &cf::Table::rows)
      .def_ro("distinct", &cf::Table::distinct)
      .def_ro("columns", &cf::Table::columns)
      .def_ro("weight_exponent", &cf::Table::weight_exponent)
      .def_prop_ro(
          "exponent", [](const cf::Table& self) { return copy_of<int32_t>(self.exponent); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "origin", [](const cf::Table& self) { return copy_of<double>(self.origin); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "reach", [](const cf::Table& self) { return copy_of<int32_t>(self.reach); }, nb::rv_policy::automatic);
  m.def("project", &project, "x"_a, "exponent"_a, "origin"_a, "reach"_a,
        "Take rows to the coordinates of another table, for `assign`.");
  m.def("hash_rows", &hash_rows, "x"_a, "threads"_a, "before"_a = nb::none(),
        "Hash each row, beginning with the hashes of the columns before. 0 and -0 are equal, and so are all NaNs.");
  m.def("scan_rows", &scan_rows, "x"_a, "threads"_a,
        "Hash each row as `hash_rows` does, and find the smallest and the largest value of each column.\n"
        "\n"
        "These are NaN where the column has a NaN, and infinity and -infinity where there are no rows; -0 becomes 0.");
  m.def("is_finite", &is_finite, "x"_a, "Tell whether no number is infinite or NaN.");
  m.attr("CONSTANT_REACH") = cf::Coordinates::kConstant;
  nb::class_<cf::RowKeys>(m, "RowKeys",
                          "The keys that order the rows of a `Table`, made of columns that come some at a time.")
      .def("__init__", &make_keys, "rows"_a)
      .def("add", &add_to_keys, "x"_a, "rows"_a, "weights"_a.none(), "threads"_a,
           "Add the next columns of a table, (columns, all its rows); `rows` are those that have keys.")
      .def(
          "finished", [](const cf::RowKeys& self) { return copy_of<uint64_t>(self.finished()); },
          "Return the keys of the columns so far.");
  m.def("take_columns", &take_columns<float>, "x"_a.noconvert(), "rows"_a, "columns"_a, "exponent"_a, "shift"_a,
        "divisor"_a, "center"_a, "threads"_a,
        "Take columns of rows as (x / 2**exponent - shift) / divisor - center: (columns, rows). Any strides will do.");
  m.def("take_columns", &take_columns<double>, "x"_a.noconvert(), "rows"_a, "columns"_a, "exponent"_a, "shift"_a,
        "divisor"_a, "center"_a, "threads"_a);
  m.def("fit_steps", &fit_steps, "ordered"_a, "range"_a, "threads"_a,
        "Fit (x / 2**exponent - shift) / divisor to columns, (columns, rows), whose values ascend.\n"
        "\n"
        "They have mean 0 and variance 1 then, or range from 0 to 1. Returns the numbers of different values, "
        "exponents,\n"
        "shifts and divisors.");
  m.def("rank_columns", &rank_columns, "x"_a, "order"_a, "threads"_a,
        "Rank the cells of columns, (columns, rows), from 0 to 1; `order` has the rows of each, the lowest first.");
  m.def("share_variance", &share_variance, "x"_a, "labels"_a, "first"_a, "sizes"_a, "threads"_a,
        "Add up squares between clusters, (clusterings, columns), and all squares of columns, (columns, rows).\n"
        "\n"
        "Columns are centred and rounded to whole numbers up to 2**26, whose size is returned too. The clusters of "
        "clustering\n"
        "t are first[t], ..., first[t + 1] - 1 of all; `sizes` are their numbers of rows.");
  nb::class_<cf::Scaling>(
      m, "Scaling",
      "The steps that bring columns to comparable size, and sums of the scaled columns.\n"
      "\n"
      "The steps are (views, columns). Each projected column is the sum of its terms, in their order.")
      .def("__init__", &make_scaling, "exponent"_a, "shift"_a, "divisor"_a, "ranked"_a, "starts"_a, "knots"_a,
           "ranks"_a, "term_starts"_a, "term_columns"_a, "coefficients"_a)
      .def("apply", &apply, "x"_a, "threads"_a = 1,
           "Write all views of the rows side by side, then the projected columns.");
  m.def("fill", &fill, "values"_a, "places"_a, "donor_values"_a, "donor_places"_a, "weights"_a, "first"_a, "widths"_a,
        "means"_a, "neighbours"_a, "nearest"_a, "threads"_a,
        "Copy the values and fill their missing features from the nearest donors that have them.\n"
        "\n"
        "Feature j is the columns first[j] to first[j] + widths[j] - 1, and missing if the first of these is NaN.");
  m.def("draw_features", &draw_features, "keys"_a, "features"_a, "count"_a, "excluded"_a, "offsets"_a,
        "Draw `count` distinct features for each key, none of excluded[offsets[i]:offsets[i + 1]], which must ascend.\n"
        "\n"
        "Where fewer are left, entries past the last one drawn are -1.");
}
