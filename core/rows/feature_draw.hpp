// Random draws of distinct features.
#pragma once
#include <cstdint>
#include <vector>

namespace cf {

// Draw `count` distinct numbers below `features` that are not in `taken` (ascending), by the key alone. If fewer are
// left, the rest of `out` is -1. Adds what it draws to `taken`.
void draw_features(uint64_t key, int features, int count, std::vector<int32_t>& taken, int32_t* out);

}  // namespace cf
