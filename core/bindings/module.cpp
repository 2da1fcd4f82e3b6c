// What Python sees. Sizes and indices are checked here; nothing below this file is reached with bad ones.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include "bindings/arrays.hpp"
#include "bindings/problems.hpp"
#include "consensus/coassociation.hpp"
#include "consensus/label_tables.hpp"
#include "consensus/match_operator.hpp"
#include "kmeans/solver.hpp"
#include "kmeans/streaming.hpp"
#include "rows/impute.hpp"
#include "rows/scaling.hpp"
#include "rows/table.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/random.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

using namespace nb::literals;

namespace {

cf::Table make_table(In<double, 2> x, const std::optional<In<double, 1>>& weights) {
  require_table(x);
  require_aligned(x, weights.value_or(In<double, 1>()));
  require(!weights || weights->shape(0) == x.shape(0), "weights must have one entry per row");
  const double* w = weights ? weights->data() : nullptr;
  cf::Call call;
  require_all(x.data(), x.size(), [](double value) { return std::isfinite(value); }, "X must be finite");
  if (w) require_all(w, x.shape(0), is_weight, "weights must be finite and not negative");
  return cf::Table(x.data(), x.shape(0), x.shape(1), w);
}

// Rows in the coordinates that a table had.
cf::Table project(In<double, 2> x, In<int32_t, 1> exponent, In<double, 1> origin, In<int32_t, 1> reach) {
  const size_t columns = x.shape(1);
  require_table(x);
  require_aligned(x, exponent, origin, reach);
  require_coordinates(exponent, origin, reach, columns);
  cf::Call call;
  return cf::Table::project(x.data(), x.shape(0), {exponent.data(), exponent.data() + columns},
                            {origin.data(), origin.data() + columns}, {reach.data(), reach.data() + columns});
}

cf::Scaling make_scaling(In<int32_t, 2> exponent, In<double, 2> shift, In<double, 2> divisor, In<uint8_t, 2> ranked,
                         In<int64_t, 1> starts, In<double, 1> knots, In<double, 1> ranks) {
  const size_t views = exponent.shape(0), columns = exponent.shape(1);
  require_aligned(exponent, shift, divisor, ranked, starts, knots, ranks);
  const auto fits = [&](const auto& a) { return a.shape(0) == views && a.shape(1) == columns; };
  require(fits(shift) && fits(divisor) && fits(ranked), "all steps must have the same shape");
  require(starts.shape(0) == columns + 1 && starts(0) == 0, "starts must be one longer than columns, from 0");
  require(knots.shape(0) == ranks.shape(0) && starts(columns) == static_cast<int64_t>(knots.shape(0)),
          "starts must end at the number of knots, which have a rank each");
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
  for (size_t i = 0; i < views * columns; ++i)
    require(exponent.data()[i] > -2000 && exponent.data()[i] < 2000, "an exponent is out of range");
  return cf::Scaling({static_cast<int64_t>(views), static_cast<int64_t>(columns), exponent.data(), shift.data(),
                      divisor.data(), ranked.data(), starts.data(), knots.data(), ranks.data()});
}

Out<double, 2> scale(const cf::Scaling& scaling, In<double, 2> x, int threads) {
  require(static_cast<int64_t>(x.shape(1)) == scaling.columns, "the rows must have the scaling's columns");
  require_threads(threads);
  require_table(x);
  require_aligned(x);
  constexpr int64_t kRows = 1024;  // for a thread at a time
  const int64_t rows = x.shape(0), width = scaling.width();
  Out<double, 2> out = uninitialised<double, 2>({x.shape(0), static_cast<size_t>(width)});
  double* to = out.data();
  cf::Call call;
  cf::parallel_for((rows + kRows - 1) / kRows, threads, [&](int64_t i, int) {
    const int64_t start = i * kRows;
    scaling.apply(x.data() + start * scaling.columns, std::min(kRows, rows - start), to + start * width, width, 1);
  });
  return out;
}

nb::dict kmeans(const cf::Table& table, In<int32_t, 1> columns, In<int64_t, 1> offsets, In<int32_t, 1> clusters,
                In<uint64_t, 1> seeds, int restarts, int max_iter, int effort, int threads) {
  require(!table.projected, "projected rows can be assigned, not clustered");
  std::vector<cf::Problem> problems = read_problems(table.columns, columns, offsets, clusters);
  const size_t count = problems.size();
  require_aligned(seeds);
  require(seeds.shape(0) == count, "one seed per problem");
  require(restarts >= 1 && restarts <= (1 << 20), "restarts must be from 1 to 2^20");
  require(max_iter >= 1, "max_iter must be at least 1");
  require_threads(threads);
  require(effort >= 0 && effort <= 2, "effort must be 0, 1 or 2");
  for (size_t i = 0; i < count; ++i) problems[i].seed = seeds(i);
  std::vector<double> within(count), between(count), within_pairs(count), between_pairs(count), centers;
  std::vector<int32_t> exponent(count), iterations(count);
  std::vector<uint8_t> solved(count);
  {
    cf::Call call;
    const cf::Search search = {restarts, max_iter, static_cast<cf::Effort>(effort)};
    const std::vector<cf::Solution> solutions = cf::solve(table, problems, search, threads);
    for (size_t i = 0; i < count; ++i) {
      const cf::Solution& solution = solutions[i];
      solved[i] = solution.outcome == cf::Outcome::solved;
      within[i] = solution.within;
      between[i] = solution.between;
      within_pairs[i] = solution.within_pairs;
      between_pairs[i] = solution.between_pairs;
      exponent[i] = solution.exponent;
      iterations[i] = solution.iterations;
      centers.insert(centers.end(), solution.centers.begin(), solution.centers.end());  // none if not solved
    }
  }
  nb::dict out;
  const size_t total = centers.size();
  out["solved"] = owned<uint8_t, 1>(std::move(solved), {count});
  out["within"] = owned<double, 1>(std::move(within), {count});
  out["between"] = owned<double, 1>(std::move(between), {count});
  out["within_pairs"] = owned<double, 1>(std::move(within_pairs), {count});
  out["between_pairs"] = owned<double, 1>(std::move(between_pairs), {count});
  out["exponent"] = owned<int32_t, 1>(std::move(exponent), {count});
  out["iterations"] = owned<int32_t, 1>(std::move(iterations), {count});
  out["centers"] = owned<double, 1>(std::move(centers), {total});
  return out;
}

Out<int32_t, 2> assign(const cf::Table& table, In<int32_t, 1> columns, In<int64_t, 1> offsets, In<int32_t, 1> clusters,
                       In<double, 1> centers, int threads) {
  const std::vector<cf::Problem> problems = read_problems(table.columns, columns, offsets, clusters);
  require_threads(threads);
  const std::vector<const double*> each = read_centers(problems, centers);
  Out<int32_t, 2> labels = uninitialised<int32_t, 2>({problems.size(), static_cast<size_t>(table.rows)});
  cf::Call call;
  cf::assign(table, problems, each, labels.data(), threads);
  return labels;
}

// Clusterings by their centres, for rows that come in blocks.
struct Passes {
  Passes(const cf::Scaling* scaling, In<int32_t, 1> exponent, In<double, 1> origin, In<int32_t, 1> reach,
         In<int32_t, 1> columns, In<int64_t, 1> offsets, In<int32_t, 1> clusters, In<double, 1> centers) {
    const size_t width = exponent.shape(0);
    require_aligned(exponent, origin, reach);
    require_coordinates(exponent, origin, reach, width);
    require(!scaling || static_cast<size_t>(scaling->width()) == width, "coordinates must be of the scaled columns");
    if (scaling) kept.push_back(*scaling);
    space = {scaling ? &kept[0] : nullptr,
             {exponent.data(), exponent.data() + width},
             {origin.data(), origin.data() + width},
             {reach.data(), reach.data() + width}};
    listed.assign(columns.data(), columns.data() + columns.shape(0));
    numbers.assign(centers.data(), centers.data() + centers.shape(0));
    problems = read_problems(static_cast<int64_t>(width), columns, offsets, clusters);
    each = read_centers(problems, centers);
    for (size_t i = 0; i < problems.size(); ++i) {
      problems[i].columns = listed.data() + (problems[i].columns - columns.data());
      each[i] = numbers.data() + (each[i] - centers.data());
      total += problems[i].k;
    }
  }

  cf::Block block(In<double, 2> x, const double* weights, int threads) const {
    const size_t columns = space.scaling ? static_cast<size_t>(space.scaling->columns) : space.exponent.size();
    require(x.shape(1) == columns, "the rows must have the columns of the fitted table");
    require_table(x);
    require_aligned(x);
    require_threads(threads);
    return {x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(columns), weights};
  }

  void add(In<double, 2> x, const std::optional<In<double, 1>>& weights, In<int32_t, 1> bits, int mass_bits,
           InOut<int64_t, 1> sums, InOut<int64_t, 1> mass, int threads) const {
    require(!weights || weights->shape(0) == x.shape(0), "weights must have one entry per row");
    const cf::Block rows = block(x, weights ? weights->data() : nullptr, threads);
    require_aligned(weights.value_or(In<double, 1>()), bits, sums, mass);
    require(bits.shape(0) == space.exponent.size(), "bits must have one entry per scaled column");
    require(mass_bits >= 0 && mass_bits <= 62, "mass_bits must be from 0 to 62");
    require(sums.shape(0) == numbers.size() && mass.shape(0) == total, "sums must be of the clusters");
    cf::Call call;
    if (rows.weights) require_all(rows.weights, x.shape(0), is_weight, "weights must be finite and not negative");
    cf::add_block(space, {problems, each}, rows, {bits.data(), mass_bits, sums.data(), mass.data()}, threads);
  }

  template <class Label>
  void label(In<double, 2> x, InOut<Label, 2> labels, int64_t start, int threads) const {
    const cf::Block rows = block(x, nullptr, threads);
    const int64_t step = static_cast<int64_t>(labels.shape(1));
    require_aligned(labels);
    require(labels.shape(0) == problems.size(), "labels must have one row per clustering");
    require(start >= 0 && start <= step && rows.rows <= step - start, "the block must be within labels");
    for (const cf::Problem& problem : problems)
      require(problem.k - 1 <= std::numeric_limits<Label>::max(), "labels do not fit into their type");
    cf::Call call;
    cf::label_block(space, {problems, each}, rows, labels.data() + start, step, threads);
  }

  std::vector<cf::Scaling> kept;
  cf::Space space;
  std::vector<int32_t> listed;
  std::vector<double> numbers;
  std::vector<cf::Problem> problems;
  std::vector<const double*> each;
  size_t total = 0;
};

Out<uint64_t, 1> hash_rows(In<double, 2> x, int threads) {
  require_cells(x);
  require_aligned(x);
  require_threads(threads);
  Out<uint64_t, 1> keys = uninitialised<uint64_t, 1>({x.shape(0)});
  cf::Call call;
  cf::hash_rows({x.data(), static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)), nullptr}, keys.data(),
                threads);
  return keys;
}

// For each key, `count` distinct features out of `features`, none of them among the key's excluded ones (sorted,
// excluded[offsets[i]:offsets[i + 1]]); all that are left if fewer. Entries past the last one drawn are -1.
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
    for (int j = 0; j < count; ++j) {
      cf::check_interrupt();
      const int64_t left = features - static_cast<int64_t>(taken.size());
      int32_t pick = -1;
      if (left > 0) {
        pick = static_cast<int32_t>(cf::below(cf::hash(keys(i), j), left));
        auto at = taken.begin();
        for (; at != taken.end() && *at <= pick; ++at) ++pick;
        taken.insert(at, pick);
      }
      out.data()[i * count + j] = pick;
    }
  }
  return out;
}

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

cf::Matches make_matches(In<int32_t, 2> columns, In<double, 1> table) {
  require_aligned(columns, table);
  require_labels(columns);
  const size_t values = columns.shape(0) + 1;
  const bool shares = table.shape(0) == values * values && values <= 256;
  require(shares || table.shape(0) == values, "table must have one entry per possible count");
  cf::Call call;
  return cf::Matches(columns.data(), columns.shape(1), static_cast<int>(columns.shape(0)), table.data(), shares);
}

void store_matches(cf::Matches& self, In<int32_t, 2> rows, int threads) {
  require_aligned(rows);
  require(rows.shape(0) == static_cast<size_t>(self.members), "both sides must come from the same partitions");
  require_threads(threads);
  cf::Call call;
  self.store(rows.data(), rows.shape(1), threads);
}

// With the rows given, or with those that were stored.
Out<double, 2> multiply_matches(const cf::Matches& self, const std::optional<In<int32_t, 2>>& rows,
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

// A copy of `values` (n, C) with its missing cells filled from the donors (m, C). Features are p ranges of columns.
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
  cf::fill(donors, {neighbours, nearest, means.data()}, places.data(), out.data(), n, threads);
  return out;
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const cf::Interrupted&) {
      // What the signal's handler raised is set already.
    }
  });
  m.doc() = "The hot loops of clusterforests: K-means problems over one table, match counts, products with W.";
  nb::class_<cf::Table>(m, "Table")
      .def(
          "__init__",
          [](cf::Table* self, In<double, 2> x, const std::optional<In<double, 1>>& weights) {
            new (self) cf::Table(make_table(x, weights));
          },
          "x"_a, "weights"_a = nb::none())
      .def(
          "project",
          [](const cf::Table& self, In<double, 2> x) {
            require(static_cast<int64_t>(x.shape(1)) == self.columns, "the new rows must have the table's columns");
            require_table(x);
            require_aligned(x);
            cf::Call call;
            return self.project(x.data(), x.shape(0));
          },
          "x"_a)
      .def_ro("rows", &cf::Table::rows)
      .def_ro("distinct", &cf::Table::distinct)
      .def_ro("columns", &cf::Table::columns)
      .def_ro("weight_exponent", &cf::Table::weight_exponent)
      .def_prop_ro(
          "exponent",
          [](const cf::Table& self) {
            return owned<int32_t, 1>(std::vector<int32_t>(self.exponent.begin(), self.exponent.end()),
                                     {self.exponent.size()});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "reach",
          [](const cf::Table& self) {
            return owned<int32_t, 1>(std::vector<int32_t>(self.reach.begin(), self.reach.end()), {self.reach.size()});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "origin",
          [](const cf::Table& self) {
            return owned<double, 1>(std::vector<double>(self.origin), {self.origin.size()});
          },
          nb::rv_policy::move);
  nb::class_<cf::Scaling>(m, "Scaling")
      .def(
          "__init__",
          [](cf::Scaling* self, In<int32_t, 2> exponent, In<double, 2> shift, In<double, 2> divisor,
             In<uint8_t, 2> ranked, In<int64_t, 1> starts, In<double, 1> knots, In<double, 1> ranks) {
            new (self) cf::Scaling(make_scaling(exponent, shift, divisor, ranked, starts, knots, ranks));
          },
          "exponent"_a, "shift"_a, "divisor"_a, "ranked"_a, "starts"_a, "knots"_a, "ranks"_a)
      .def("apply", &scale, "x"_a, "threads"_a = 1);
  nb::class_<Passes>(m, "Passes")
      .def(nb::init<const cf::Scaling*, In<int32_t, 1>, In<double, 1>, In<int32_t, 1>, In<int32_t, 1>, In<int64_t, 1>,
                    In<int32_t, 1>, In<double, 1>>(),
           "scaling"_a.none(), "exponent"_a, "origin"_a, "reach"_a, "columns"_a, "offsets"_a, "clusters"_a, "centers"_a)
      .def("add", &Passes::add, "x"_a, "weights"_a.none(), "bits"_a, "mass_bits"_a, "sums"_a.noconvert(),
           "mass"_a.noconvert(), "threads"_a)
      .def("label", &Passes::label<int8_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a)
      .def("label", &Passes::label<int16_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a)
      .def("label", &Passes::label<int32_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a);
  m.def("hash_rows", &hash_rows, "x"_a, "threads"_a);
  m.def("project", &project, "x"_a, "exponent"_a, "origin"_a, "reach"_a);
  nb::class_<cf::Matches>(m, "Matches")
      .def(
          "__init__",
          [](cf::Matches* self, In<int32_t, 2> columns, In<double, 1> table) {
            new (self) cf::Matches(make_matches(columns, table));
          },
          "columns"_a, "table"_a)
      .def_ro("columns", &cf::Matches::columns)
      .def_ro("members", &cf::Matches::members)
      .def_prop_ro("stored_bytes", &cf::Matches::stored_bytes)
      .def("store", &store_matches, "rows"_a, "threads"_a)
      .def("multiply", &multiply_matches, "rows"_a.none(), "vectors"_a, "threads"_a);
  m.def("kmeans", &kmeans, "table"_a, "columns"_a, "offsets"_a, "clusters"_a, "seeds"_a, "restarts"_a, "max_iter"_a,
        "effort"_a, "threads"_a);
  m.def("assign", &assign, "table"_a, "columns"_a, "offsets"_a, "clusters"_a, "centers"_a, "threads"_a);
  m.def("draw_features", &draw_features, "keys"_a, "features"_a, "count"_a, "excluded"_a, "offsets"_a);
  m.def("coassociate", &coassociate, "a"_a, "b"_a, "table"_a, "threads"_a);
  m.def("sum_lines", &sum_lines, "labels"_a, "first"_a, "lines"_a, "threads"_a);
  m.def("column_keys", &column_keys, "labels"_a);
  m.def("multiply", &multiply, "matrix"_a, "vectors"_a, "threads"_a);
  m.def("fill", &fill, "values"_a, "places"_a, "donor_values"_a, "donor_places"_a, "weights"_a, "first"_a, "widths"_a,
        "means"_a, "neighbours"_a, "nearest"_a, "threads"_a);
  m.def("instruction_set", [] { return std::string(cf::kernels().name); });
  m.def("instruction_sets", &cf::instruction_sets);
  m.def("use_instruction_set", &cf::use_instruction_set, "name"_a);
}
