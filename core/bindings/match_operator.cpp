// MatchOperator, as Matches.
#include "consensus/match_operator.hpp"
#include <nanobind/stl/optional.h>
#include <optional>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

cf::MatchOperator make_operator(In<int32_t, 2> columns, In<double, 1> table) {
  require_aligned(columns, table);
  require_labels(columns);
  const size_t values = columns.shape(0) + 1;
  const bool shares = table.shape(0) == values * values && values <= 256;
  require(shares || table.shape(0) == values, "table must have one entry per possible count");
  cf::Call call;
  return cf::MatchOperator(columns.data(), columns.shape(1), static_cast<int>(columns.shape(0)), table.data(), shares);
}

void store(cf::MatchOperator& self, In<int32_t, 2> rows, int threads) {
  require_aligned(rows);
  require(rows.shape(0) == static_cast<size_t>(self.members), "both sides must come from the same partitions");
  require_threads(threads);
  cf::Call call;
  self.store(rows.data(), rows.shape(1), threads);
}

// With the rows given, or with those that were stored.
Out<double, 2> multiply(const cf::MatchOperator& self, const std::optional<In<int32_t, 2>>& rows, In<double, 2> vectors,
                        int threads) {
  require_aligned(rows.value_or(In<int32_t, 2>()), vectors);
  require(static_cast<int64_t>(vectors.shape(1)) == self.columns, "each vector must have one entry per column");
  require(vectors.shape(0) < (1 << 16), "at most 65535 vectors");
  require_threads(threads);
  require(!rows || rows->shape(0) == static_cast<size_t>(self.members),
          "both sides must come from the same partitions");
  const size_t n = rows ? rows->shape(1) : self.stored_rows;
  Out<double, 2> out = uninitialised<double, 2>({vectors.shape(0), n});
  const int count = static_cast<int>(vectors.shape(0));
  cf::Call call;
  if (rows)
    self.multiply(rows->data(), n, vectors.data(), count, out.data(), threads);
  else
    self.multiply_stored(vectors.data(), count, out.data(), threads);
  return out;
}

}  // namespace

void bind_match_operator(nb::module_& m) {
  nb::class_<cf::MatchOperator>(m, "Matches")
      .def(
          "__init__",
          [](cf::MatchOperator* self, In<int32_t, 2> columns, In<double, 1> table) {
            new (self) cf::MatchOperator(make_operator(columns, table));
          },
          "columns"_a, "table"_a)
      .def_ro("columns", &cf::MatchOperator::columns)
      .def_ro("members", &cf::MatchOperator::members)
      .def_prop_ro("stored_bytes", &cf::MatchOperator::stored_bytes)
      .def("store", &store, "rows"_a, "threads"_a)
      .def("multiply", &multiply, "rows"_a.none(), "vectors"_a, "threads"_a);
}
