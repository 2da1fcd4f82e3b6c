// Sums of the coordinates of each cluster's rows, in fixed point: integers, so that no order of addition shows.
// They are products of matrices of bytes: which rows are in which cluster, times the digits of the rows' coordinates.
// LABEL is the type of the labels, DIGITS the number of digits in base 256.

constexpr int kThreads = 128;  // at most
constexpr int kTiles = 2;      // of kSlots clusters each, of a warp
constexpr int kSlots = 16;     // rows of a product
constexpr int kColumns = 8;    // its columns
constexpr int kStepRows = 64;  // summed over in two products
constexpr int kHere = 128;     // the byte of a row that is in a cluster: 2^7

// Clusters of several trees, and some columns that they have.
struct Unit {
  i64 slots, sums;  // where its clusters begin in the list of all, and its sums: [cluster][kColumns]
  int count, columns;
  int column[kColumns];
};

struct Slot {
  int tree, cluster;
};

// Of the 64 rows of a step a thread has 16 in a row, in both matrices: the order of the rows does not matter.
struct Labels {
  uint4 word[sizeof(LABEL)];
};

// The bytes of four labels in a word: kHere if the row is in the cluster. Labels are not negative, so no byte borrows
// from the next.
__device__ __forceinline__ unsigned bytes_here(unsigned labels, unsigned cluster) {
  return (0x80808080u - (labels ^ cluster)) & 0x80808080u;
}

// The same of wider labels.
template <int Wide>
__device__ __forceinline__ unsigned wide_here(const Labels& labels, int four, int cluster) {
  unsigned found = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int at = (4 * four + i) * Wide;  // bytes
    const uint4& quad = labels.word[at / 16];
    const unsigned word = at / 4 % 4 == 0 ? quad.x : at / 4 % 4 == 1 ? quad.y : at / 4 % 4 == 2 ? quad.z : quad.w;
    found |= static_cast<LABEL>(word >> 8 * (at % 4)) == cluster ? static_cast<unsigned>(kHere) << (8 * i) : 0u;
  }
  return found;
}

__device__ __forceinline__ void find(const Labels& labels, int cluster, unsigned (&found)[4]) {
  if constexpr (sizeof(LABEL) == 1) {
    const uint4& four = labels.word[0];
    const unsigned all = cluster * 0x01010101u;
    found[0] = bytes_here(four.x, all), found[1] = bytes_here(four.y, all);
    found[2] = bytes_here(four.z, all), found[3] = bytes_here(four.w, all);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) found[i] = wide_here<sizeof(LABEL)>(labels, i, cluster);
  }
}

#ifndef EMULATED
// sum += a b: (16 x 32 unsigned bytes) (32 x 8 signed bytes), spread over a warp.
__device__ __forceinline__ void multiply_bytes(int (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// grid: (units, pieces of rows); a warp has kTiles * kSlots of a unit's clusters. The digits of a step are side by side:
// [step][digit][column][row]. Rows from the last one to the end of a step have digits of 0.
extern "C" __global__ void __launch_bounds__(kThreads, 3)
    add_rows(const unsigned char* planes, int columns, i64 pitch, int rows, int per_block, const LABEL* labels,
             const Unit* units, const Slot* slots, u64* sums) {
  const Unit& unit = units[blockIdx.x];
  const int lane = threadIdx.x % 32, group = lane / 4, quarter = lane % 4;
  const int first = threadIdx.x / 32 * kTiles * kSlots;
  if (first >= unit.count) return;
  const int begin = blockIdx.y * per_block, end = min(rows, begin + per_block);
  const unsigned char* from = planes + unit.column[min(group, unit.columns - 1)] * kStepRows + 16 * quarter;
  const LABEL* own[kTiles][2];
  int cluster[kTiles][2];
#pragma unroll
  for (int m = 0; m < kTiles; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int s = min(first + m * kSlots + half * kColumns + group, unit.count - 1);
      own[m][half] = labels + slots[unit.slots + s].tree * pitch, cluster[m][half] = slots[unit.slots + s].cluster;
    }
  int sum[kTiles][DIGITS][4] = {};
  uint4 digit[2][DIGITS];  // of a step, and of the next one, which is read meanwhile
  Labels label[2][kTiles][2];
  const auto read = [&](int at, uint4(&digits)[DIGITS], Labels(&labels)[kTiles][2]) {
    const int r = at + 16 * quarter;
    const unsigned char* step = from + static_cast<i64>(at) * DIGITS * columns;
#pragma unroll
    for (int d = 0; d < DIGITS; ++d) digits[d] = *reinterpret_cast<const uint4*>(step + d * columns * kStepRows);
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) labels[m][half] = *reinterpret_cast<const Labels*>(own[m][half] + r);
  };
  const auto add = [&](const uint4(&digits)[DIGITS], const Labels(&labels)[kTiles][2]) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      unsigned upper[4], lower[4];
      find(labels[m][0], cluster[m][0], upper);
      find(labels[m][1], cluster[m][1], lower);
#pragma unroll
      for (int d = 0; d < DIGITS; ++d) {
        multiply_bytes(sum[m][d], {upper[0], lower[0], upper[1], lower[1]}, {digits[d].x, digits[d].y});
        multiply_bytes(sum[m][d], {upper[2], lower[2], upper[3], lower[3]}, {digits[d].z, digits[d].w});
      }
    }
  };
  read(begin, digit[0], label[0]);
#pragma unroll 1
  for (int at = begin; at < end; at += 2 * kStepRows) {
    const int second = at + kStepRows, third = second + kStepRows;
    if (second < end) read(second, digit[1], label[1]);
    add(digit[0], label[0]);
    if (third < end) read(third, digit[0], label[0]);
    if (second < end) add(digit[1], label[1]);
  }
#pragma unroll
  for (int m = 0; m < kTiles; ++m)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int s = first + m * kSlots + i / 2 * kColumns + group, c = 2 * quarter + i % 2;
      if (s >= unit.count || c >= unit.columns) continue;
      i64 total = 0;
#pragma unroll
      for (int d = DIGITS - 1; d >= 0; --d) total = total * 256 + sum[m][d][i] / kHere;
      if (total) atomicAdd(sums + unit.sums + s * kColumns + c, static_cast<u64>(total));
    }
}
