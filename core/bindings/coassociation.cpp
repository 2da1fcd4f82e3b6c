// coassociate, most_matched, multiply.
#include "consensus/coassociation.hpp"
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "runtime/interrupt.hpp"

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

nb::tuple most_matched(In<int32_t, 2> a, In<int32_t, 2> b, int threads) {
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
  return nb::make_tuple(place, matches);
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

}  // namespace

void bind_coassociation(nb::module_& m) {
  m.def("coassociate", &coassociate, "a"_a, "b"_a, "table"_a, "threads"_a);
  m.def("most_matched", &most_matched, "a"_a, "b"_a, "threads"_a);
  m.def("multiply", &multiply, "matrix"_a, "vectors"_a, "threads"_a);
}
