// kmeans, fit_kmeans, assign, Passes, and the error bounds of the search for the nearest centre. They check and convert
// arguments and release the GIL.
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>
#include "bindings/arrays.hpp"
#include "kmeans/kmeans.hpp"
#include "kmeans/nearest_center.hpp"
#include "runtime/threads.hpp"

using namespace nb::literals;

namespace {

// An entry of each array for each problem; the centres of those solved, one after the other.
struct KMeansResult {
  KMeansResult(const std::vector<cf::Problem>& problems, const std::vector<cf::Solution>& solutions) {
    for (size_t i = 0; i < solutions.size(); ++i) {
      const cf::Solution& solution = solutions[i];
      shapes.push_back(
          {static_cast<size_t>(solution.solved ? problems[i].k : 0), static_cast<size_t>(problems[i].width)});
      solved.push_back(solution.solved);
      within.push_back(solution.within);
      between.push_back(solution.between);
      within_pairs.push_back(solution.within_pairs);
      between_pairs.push_back(solution.between_pairs);
      exponent.push_back(solution.exponent);
      iterations.push_back(solution.iterations);
      centers.insert(centers.end(), solution.centers.begin(), solution.centers.end());
    }
  }

  struct Shape {
    size_t clusters, columns;
  };
  std::vector<Shape> shapes;  // of the centres
  std::vector<uint8_t> solved;
  std::vector<double> within, between, within_pairs, between_pairs, centers;
  std::vector<int32_t> exponent, iterations;
};

// Bind a vector of the result as an array that keeps the result alive.
template <class T, class Number>
void bind_array(nb::class_<KMeansResult>& bound, const char* name, std::vector<Number> KMeansResult::* numbers) {
  static_assert(sizeof(T) == sizeof(Number));
  bound.def_prop_ro(
      name, [numbers](KMeansResult& self) { return Out<T, 1>((self.*numbers).data(), {(self.*numbers).size()}); },
      nb::rv_policy::reference_internal);
}

// The centres of each problem, as arrays that keep the result alive; none where a problem is not solved.
nb::typed<nb::list, Out<double, 2>> centers_of(nb::handle result) {
  KMeansResult& self = nb::cast<KMeansResult&>(result);
  nb::typed<nb::list, Out<double, 2>> each;
  double* next = self.centers.data();
  for (const auto& [clusters, columns] : self.shapes) {
    each.append(Out<double, 2>(next, {clusters, columns}, result));
    next += clusters * columns;
  }
  return each;
}

cf::SearchSettings read_settings(int restarts, int max_iter, int effort) {
  require(restarts >= 1 && restarts <= (1 << 20), "restarts must be from 1 to 2^20");
  require(max_iter >= 1, "max_iter must be at least 1");
  require(effort >= 0 && effort <= 2, "effort must be 0, 1 or 2");
  return {restarts, max_iter, static_cast<cf::Effort>(effort)};
}

KMeansResult kmeans(const cf::Table& table, In<int32_t, 1> columns, In<int64_t, 1> offsets, In<int32_t, 1> clusters,
                    In<uint64_t, 1> seeds, int restarts, int max_iter, int effort, int threads) {
  require(!table.projected, "projected rows can be assigned, not clustered");
  std::vector<cf::Problem> problems = read_problems(table.columns, columns, offsets, clusters);
  require_aligned(seeds);
  require(seeds.shape(0) == problems.size(), "one seed per problem");
  const cf::SearchSettings settings = read_settings(restarts, max_iter, effort);
  require_threads(threads);
  for (size_t i = 0; i < problems.size(); ++i) problems[i].seed = seeds(i);
  cf::Call call;
  return KMeansResult(problems, cf::solve(table, problems, settings, threads));
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

// The table, one problem over all its columns, and the labels, in one call: for a small table, several calls and what
// passes between them take about as long as the work.
using Fit = std::tuple<int64_t, bool, int, int, double, Out<int32_t, 1>, Out<double, 1>, Out<double, 2>, Out<double, 2>,
                       Out<int32_t, 1>>;

Fit fit_kmeans(In<double, 2> x, const Weights& weights, int clusters, uint64_t seed, int restarts, int max_iter,
               int effort, int threads) {
  require_rows(x, weights);
  require(x.size() > 0, "X must have rows and columns");
  require(clusters >= 1, "clusters must be at least 1");
  const cf::SearchSettings settings = read_settings(restarts, max_iter, effort);
  require_threads(threads);
  Out<int32_t, 1> labels = uninitialised<int32_t, 1>({x.shape(0)});
  const cf::TableFit fit = [&] {
    cf::Call call;
    require_numbers(x, weights);
    const cf::WeightedRows rows = {x.data(), weights ? weights->data() : nullptr, static_cast<int64_t>(x.shape(0)),
                                   static_cast<int64_t>(x.shape(1))};
    return cf::fit_table(rows, clusters, seed, settings, labels.data(), threads);
  }();
  return {fit.distinct,
          fit.solved,
          fit.scale,
          fit.iterations,
          fit.within,
          copy_of<int32_t>(fit.coordinates.exponent),
          copy_of<double>(fit.coordinates.origin),
          matrix_of(fit.places, x.shape(1)),
          matrix_of(fit.centers, x.shape(1)),
          labels};
}

void make_passes(cf::Passes* self, const cf::Scaling* scaling, In<int32_t, 1> exponent, In<double, 1> origin,
                 In<int32_t, 1> reach, In<int32_t, 1> columns, In<int64_t, 1> offsets, In<int32_t, 1> clusters,
                 In<double, 1> centers) {
  const size_t width = exponent.shape(0);
  const cf::Coordinates coordinates = read_coordinates(exponent, origin, reach, width);
  require(!scaling || static_cast<size_t>(scaling->width()) == width, "coordinates must be of the scaled columns");
  const std::vector<cf::Problem> problems = read_problems(static_cast<int64_t>(width), columns, offsets, clusters);
  const std::vector<const double*> each = read_centers(problems, centers);
  cf::Call call;
  new (self) cf::Passes(scaling, coordinates, problems, each);
}

cf::RowBlock read_block(const cf::Passes& self, In<double, 2> x, const double* weights, int threads) {
  require(static_cast<int64_t>(x.shape(1)) == self.columns(), "the rows must have the columns of the fitted table");
  require_table(x);
  require_aligned(x);
  require_threads(threads);
  return {x.data(), static_cast<int64_t>(x.shape(0)), weights};
}

void add(const cf::Passes& self, In<double, 2> x, const std::optional<In<double, 1>>& weights, In<int32_t, 1> bits,
         int mass_bits, InOut<int64_t, 1> sums, InOut<int64_t, 1> mass, int threads) {
  require(!weights || weights->shape(0) == x.shape(0), "weights must have one entry per row");
  const cf::RowBlock block = read_block(self, x, weights ? weights->data() : nullptr, threads);
  require_aligned(weights.value_or(In<double, 1>()), bits, sums, mass);
  require(static_cast<int64_t>(bits.shape(0)) == self.scaled_columns(), "bits must have one entry per scaled column");
  require(mass_bits >= 0 && mass_bits <= 62, "mass_bits must be from 0 to 62");
  require(sums.shape(0) == self.center_values && mass.shape(0) == self.clusters, "sums must be of the clusters");
  cf::Call call;
  if (block.weights) require_weights(block.weights, x.shape(0));
  self.add(block, {bits.data(), mass_bits, sums.data(), mass.data()}, threads);
}

template <class Label>
void label(const cf::Passes& self, In<double, 2> x, InOut<Label, 2> labels, int64_t start, int threads) {
  const cf::RowBlock block = read_block(self, x, nullptr, threads);
  const int64_t step = static_cast<int64_t>(labels.shape(1));
  require_aligned(labels);
  require(labels.shape(0) == self.clusterings(), "labels must have one row per clustering");
  require(start >= 0 && start <= step && block.rows <= step - start, "the block must be within labels");
  require(self.most_clusters - 1 <= std::numeric_limits<Label>::max(), "labels do not fit into their type");
  cf::Call call;
  self.label(block, labels.data() + start, step, threads);
}

}  // namespace

void bind_kmeans(nb::module_& m) {
  nb::class_<KMeansResult> result(
      m, "KMeansResult",
      "An entry of each array for each problem; its centres are an empty array if it is not solved.\n"
      "\n"
      "Sums are in units of 4**exponent times the table's unit of weight.");
  bind_array<bool>(result, "solved", &KMeansResult::solved);
  bind_array<double>(result, "within", &KMeansResult::within);
  bind_array<double>(result, "between", &KMeansResult::between);
  bind_array<double>(result, "within_pairs", &KMeansResult::within_pairs);
  bind_array<double>(result, "between_pairs", &KMeansResult::between_pairs);
  result.def_prop_ro("centers", &centers_of);
  bind_array<int32_t>(result, "exponent", &KMeansResult::exponent);
  bind_array<int32_t>(result, "iterations", &KMeansResult::iterations);
  m.def("kmeans", &kmeans, "table"_a, "columns"_a, "offsets"_a, "clusters"_a, "seeds"_a, "restarts"_a, "max_iter"_a,
        "effort"_a, "threads"_a, "Solve K-means problems. A column listed twice counts twice in the distance.");
  m.def("fit_kmeans", &fit_kmeans, "x"_a, "weights"_a.none(), "clusters"_a, "seed"_a, "restarts"_a, "max_iter"_a,
        "effort"_a, "threads"_a,
        "Solve one problem over all columns of x and label its rows: `Table`, `kmeans` and `assign` in one call.\n"
        "\n"
        "Returns the number of distinct rows, whether the problem was solved, the power of two that is the unit of "
        "distances,\n"
        "Lloyd iterations, within sum of squares, the table's exponents and origin, the centres' coordinates, the "
        "centres and\n"
        "the labels. Rows of weight 0 get a label, too. Labels mean nothing if the problem was not solved.");
  m.def("assign", &assign, "table"_a, "columns"_a, "offsets"_a, "clusters"_a, "centers"_a, "threads"_a,
        "Find the nearest centre of each row in each clustering, lowest index on ties; -1 for rows of weight 0.");
  m.def("float32_error", &cf::float32_error, "columns"_a,
        "Bound the error of a float32 score over so many columns, relative to the sizes of its factors.");
  m.def(
      "float64_error", &cf::float64_error, "columns"_a,
      "Bound the error of a float64 squared distance over so many columns, relative to the squared sizes of its ends.");
  m.attr("FLOAT32_RANGE") = cf::kFloat32Range;
  m.attr("DISTANCE_FLOOR") = cf::kDistanceFloor;
  nb::class_<cf::Passes>(m, "Passes", "Clusterings by their centres, for rows that come block by block.")
      .def("__init__", &make_passes, "scaling"_a.none(), "exponent"_a, "origin"_a, "reach"_a, "columns"_a, "offsets"_a,
           "clusters"_a, "centers"_a)
      .def("add", &add, "x"_a, "weights"_a.none(), "bits"_a, "mass_bits"_a, "sums"_a.noconvert(), "mass"_a.noconvert(),
           "threads"_a,
           "Add the rows to the sums of the nearest centres, in units of 2**-bits by column and 2**-mass_bits.")
      .def("label", &label<int8_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a,
           "Write the nearest centre of each row in each clustering to labels[:, start : start + len(x)].")
      .def("label", &label<int16_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a)
      .def("label", &label<int32_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a);
}
