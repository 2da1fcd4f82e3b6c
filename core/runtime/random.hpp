// Counter-based randomness: a number is a hash of where it is used, never of what ran before it.
#pragma once
#include <cstdint>

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

}  // namespace cf
