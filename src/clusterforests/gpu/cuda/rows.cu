// Rows of a table: their hashes, and their columns in the coordinates of the centres. After hash.cuh and steps.cuh.

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

// Copy some rows of the table as doubles, row by row.
extern "C" __global__ void take_rows(const REAL* x, i64 row_step, i64 column_step, int columns, const i64* taken,
                                     i64 count, double* out) {
  const i64 i = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (i >= count * columns) return;
  out[i] = static_cast<double>(x[taken[i / columns] * row_step + i % columns * column_step]);
}

// Find the first row that has the key of a sampled row but is not equal to it. The keys of the sample ascend; `sifted`
// has a bit for the leading bits of each.
extern "C" __global__ void find_unequal(const REAL* x, i64 row_step, i64 column_step, i64 rows, int columns,
                                        const u64* keys, const u64* names, const i64* sampled, int count,
                                        const unsigned* sifted, int bits, u64* found) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  const u64 key = keys[r], bucket = key >> (64 - bits);
  if (!(sifted[bucket / 32] >> bucket % 32 & 1)) return;
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (names[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == count || names[low] != key || sampled[low] == r) return;
  for (int c = 0; c < columns; ++c) {
    const double a = static_cast<double>(x[r * row_step + c * column_step]);
    const double b = static_cast<double>(x[sampled[low] * row_step + c * column_step]);
    if (!(a == b || (a != a && b != b))) {
      atomicMin(found, static_cast<u64>(r));
      return;
    }
  }
}

constexpr int kThreads = 256;
constexpr int kRows = 4;     // of a thread, side by side
constexpr int kColumns = 6;  // one after the other

// Columns of the rows in float32; grid: (rows, columns). `order` has those from the same cells side by side, so that
// these are read once.
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    project(const REAL* x, i64 row_step, i64 column_step, int rows, const Step* steps, const int* order, int count,
            const double2* knots, const int* before, const Term* terms, i64 pitch, float* narrow) {
  const Cells cells = {x, row_step, column_step, steps, knots, before, terms};
  const int r = kRows * (blockIdx.x * blockDim.x + threadIdx.x), first = blockIdx.y * kColumns;
  if (r >= pitch) return;
  REAL cell[kRows];
  int column = -1;
  for (int at = first; at < min(count, first + kColumns); ++at) {
    const int c = order[at];
    const Step& step = steps[c];
    float place[kRows];
    if (step.column != column)
#pragma unroll
      for (int i = 0; i < kRows; ++i) cell[i] = r + i < rows ? cell_of(cells, r + i, step)  : REAL();
    column = step.column;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      place[i] = static_cast<float>(r + i < rows ? place_of(cell[i], cells, r + i, step) : 0.0);
    *reinterpret_cast<float4*>(narrow + c * pitch + r) = make_float4(place[0], place[1], place[2], place[3]);
  }
}
