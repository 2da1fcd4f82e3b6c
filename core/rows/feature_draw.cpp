#include "rows/feature_draw.hpp"
#include "runtime/interrupt.hpp"
#include "runtime/random.hpp"

namespace cf {

void draw_features(uint64_t key, int features, int count, std::vector<int32_t>& taken, int32_t* out) {
  for (int j = 0; j < count; ++j) {
    check_interrupt();
    const int64_t left = features - static_cast<int64_t>(taken.size());
    out[j] = -1;
    if (left <= 0) continue;
    int32_t pick = static_cast<int32_t>(below(hash(key, j), left));
    auto at = taken.begin();
    for (; at != taken.end() && *at <= pick; ++at) ++pick;
    taken.insert(at, pick);
    out[j] = pick;
  }
}

}  // namespace cf
