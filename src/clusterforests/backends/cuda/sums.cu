// Sums of the coordinates of each cluster's rows, in fixed point: integers, so that no order of addition shows.
// LABEL is the type of the labels.

constexpr int kLanes = 32;
constexpr int kRows = 4;     // of a thread, side by side
constexpr int kColumns = 4;  // of a unit, at most

// Some columns of one tree.
struct Unit {
  i64 sums[kColumns];  // where the sum of the first cluster is, and
  int step;            // how far apart those of its clusters are
  int tree, clusters, count;
  int columns[kColumns];
};

struct alignas(kRows * sizeof(LABEL)) Few {
  LABEL of[kRows];
};

// grid: (pieces of rows, units), a warp each. Every thread has sums of its own, so nothing is added atomically until
// the end. Where the clusters are too many for shared memory (`kept` is 0) all additions are atomic.
extern "C" __global__ void add_rows(const i64* fixed, i64 pitch, int rows, int per_block, const LABEL* labels,
                                    const Unit* units, int kept, u64* sums) {
  extern __shared__ i64 own[];  // [cluster][column][lane]
  const Unit unit = units[blockIdx.y];
  const int lane = threadIdx.x, begin = blockIdx.x * per_block, end = min(rows, begin + per_block);
  if (kept)
    for (int i = 0; i < unit.clusters * unit.count; ++i) own[i * kLanes + lane] = 0;
  for (int r = begin + kRows * lane; r < end; r += kRows * kLanes) {
    const Few label = *reinterpret_cast<const Few*>(labels + unit.tree * pitch + r);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (j >= unit.count) break;
      const longlong2* from = reinterpret_cast<const longlong2*>(fixed + unit.columns[j] * pitch + r);
      const longlong2 low = from[0], high = from[1];
      const i64 value[kRows] = {low.x, low.y, high.x, high.y};
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        if (r + i >= end) break;
        if (kept)
          own[(label.of[i] * unit.count + j) * kLanes + lane] += value[i];
        else
          atomicAdd(sums + unit.sums[j] + static_cast<i64>(label.of[i]) * unit.step, static_cast<u64>(value[i]));
      }
    }
  }
  if (!kept) return;
  __syncwarp();
  for (int i = lane; i < unit.clusters * unit.count; i += kLanes) {
    i64 total = 0;
    for (int l = 0; l < kLanes; ++l) total += own[i * kLanes + (l + lane) % kLanes];
    const i64 at = unit.sums[i % unit.count] + static_cast<i64>(i / unit.count) * unit.step;
    if (total) atomicAdd(sums + at, static_cast<u64>(total));
  }
}
