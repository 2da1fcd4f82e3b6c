// RowKeys, take_columns, fit_steps, rank_columns, share_variance.
#include "rows/wide_columns.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "rows/row_keys.hpp"
#include "rows/taken_columns.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

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

}  // namespace

void bind_wide_columns(nb::module_& m) {
  nb::class_<cf::RowKeys>(m, "RowKeys")
      .def("__init__", &make_keys, "rows"_a)
      .def("add", &add_to_keys, "x"_a, "rows"_a, "weights"_a.none(), "threads"_a)
      .def("finished", [](const cf::RowKeys& self) { return copy_of<uint64_t>(self.finished()); });
  m.def("take_columns", &take_columns<float>, "x"_a.noconvert(), "rows"_a, "columns"_a, "exponent"_a, "shift"_a,
        "divisor"_a, "center"_a, "threads"_a);
  m.def("take_columns", &take_columns<double>, "x"_a.noconvert(), "rows"_a, "columns"_a, "exponent"_a, "shift"_a,
        "divisor"_a, "center"_a, "threads"_a);
  m.def("fit_steps", &fit_steps, "ordered"_a, "range"_a, "threads"_a);
  m.def("rank_columns", &rank_columns, "x"_a, "order"_a, "threads"_a);
  m.def("share_variance", &share_variance, "x"_a, "labels"_a, "first"_a, "sizes"_a, "threads"_a);
}
