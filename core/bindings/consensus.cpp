// coassociate, most_matched, multiply, Matches, GroupVotes, and what follows from labels alone: sum_lines, count_cells,
// sum_companions, order_columns, column_keys. They check and convert arguments and release the GIL.
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include "bindings/arrays.hpp"
#include "consensus/group_votes.hpp"
#include "consensus/label_tables.hpp"
#include "consensus/matches.hpp"
#include "runtime/threads.hpp"

using namespace nb::literals;

namespace {

Out<double, 2> coassociate(In<int32_t, 2> a, In<int32_t, 2> b, In<double, 1> table, int threads) {
  require_aligned(a, b, table);
  require(a.shape(0) == b.shape(0), "both sides must come from the same partitions");
  require(table.shape(0) == a.shape(0) + 1, "table must have one entry per possible count");
  require_threads(threads);
  require_labels(b);
  Out<double, 2> out = uninitialised<double, 2>({a.shape(1), b.shape(1)});
  cf::Call call;
  cf::coassociate(a.data(), a.shape(1), b.data(), b.shape(1), static_cast<int>(a.shape(0)), table.data(), out.data(),
                  threads);
  return out;
}

std::tuple<Out<int64_t, 1>, Out<int32_t, 1>> most_matched(In<int32_t, 2> a, In<int32_t, 2> b, int threads) {
  require_aligned(a, b);
  require(a.shape(0) == b.shape(0), "both sides must come from the same partitions");
  require(b.shape(1) > 0, "b must have a row");
  require_threads(threads);
  require_labels(b);
  Out<int64_t, 1> place = uninitialised<int64_t, 1>({a.shape(1)});
  Out<int32_t, 1> matches = uninitialised<int32_t, 1>({a.shape(1)});
  {
    cf::Call call;
    cf::most_matched(a.data(), a.shape(1), b.data(), b.shape(1), static_cast<int>(a.shape(0)), place.data(),
                     matches.data(), threads);
  }
  return {place, matches};
}

Out<double, 2> multiply(In<double, 2> matrix, In<double, 2> vectors, int threads) {
  require_aligned(matrix, vectors);
  require_cells(matrix);
  require(vectors.shape(1) == matrix.shape(1), "each vector must have one entry per column of the matrix");
  require(vectors.shape(0) < (1 << 16), "at most 65535 vectors");
  require_threads(threads);
  Out<double, 2> out = uninitialised<double, 2>({vectors.shape(0), matrix.shape(0)});
  cf::Call call;
  cf::multiply(matrix.data(), matrix.shape(0), matrix.shape(1), vectors.data(), static_cast<int>(vectors.shape(0)),
               out.data(), threads);
  return out;
}

cf::MatchOperator make_operator(In<int32_t, 2> columns, In<double, 1> table) {
  require_aligned(columns, table);
  require_labels(columns);
  const size_t values = columns.shape(0) + 1;
  const bool shares = table.shape(0) == values * values && values <= 256;
  require(shares || table.shape(0) == values, "table must have one entry per possible count");
  cf::Call call;
  return cf::MatchOperator(columns.data(), columns.shape(1), static_cast<int>(columns.shape(0)), table.data(), shares);
}

void store_matches(cf::MatchOperator& self, In<int32_t, 2> rows, int threads) {
  require_aligned(rows);
  require(rows.shape(0) == static_cast<size_t>(self.members), "both sides must come from the same partitions");
  require_threads(threads);
  cf::Call call;
  self.store(rows.data(), rows.shape(1), threads);
}

// With the rows given, or with those that were stored.
Out<double, 2> multiply_matches(const cf::MatchOperator& self, const std::optional<In<int32_t, 2>>& rows,
                                In<double, 2> vectors, int threads) {
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

std::tuple<Out<int64_t, 1>, Out<bool, 1>> order_columns(In<int32_t, 2> labels) {
  require_aligned(labels);
  require_cells(labels);
  require(labels.shape(0) < 65536, "at most 65535 partitions");
  Out<int64_t, 1> order = uninitialised<int64_t, 1>({labels.shape(1)});
  Out<bool, 1> is_new = uninitialised<bool, 1>({labels.shape(1)});
  {
    cf::Call call;
    cf::order_columns(labels.data(), labels.shape(1), static_cast<int>(labels.shape(0)), order.data(), is_new.data());
  }
  return {order, is_new};
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

void bind_consensus(nb::module_& m) {
  m.def("coassociate", &coassociate, "a"_a, "b"_a, "table"_a, "threads"_a,
        "Write out table[number of members in which row i of `a` and row j of `b` share a label].");
  m.def("most_matched", &most_matched, "a"_a, "b"_a, "threads"_a,
        "Find for each row of `a` the row of `b` with which it shares the most labels, and how many.");
  m.def("multiply", &multiply, "matrix"_a, "vectors"_a, "threads"_a,
        "Multiply a matrix with each of the vectors, which are rows, in a fixed order of sums.");
  nb::class_<cf::MatchOperator>(
      m, "Matches", "Products with W[i, j] = table[number of members in which row i and column j share a label].")
      .def(
          "__init__",
          [](cf::MatchOperator* self, In<int32_t, 2> columns, In<double, 1> table) {
            new (self) cf::MatchOperator(make_operator(columns, table));
          },
          "columns"_a, "table"_a)
      .def_ro("columns", &cf::MatchOperator::columns)
      .def_ro("members", &cf::MatchOperator::members)
      .def_prop_ro("stored_bytes", &cf::MatchOperator::stored_bytes)
      .def("store", &store_matches, "rows"_a, "threads"_a, "Keep the match counts of these rows.")
      .def("multiply", &multiply_matches, "rows"_a.none(), "vectors"_a, "threads"_a,
           "Multiply the rows of W, those stored if None, with each of the vectors, which are rows.");
  nb::class_<cf::GroupVotes>(m, "GroupVotes",
                             "The group of nodes to which rows are linked most: sums of weights[j] * table[number of "
                             "shared labels], by group.\n"
                             "\n"
                             "Only for tables of table[c] = a**c - 1 and up to 255 members.")
      .def("__init__", &make_votes, "labels"_a, "groups"_a, "weights"_a, "table"_a)
      .def("place", &place<int8_t>, "labels"_a.noconvert(), "threads"_a,
           "Find the groups of rows by their labels (T, r).\n"
           "\n"
           "-1 where two sums are too close for float32, and where a label is below zero.")
      .def("place", &place<int16_t>, "labels"_a.noconvert(), "threads"_a)
      .def("place", &place<int32_t>, "labels"_a.noconvert(), "threads"_a);
  m.def("sum_lines", &sum_lines, "labels"_a, "first"_a, "lines"_a, "threads"_a,
        "Sum, for each row, the lines of its labels in the members' tables lines[first[m]:first[m + 1]].\n"
        "\n"
        "The last line of a table is for labels below zero, the one before it for labels that have no line of their "
        "own.");
  m.def("count_cells", &count_cells, "labels"_a, "first"_a, "groups"_a, "weights"_a.none(), "cells"_a, "threads"_a,
        "Add each row's weight to the cell of its group in the line that its label picks, in every partition.");
  m.def("sum_companions", &sum_companions, "labels"_a, "first"_a, "cells"_a, "everyone"_a, "copies"_a, "rounding"_a,
        "threads"_a, "Sum for each row the shares of the groups among its companions, and what it counts for itself.");
  m.def("order_columns", &order_columns, "labels"_a,
        "Order the columns by the bytes of their labels, and say which differ from the one before them.");
  m.def("column_keys", &column_keys, "labels"_a, "Hash the labels of each row over all members.");
}
