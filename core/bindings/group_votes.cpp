// GroupVotes.
#include "consensus/group_votes.hpp"
#include <algorithm>
#include <cmath>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

// Whether float32 can hold the table, and its values are those of a power less 1.
bool is_power(In<double, 1> table) {
  const size_t last = table.shape(0) - 1;
  if (table(0) != 0 || !(table(last) <= 0x1p90)) return false;
  for (size_t c = 0; c < last; ++c) {
    const double next = (table(c) + 1) * (table(1) + 1) - 1;
    if (!(table(c + 1) > table(c)) || !(std::abs(table(c + 1) - next) <= 1e-9 * (next + 1))) return false;
  }
  return true;
}

void make_votes(cf::GroupVotes* self, In<int32_t, 2> labels, In<int32_t, 1> groups, In<double, 1> weights,
                In<double, 1> table) {
  const size_t members = labels.shape(0), count = labels.shape(1);
  require_aligned(labels, groups, weights, table);
  require_labels(labels);
  require(count > 0 && count < (1 << 24) && groups.shape(0) == count && weights.shape(0) == count,
          "there must be nodes, with a group and a weight each");
  require(members < 256 && table.shape(0) == members + 1, "table must have one entry per possible count, at most 256");
  require(is_power(table), "table must be a power of a number above 1, less 1");
  require_weights(weights.data(), count);
  const int32_t* end = groups.data() + count;
  require(*std::min_element(groups.data(), end) >= 0 && *std::max_element(groups.data(), end) < (1 << 16),
          "groups must be numbered from 0 to 65535");
  const int number = *std::max_element(groups.data(), end) + 1;
  cf::Call call;
  new (self) cf::GroupVotes(
      {labels.data(), groups.data(), weights.data(), static_cast<int64_t>(count), static_cast<int>(members), number},
      table.data());
}

template <class Label>
Out<int32_t, 1> place(const cf::GroupVotes& self, In<Label, 2> labels, int threads) {
  require_aligned(labels);
  require_cells(labels);
  require(labels.shape(0) == static_cast<size_t>(self.members), "both sides must come from the same partitions");
  require_threads(threads);
  Out<int32_t, 1> out = uninitialised<int32_t, 1>({labels.shape(1)});
  cf::Call call;
  self.place(labels.data(), labels.shape(1), out.data(), threads);
  return out;
}

}  // namespace

void bind_group_votes(nb::module_& m) {
  nb::class_<cf::GroupVotes>(m, "GroupVotes")
      .def("__init__", &make_votes, "labels"_a, "groups"_a, "weights"_a, "table"_a)
      .def("place", &place<int8_t>, "labels"_a.noconvert(), "threads"_a)
      .def("place", &place<int16_t>, "labels"_a.noconvert(), "threads"_a)
      .def("place", &place<int32_t>, "labels"_a.noconvert(), "threads"_a);
}
