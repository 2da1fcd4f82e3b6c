// The random sample of a table's distinct rows, by their keys: `tables.row_sampling`. After hash.cuh.

constexpr int kChanceBits = 53;  // of a uniform random number
constexpr int kBinBits = 16;     // of these, to count by

__device__ u64 chance(u64 key, u64 name) { return hash(key, name) >> (64 - kChanceBits); }

extern "C" __global__ void order_keys(const u64* keys, const i64* order, i64 count, u64* ordered) {
  const i64 i = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (i < count) ordered[i] = keys[order[i]];
}

// How many different keys have a chance with each of the leading bits. The keys ascend.
extern "C" __global__ void count_chances(const u64* ordered, i64 count, u64 key, u64* bins) {
  const i64 i = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (i >= count || (i > 0 && ordered[i - 1] == ordered[i])) return;
  atomicAdd(bins + (chance(key, ordered[i]) >> (kChanceBits - kBinBits)), 1ull);
}

// Take, in any order, the keys that have a chance below the limit, or `crowd` rows: each with its first row and the
// number of its rows.
extern "C" __global__ void take_keys(const u64* ordered, const i64* order, i64 count, u64 key, u64 limit, i64 crowd,
                                     u64* taken, u64* names, i64* first, i64* mass) {
  const i64 i = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (i >= count || (i > 0 && ordered[i - 1] == ordered[i])) return;
  const u64 name = ordered[i];
  const bool crowded = i + crowd <= count && ordered[i + crowd - 1] == name;
  if (chance(key, name) >= limit && !crowded) return;
  i64 last = i, step = 1;  // the last row that is known to have the key
  for (; last + step < count && ordered[last + step] == name; step *= 2) last += step;
  for (; step; step /= 2)
    if (last + step < count && ordered[last + step] == name) last += step;
  const u64 place = atomicAdd(taken, 1ull);
  names[place] = name;
  first[place] = order[i];
  mass[place] = last - i + 1;
}
