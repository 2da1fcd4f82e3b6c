// Passes.
#include "kmeans/streaming.hpp"
#include <nanobind/stl/optional.h>
#include <limits>
#include <optional>
#include <vector>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/problems.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

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

void bind_streaming(nb::module_& m) {
  nb::class_<cf::Passes>(m, "Passes")
      .def("__init__", &make_passes, "scaling"_a.none(), "exponent"_a, "origin"_a, "reach"_a, "columns"_a, "offsets"_a,
           "clusters"_a, "centers"_a)
      .def("add", &add, "x"_a, "weights"_a.none(), "bits"_a, "mass_bits"_a, "sums"_a.noconvert(), "mass"_a.noconvert(),
           "threads"_a)
      .def("label", &label<int8_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a)
      .def("label", &label<int16_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a)
      .def("label", &label<int32_t>, "x"_a, "labels"_a.noconvert(), "start"_a, "threads"_a);
}
