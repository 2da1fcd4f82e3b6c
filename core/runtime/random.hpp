// Counter-based random numbers (Salmon et al. 2011): a number is a hash of where it is used, never of what ran before
// it.
#pragma once
#include <cstdint>
#include <vector>
#include "runtime/threads.hpp"

namespace cf {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ull;

// The splitmix64 finaliser (Steele, Lea, Flood 2014).
inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

inline uint64_t hash(uint64_t key, uint64_t counter) { return mix(key + kGolden * (counter + 1)); }

// Map 64 random bits to [0, n), for n below 2^32.
inline uint64_t below(uint64_t random, uint64_t n) { return ((random >> 32) * n) >> 32; }

// Draw `count` distinct numbers below `features` that are not in `taken` (ascending), by the key alone. If fewer are
// left, the rest of `out` is -1. Adds what it draws to `taken`.
inline void draw_features(uint64_t key, int features, int count, std::vector<int32_t>& taken, int32_t* out) {
  for (int j = 0; j < count; ++j) {
    // Draw a place among those left, and count it off past those taken.
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
