// The Python module: its parts, the choice of the instruction set, and how interrupted calls return.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <exception>
#include <string>
#include "bindings/bindings.hpp"
#include "runtime/interrupt.hpp"
#include "simd/kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const cf::Interrupted&) {
      // The exception that the signal's handler raised is set already.
    }
  });
  m.doc() = "The hot loops of clusterforests: K-means problems over one table, match counts, products with W.";
  bind_table(m);
  bind_wide_columns(m);
  bind_scaling(m);
  bind_features(m);
  bind_kmeans(m);
  bind_streaming(m);
  bind_coassociation(m);
  bind_match_operator(m);
  bind_group_votes(m);
  bind_label_tables(m);
  bind_impute(m);
  m.def("instruction_set", [] { return std::string(cf::kernels().name); });
  m.def("instruction_sets", &cf::instruction_sets);
  m.def("use_instruction_set", &cf::use_instruction_set, "name"_a);
}
