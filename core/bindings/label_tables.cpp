// sum_lines, column_keys.
#include "consensus/label_tables.hpp"
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

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
  m.def("column_keys", &column_keys, "labels"_a);
}
