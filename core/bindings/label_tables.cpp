// sum_lines, count_cells, sum_companions, order_columns, column_keys.
#include "consensus/label_tables.hpp"
#include <nanobind/stl/optional.h>
#include <optional>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

// Every label must have a line of its own; the last line of a member is for labels below zero.
void require_lines(const In<int32_t, 2>& labels, const In<int64_t, 1>& first, size_t lines) {
  const size_t members = labels.shape(0);
  require(first.shape(0) == members + 1, "first must be one longer than there are partitions");
  require(first(0) == 0 && first(members) == static_cast<int64_t>(lines), "first must span the lines");
  for (size_t m = 0; m < members; ++m) {
    require(first(m) < first(m + 1) && first(m + 1) <= first(members), "a partition needs a line");
    const int32_t* label = labels.data() + m * labels.shape(1);
    const int64_t known = first(m + 1) - first(m) - 1;
    for (size_t i = 0; i < labels.shape(1); ++i) require(label[i] < known, "a label has no line");
  }
}

void count_cells(In<int32_t, 2> labels, In<int64_t, 1> first, In<int32_t, 1> groups,
                 const std::optional<In<double, 1>>& weights, InOut<double, 2> cells, int threads) {
  require_aligned(labels, first, groups, cells);
  if (weights) require_aligned(*weights);
  require_cells(labels);
  require(cells.shape(1) < (1 << 24), "a line has 2^24 numbers or more");
  require_lines(labels, first, cells.shape(0));
  require(groups.shape(0) == labels.shape(1), "every row needs a group");
  require(!weights || weights->shape(0) == labels.shape(1), "every row needs a weight");
  const int width = static_cast<int>(cells.shape(1));
  for (size_t i = 0; i < groups.shape(0); ++i) require(groups(i) >= 0 && groups(i) < width, "no such group");
  require_threads(threads);
  cf::Call call;
  cf::count_cells(labels.data(), labels.shape(1), static_cast<int>(labels.shape(0)), first.data(), groups.data(),
                  weights ? weights->data() : nullptr, width, cells.data(), threads);
}

Out<double, 2> sum_companions(In<int32_t, 2> labels, In<int64_t, 1> first, In<double, 2> cells, In<double, 1> everyone,
                              In<double, 1> copies, double rounding, int threads) {
  require_aligned(labels, first, cells, everyone, copies);
  require_cells(labels);
  require(cells.shape(1) < (1 << 24), "a line has 2^24 numbers or more");
  require_lines(labels, first, cells.shape(0));
  require(everyone.shape(0) == cells.shape(0), "every line needs a sum");
  require(copies.shape(0) == labels.shape(1), "every row needs its copies");
  require_threads(threads);
  Out<double, 2> out = uninitialised<double, 2>({labels.shape(1), cells.shape(1) + 1});
  cf::Call call;
  cf::sum_companions(labels.data(), labels.shape(1), static_cast<int>(labels.shape(0)), first.data(), cells.data(),
                     everyone.data(), static_cast<int>(cells.shape(1)), copies.data(), rounding, out.data(), threads);
  return out;
}

Out<double, 2> sum_lines(In<int32_t, 2> labels, In<int64_t, 1> first, In<double, 2> lines, int threads) {
  const size_t members = labels.shape(0);
  require_aligned(labels, first, lines);
  require_cells(labels);
  require(first.shape(0) == members + 1, "first must be one longer than there are partitions");
  require(lines.shape(1) < (1 << 24), "a line has 2^24 numbers or more");
  require(first(0) == 0 && first(members) == static_cast<int64_t>(lines.shape(0)), "first must span the lines");
  for (size_t m = 0; m < members; ++m)
    require(first(m) <= first(members) && first(m) + 2 <= first(m + 1), "a table needs at least two lines");
  require_threads(threads);
  Out<double, 2> out = uninitialised<double, 2>({labels.shape(1), lines.shape(1)});
  cf::Call call;
  cf::sum_lines(labels.data(), labels.shape(1), static_cast<int>(members), first.data(), lines.data(),
                static_cast<int>(lines.shape(1)), out.data(), threads);
  return out;
}

nb::tuple order_columns(In<int32_t, 2> labels) {
  require_aligned(labels);
  require_cells(labels);
  require(labels.shape(0) < 65536, "at most 65535 partitions");
  Out<int64_t, 1> order = uninitialised<int64_t, 1>({labels.shape(1)});
  Out<bool, 1> is_new = uninitialised<bool, 1>({labels.shape(1)});
  {
    cf::Call call;
    cf::order_columns(labels.data(), labels.shape(1), static_cast<int>(labels.shape(0)), order.data(), is_new.data());
  }
  return nb::make_tuple(order, is_new);
}

Out<uint64_t, 1> column_keys(In<int32_t, 2> labels) {
  require_aligned(labels);
  require_cells(labels);
  require(labels.shape(0) < 65536, "at most 65535 partitions");
  Out<uint64_t, 1> out = uninitialised<uint64_t, 1>({labels.shape(1)});
  cf::Call call;
  cf::column_keys(labels.data(), labels.shape(1), static_cast<int>(labels.shape(0)), out.data());
  return out;
}

}  // namespace

void bind_label_tables(nb::module_& m) {
  m.def("sum_lines", &sum_lines, "labels"_a, "first"_a, "lines"_a, "threads"_a);
  m.def("count_cells", &count_cells, "labels"_a, "first"_a, "groups"_a, "weights"_a.none(), "cells"_a, "threads"_a);
  m.def("sum_companions", &sum_companions, "labels"_a, "first"_a, "cells"_a, "everyone"_a, "copies"_a, "rounding"_a,
        "threads"_a);
  m.def("order_columns", &order_columns, "labels"_a);
  m.def("column_keys", &column_keys, "labels"_a);
}
