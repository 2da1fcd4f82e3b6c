// Sums of the coordinates of each cluster's rows, in fixed point: integers, so that no order of addition shows.

constexpr int kLanes = 32;
constexpr int kAhead = 8;  // rows of a thread that are on their way at the same time

__device__ i64 rounded(double x) { return static_cast<i64>(x < 0 ? x - 0.5 : x + 0.5); }

// A weight times an integer: exact where the weight is whole.
__device__ i64 weigh(double weight, i64 x) {
  const i64 whole = static_cast<i64>(weight);
  return whole * x + rounded((weight - static_cast<double>(whole)) * static_cast<double>(x));
}

// One column of one tree, or the weights of its rows (column -1).
struct Unit {
  i64 sums;  // where the first cluster's sum is, and
  int step;  // how far apart those of its clusters are
  int tree, column, clusters;
  double scale;  // 2^bits
};

// grid: (pieces of rows, units), a warp each. Every thread has sums of its own, so nothing is added atomically until
// the end. Where the clusters are too many for shared memory (`kept` is 0) all additions are atomic.
extern "C" __global__ void add_rows(const double* exact, i64 pitch, int rows, int per_block, const LABEL* labels,
                                    i64 label_pitch, const double* weights, i64 mass, const Unit* units, int kept,
                                    u64* sums) {
  extern __shared__ i64 own[];  // [cluster][lane]
  const Unit unit = units[blockIdx.y];
  const int lane = threadIdx.x, begin = blockIdx.x * per_block, end = min(rows, begin + per_block);
  if (kept)
    for (int c = 0; c < unit.clusters; ++c) own[c * kLanes + lane] = 0;
  const LABEL* label = labels + unit.tree * label_pitch;
  const double* values = exact + unit.column * pitch;
  for (int first = begin + lane; first < end; first += kAhead * kLanes) {
    int cluster[kAhead];
    i64 value[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int r = first + i * kLanes;
      cluster[i] = r < end ? static_cast<int>(label[r]) : -1;
      if (r >= end) continue;
      value[i] = unit.column < 0 ? mass : rounded(values[r] * unit.scale);
      if (weights) value[i] = weigh(weights[r], value[i]);
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (cluster[i] < 0) continue;
      if (kept)
        own[cluster[i] * kLanes + lane] += value[i];
      else
        atomicAdd(sums + unit.sums + static_cast<i64>(cluster[i]) * unit.step, static_cast<u64>(value[i]));
    }
  }
  if (!kept) return;
  __syncwarp();
  for (int c = lane; c < unit.clusters; c += kLanes) {
    i64 total = 0;
    for (int i = 0; i < kLanes; ++i) total += own[c * kLanes + (i + lane) % kLanes];
    if (total) atomicAdd(sums + unit.sums + static_cast<i64>(c) * unit.step, static_cast<u64>(total));
  }
}
