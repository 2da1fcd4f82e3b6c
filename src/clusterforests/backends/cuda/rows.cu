// Rows of a table: their hashes, and their columns in the coordinates of the centres.
// REAL is the table's type. Built without fused multiply-adds: numbers are those of the CPU, bit for bit.

constexpr u64 kGolden = 0x9E3779B97F4A7C15ull;

__device__ u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ u64 hash(u64 key, u64 counter) { return mix(key + kGolden * (counter + 1)); }

// Doubles as integers of the same order.
__device__ u64 ordered(double x) {
  const u64 bits = static_cast<u64>(__double_as_longlong(x));
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}

// Keys of rows: 0 and -0 are equal, and so are NaNs. Also the least and the greatest value of each column, as ordered
// integers, and which columns have NaNs.
extern "C" __global__ void survey_rows(const REAL* x, i64 row_step, i64 column_step, i64 rows, int columns, u64* keys,
                                       u64* low, u64* high, int* missing) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x, own = r < rows ? r : rows - 1;
  u64 key = 0;
  for (int c = 0; c < columns; ++c) {
    const double value = static_cast<double>(x[own * row_step + c * column_step]) + 0.0;
    const bool nan = value != value;
    key = hash(key, nan ? 0x7ff8000000000000ull : static_cast<u64>(__double_as_longlong(value)));
    double least = value, most = value;
    for (int apart = 16; apart; apart /= 2) {
      least = fmin(least, __shfl_xor_sync(~0u, least, apart));
      most = fmax(most, __shfl_xor_sync(~0u, most, apart));
    }
    const bool some = __any_sync(~0u, nan);
    if (threadIdx.x % 32 == 0) {
      if (some) missing[c] = 1;
      if (ordered(least) < low[c]) atomicMin(low + c, ordered(least));
      if (ordered(most) > high[c]) atomicMax(high + c, ordered(most));
    }
  }
  if (r < rows) keys[r] = key;
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
  double scale;       // 2^bits, of the sums
  i64 knots, before;  // where this column's begin
  int column, count;  // count: number of knots; 0 if it is not ranked
};

__device__ double rank_of(double x, const Step& step, const double* knots, const double* ranks, const int* before) {
  const double* own = knots + step.knots;
  const double* rank = ranks + step.knots;
  const int last = step.count - 1;
  if (!(x > own[0])) return rank[0];
  if (!(x < own[last])) return rank[last];
  const i64 at = step.steps_per_unit > 0 ? static_cast<i64>((x - own[0]) * step.steps_per_unit) : 0;
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

__device__ i64 rounded(double x) { return static_cast<i64>(x < 0 ? x - 0.5 : x + 0.5); }

// A weight times an integer: exact where the weight is whole.
__device__ i64 weigh(double weight, i64 x) {
  const i64 whole = static_cast<i64>(weight);
  return whole * x + rounded((weight - static_cast<double>(whole)) * static_cast<double>(x));
}

constexpr int kColumns = 4;  // of a thread

// grid: (rows, columns). If sums are to be taken, `fixed` gets the columns times 2^bits as integers, times the rows'
// weights; after the last column comes one of `mass`.
extern "C" __global__ void project(const REAL* x, i64 row_step, i64 column_step, int rows, const Step* steps, int count,
                                   const double* knots, const double* ranks, const int* before, i64 pitch,
                                   float* narrow, double* exact, const double* weights, i64 mass, i64* fixed) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const int first = blockIdx.y * kColumns;
#pragma unroll
  for (int k = 0; k < kColumns; ++k) {
    const int i = first + k;
    if (i >= count) break;
    const Step& step = steps[i];
    const double cell = static_cast<double>(x[r * row_step + step.column * column_step]);
    const double value = step.count ? rank_of(cell, step, knots, ranks, before)
                                    : ((cell + 0.0) * step.first * step.second - step.shift) / step.divisor;
    const double place = value * step.to_first * step.to_second + 0.0 - step.origin;
    exact[i * pitch + r] = place;
    narrow[i * pitch + r] = static_cast<float>(place);
    if (!fixed) continue;
    const i64 whole = rounded(place * step.scale);
    fixed[i * pitch + r] = weights ? weigh(weights[r], whole) : whole;
  }
  if (fixed && first == 0) fixed[count * pitch + r] = weights ? weigh(weights[r], mass) : mass;
}
