// Rows of a table: their hashes, and their columns in the coordinates of the centres.
// REAL is the table's type. Built without fused multiply-adds: numbers are those of the CPU, bit for bit.

constexpr u64 kGolden = 0x9E3779B97F4A7C15ull;

__device__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ u64 hash(u64 key, u64 counter) { return mix(key + kGolden * (counter + 1)); }

// 0 and -0 are equal, and so are NaNs.
extern "C" __global__ void hash_rows(const REAL* x, i64 row_step, i64 column_step, i64 rows, int columns, u64* keys) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  u64 key = 0;
  for (int c = 0; c < columns; ++c) {
    const double value = static_cast<double>(x[r * row_step + c * column_step]) + 0.0;
    key = hash(key, value != value ? 0x7ff8000000000000ull : static_cast<u64>(__double_as_longlong(value)));
  }
  keys[r] = key;
}

extern "C" __global__ void chances(const u64* names, i64 count, u64 key, u64* out) {
  const i64 i = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = hash(key, names[i]) >> 11;
}

// How a column of a view comes from one of the table, then gets to its place relative to the centres.
struct Step {
  double first, second, shift, divisor;
  double to_first, to_second, origin;
  double steps_per_unit;
  i64 knots, before;  // where this column's begin
  int column, count;  // count: number of knots; 0 if it is not ranked
};

__device__ double rank_of(double x, const Step& step, const double* knots, const double* ranks, const int* before) {
  const double* own = knots + step.knots;
  const double* rank = ranks + step.knots;
  const int last = step.count - 1;
  if (!(x > own[0])) return rank[0];
  if (!(x < own[last])) return rank[last];
  const i64 at = static_cast<i64>((x - own[0]) * step.steps_per_unit);
  const int* bounds = before + step.before + (at < step.count ? at : step.count);
  int low = bounds[0], high = bounds[1];  // the first knot above x is among them, or just after
  while (low < high) {
    const int middle = (low + high) / 2;
    if (own[middle] > x)
      high = middle;
    else
      low = middle + 1;
  }
  const int i = low - 1;
  if (own[i] == x) return rank[i];
  const double gap = 0.5 * own[i + 1] - 0.5 * own[i];
  if (!(gap > 0)) return rank[i];
  return rank[i] + (rank[i + 1] - rank[i]) * ((0.5 * x - 0.5 * own[i]) / gap);
}

// A thread has one row, so that its cells are read from memory once for all views.
extern "C" __global__ void project(const REAL* x, i64 row_step, i64 column_step, int rows, const Step* steps, int count,
                                   const double* knots, const double* ranks, const int* before, i64 pitch,
                                   float* narrow, double* exact) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int i = 0; i < count; ++i) {
    const Step& step = steps[i];
    const double cell = static_cast<double>(x[r * row_step + step.column * column_step]);
    const double value = step.count ? rank_of(cell, step, knots, ranks, before)
                                    : ((cell + 0.0) * step.first * step.second - step.shift) / step.divisor;
    const double place = value * step.to_first * step.to_second + 0.0 - step.origin;
    exact[i * pitch + r] = place;
    narrow[i * pitch + r] = static_cast<float>(place);
  }
}
