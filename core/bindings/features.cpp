// draw_features.
#include <vector>
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "rows/feature_draw.hpp"
#include "runtime/interrupt.hpp"

using namespace nb::literals;

namespace {

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
    cf::draw_features(keys(i), features, count, taken, out.data() + i * count);
  }
  return out;
}

}  // namespace

void bind_features(nb::module_& m) {
  m.def("draw_features", &draw_features, "keys"_a, "features"_a, "count"_a, "excluded"_a, "offsets"_a);
}
