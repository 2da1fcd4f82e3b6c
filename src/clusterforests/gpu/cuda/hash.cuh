// Random numbers by counting, as in the core.

constexpr u64 kGolden = 0x9E3779B97F4A7C15ull;

__device__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ u64 hash(u64 key, u64 counter) { return mix(key + kGolden * (counter + 1)); }
