// How surely rows belong, by the clusters of the rows that share their labels: `inspection.memberships`, and
// `combining.placement.Shares`. The lines of partition t begin at first[t], one for each label.

constexpr int kGroups = 8;  // summed at a time

// Count the rows of each group with each label of a partition; grid: (rows, partitions). A block counts in its own
// memory, if that has room for `local` cells.
extern "C" __global__ void count_cells(const LABEL* labels, i64 label_pitch, i64 rows, const i64* first,
                                       const int* groups, int n_groups, int local, u64* cells) {
  extern __shared__ unsigned own[];
  const LABEL* label = labels + blockIdx.y * label_pitch;
  u64* all = cells + first[blockIdx.y] * n_groups;
  const i64 count = (first[blockIdx.y + 1] - first[blockIdx.y]) * n_groups;
  const bool here = count <= local;
  for (i64 i = threadIdx.x; here && i < count; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const i64 step = gridDim.x * static_cast<i64>(blockDim.x);
  for (i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x; r < rows; r += step) {
    const i64 cell = static_cast<i64>(label[r]) * n_groups + groups[r];
    if (here)
      atomicAdd(own + cell, 1u);
    else
      atomicAdd(all + cell, 1ull);
  }
  __syncthreads();
  for (i64 i = threadIdx.x; here && i < count; i += blockDim.x)
    if (own[i]) atomicAdd(all + i, static_cast<u64>(own[i]));
}

// Sum the lines of a table that a row's labels pick; a label without a line picks the last but one. In the partitions'
// order, as in the core.
extern "C" __global__ void sum_lines(const LABEL* labels, i64 label_pitch, i64 rows, int members, const i64* first,
                                     const double* lines, int width, double* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  for (int g0 = 0; g0 < width; g0 += kGroups) {
    const int some = min(kGroups, width - g0);
    double sum[kGroups] = {};
    for (int t = 0; t < members; ++t) {
      const i64 last = first[t + 1] - first[t] - 2, label = labels[t * label_pitch + r];
      const double* line = lines + (first[t] + (label < last ? label : last)) * width + g0;
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
        if (g < some) sum[g] += line[g];
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      if (g < some) out[r * width + g0 + g] = sum[g];
  }
}

// For each row, sum over the partitions the share of each group among the other rows with its label there; `alone` says
// of each group whether it has one row. The last number of a row of out is the sum of what the row counts for itself.
extern "C" __global__ void sum_companions(const LABEL* labels, i64 label_pitch, i64 rows, int members, const i64* first,
                                          const double* lines, const double* everyone, int width, const int* groups,
                                          const int* alone, double rounding, double* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  const double copy = alone[groups[r]] ? 0.0 : 1.0;
  double itself = 0;
  for (int g0 = 0; g0 < width; g0 += kGroups) {
    const int some = min(kGroups, width - g0);
    double sum[kGroups] = {};
    for (int t = 0; t < members; ++t) {
      const i64 at = first[t] + labels[t * label_pitch + r];
      const double companions = everyone[at] - copy;
      const double each = companions > rounding * copy ? 1.0 / companions : 0.0;
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
        if (g < some) sum[g] += lines[at * width + g0 + g] * each;
      if (g0 == 0) itself += copy * each;
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      if (g < some) out[r * (width + 1) + g0 + g] = sum[g];
  }
  out[r * (width + 1) + width] = itself;
}
