// Sums of the coordinates of each cluster's rows, in fixed point: integers, so that no order of addition shows.
// They are products of matrices of bytes: which rows are in which cluster, times the digits of the rows' coordinates.
// LABEL is the type of the labels, DIGITS the number of digits in base 256.

constexpr int kThreads = 128;  // at most
constexpr int kTiles = 4;      // of kSlots clusters each, of a warp
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

// The bytes of four rows: kHere if the row is in the cluster.
__device__ __forceinline__ unsigned here(const LABEL* label, LABEL cluster) {
  unsigned found = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) found |= label[i] == cluster ? static_cast<unsigned>(kHere) << (8 * i) : 0u;
  return found;
}

// The same of four labels in a word. They are not negative, so no byte borrows from the next.
__device__ __forceinline__ unsigned here(unsigned labels, unsigned cluster) {
  return (0x80808080u - (labels ^ cluster)) & 0x80808080u;
}

#ifndef EMULATED
// sum += a b: (16 x 32 unsigned bytes) (32 x 8 signed bytes), spread over a warp.
__device__ __forceinline__ void multiply_bytes(int (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

// Of the 64 rows of a step a thread has 16 in a row, in both matrices: the order of the rows does not matter.
__device__ __forceinline__ void read_slot(const LABEL* labels, int cluster, unsigned (&found)[4]) {
  if constexpr (sizeof(LABEL) == 1) {
    const uint4 four = *reinterpret_cast<const uint4*>(labels);
    const unsigned all = cluster * 0x01010101u;
    found[0] = here(four.x, all), found[1] = here(four.y, all), found[2] = here(four.z, all), found[3] = here(four.w, all);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) found[i] = here(labels + 4 * i, static_cast<LABEL>(cluster));
  }
}

// grid: (units, pieces of rows); a warp has kTiles * kSlots of a unit's clusters. Rows from the last one to the end of a
// step have digits of 0.
extern "C" __global__ void __launch_bounds__(kThreads)
    add_rows(const unsigned char* planes, i64 pitch, int rows, int per_block, const LABEL* labels, const Unit* units,
             const Slot* slots, u64* sums) {
  const Unit& unit = units[blockIdx.x];
  const int lane = threadIdx.x % 32, group = lane / 4, quarter = lane % 4;
  const int first = threadIdx.x / 32 * kTiles * kSlots;
  if (first >= unit.count) return;
  const int begin = blockIdx.y * per_block, end = min(rows, begin + per_block);
  const int tiles = min(kTiles, (unit.count - first + kSlots - 1) / kSlots);
  const unsigned char* from = planes + static_cast<i64>(unit.column[min(group, unit.columns - 1)]) * DIGITS * pitch;
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
  for (int r = begin + 16 * quarter; r < end + 16 * quarter; r += kStepRows) {
    uint4 digit[DIGITS];
#pragma unroll
    for (int d = 0; d < DIGITS; ++d) digit[d] = *reinterpret_cast<const uint4*>(from + d * pitch + r);
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      if (m >= tiles) break;
      unsigned upper[4], lower[4];
      read_slot(own[m][0] + r, cluster[m][0], upper);
      read_slot(own[m][1] + r, cluster[m][1], lower);
#pragma unroll
      for (int d = 0; d < DIGITS; ++d) {
        multiply_bytes(sum[m][d], {upper[0], lower[0], upper[1], lower[1]}, {digit[d].x, digit[d].y});
        multiply_bytes(sum[m][d], {upper[2], lower[2], upper[3], lower[3]}, {digit[d].z, digit[d].w});
      }
    }
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
