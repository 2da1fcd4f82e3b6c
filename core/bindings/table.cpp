// Table, project, hash_rows, scan_rows, is_finite.
#include "rows/table.hpp"
#include <nanobind/stl/optional.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/problems.hpp"
#include "rows/row_hash.hpp"
#include "runtime/interrupt.hpp"

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

nb::tuple scan_rows(In<double, 2> x, int threads) {
  require_cells(x);
  require_aligned(x);
  require_threads(threads);
  Out<uint64_t, 1> keys = uninitialised<uint64_t, 1>({x.shape(0)});
  const cf::ColumnEnds ends = [&] {
    cf::Call call;
    std::fill_n(keys.data(), x.shape(0), uint64_t{0});
    return cf::scan_rows(x.data(), x.shape(0), x.shape(1), keys.data(), threads);
  }();
  return nb::make_tuple(keys, copy_of<double>(ends.low), copy_of<double>(ends.high));
}

bool is_finite(In<double, 2> x) {
  require_aligned(x);
  cf::Call call;
  return all_finite(x.data(), x.size());
}

}  // namespace

void bind_table(nb::module_& m) {
  nb::class_<cf::Table>(m, "Table")
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
  m.def("project", &project, "x"_a, "exponent"_a, "origin"_a, "reach"_a);
  m.def("hash_rows", &hash_rows, "x"_a, "threads"_a, "before"_a = nb::none());
  m.def("scan_rows", &scan_rows, "x"_a, "threads"_a);
  m.def("is_finite", &is_finite, "x"_a);
  m.attr("CONSTANT_REACH") = cf::Coordinates::kConstant;
}
