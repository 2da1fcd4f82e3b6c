// Table, RowKeys, project, take_columns, hash_rows.
#include "rows/table.hpp"
#include <nanobind/stl/optional.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/problems.hpp"
#include "rows/row_hash.hpp"
#include "rows/taken_columns.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

using Weights = std::optional<In<double, 1>>;
using Keys = std::optional<In<uint64_t, 1>>;

void require_finite(In<double, 2> x) {
  require_all(x.data(), x.size(), [](double value) { return std::isfinite(value); }, "X must be finite");
}

const double* read_weights(const Weights& weights, size_t rows) {
  if (!weights) return nullptr;
  require_aligned(*weights);
  require(weights->shape(0) == rows, "weights must have one entry per row");
  return weights->data();
}

cf::Table make_table(In<double, 2> x, const Weights& weights, std::optional<int64_t> keyed, const Keys& keys) {
  require_table(x);
  const int64_t columns = static_cast<int64_t>(x.shape(1)), key = keyed.value_or(columns);
  require(key >= 1 && key <= columns, "keyed must be a number of columns");
  require_aligned(x, keys.value_or(In<uint64_t, 1>()));
  require(!keys || keys->shape(0) == x.shape(0), "keys must have one entry per row");
  const double* w = read_weights(weights, x.shape(0));
  cf::Call call;
  require_finite(x);
  if (w) require_weights(w, x.shape(0));
  return cf::Table(x.data(), x.shape(0), columns, w, {key, keys ? keys->data() : nullptr});
}

void make_keys(cf::RowKeys* self, int64_t rows) {
  require(rows >= 0 && rows < std::numeric_limits<int32_t>::max(), "rows must be a number of rows");
  new (self) cf::RowKeys(rows);
}

void add_to_keys(cf::RowKeys& self, In<double, 2> x, const Weights& weights, int threads) {
  require_table(x);
  require_aligned(x);
  require_threads(threads);
  require(static_cast<int64_t>(x.shape(0)) == self.rows(), "the columns must have the rows of the keys");
  const double* w = read_weights(weights, x.shape(0));
  cf::Call call;
  require_finite(x);
  if (w) require_weights(w, x.shape(0));
  self.add(x.data(), static_cast<int64_t>(x.shape(1)), w, threads);
}

template <class Number>
using Strided = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;

template <class Number>
Out<double, 2> take_columns(Strided<Number> x, In<int64_t, 1> rows, In<int32_t, 1> columns, In<int32_t, 1> exponent,
                            In<double, 1> shift, In<double, 1> divisor, In<double, 1> center, int threads) {
  require_aligned(x, rows, columns, exponent, shift, divisor, center);
  require_threads(threads);
  const size_t n = x.shape(0), p = x.shape(1);
  require(exponent.shape(0) == p && shift.shape(0) == p && divisor.shape(0) == p && center.shape(0) == p,
          "there must be a step for each column");
  for (size_t j = 0; j < p; ++j) require(exponent(j) > -2000 && exponent(j) < 2000, "an exponent is out of range");
  const auto within = [](const auto& chosen, size_t count) {
    return std::all_of(chosen.data(), chosen.data() + chosen.size(),
                       [&](int64_t i) { return i >= 0 && static_cast<size_t>(i) < count; });
  };
  require(within(rows, n), "a row index is out of range");
  require(within(columns, p), "a column index is out of range");
  Out<double, 2> out = uninitialised<double, 2>({columns.shape(0), rows.shape(0)});
  cf::Call call;
  cf::take_columns<Number>({x.data(), x.stride(0), x.stride(1)},
                           {exponent.data(), shift.data(), divisor.data(), center.data()},
                           {rows.data(), static_cast<int64_t>(rows.shape(0)), columns.data(),
                            static_cast<int64_t>(columns.shape(0))},
                           out.data(), threads);
  return out;
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

}  // namespace

void bind_table(nb::module_& m) {
  nb::class_<cf::Table>(m, "Table")
      .def(
          "__init__",
          [](cf::Table* self, In<double, 2> x, const Weights& weights, std::optional<int64_t> keyed,
             const Keys& keys) { new (self) cf::Table(make_table(x, weights, keyed, keys)); },
          "x"_a, "weights"_a = nb::none(), "keyed"_a = nb::none(), "keys"_a = nb::none())
      .def_ro("rows", &cf::Table::rows)
      .def_ro("distinct", &cf::Table::distinct)
      .def_ro("columns", &cf::Table::columns)
      .def_ro("weight_exponent", &cf::Table::weight_exponent)
      .def_prop_ro(
          "exponent", [](const cf::Table& self) { return copy_of<int32_t>(self.exponent); }, nb::rv_policy::move)
      .def_prop_ro(
          "origin", [](const cf::Table& self) { return copy_of<double>(self.origin); }, nb::rv_policy::move)
      .def_prop_ro("reach", [](const cf::Table& self) { return copy_of<int32_t>(self.reach); }, nb::rv_policy::move);
  m.def("project", &project, "x"_a, "exponent"_a, "origin"_a, "reach"_a);
  nb::class_<cf::RowKeys>(m, "RowKeys")
      .def("__init__", &make_keys, "rows"_a)
      .def("add", &add_to_keys, "x"_a, "weights"_a.none(), "threads"_a)
      .def("finished", [](const cf::RowKeys& self) { return copy_of<uint64_t>(self.finished()); });
  m.def("take_columns", &take_columns<float>, "x"_a.noconvert(), "rows"_a, "columns"_a, "exponent"_a, "shift"_a,
        "divisor"_a, "center"_a, "threads"_a);
  m.def("take_columns", &take_columns<double>, "x"_a.noconvert(), "rows"_a, "columns"_a, "exponent"_a, "shift"_a,
        "divisor"_a, "center"_a, "threads"_a);
  m.def("hash_rows", &hash_rows, "x"_a, "threads"_a, "before"_a = nb::none());
  m.attr("CONSTANT_REACH") = cf::Coordinates::kConstant;
}
