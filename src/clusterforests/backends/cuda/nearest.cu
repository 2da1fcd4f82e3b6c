// The nearest centre of each row in each tree: in float32 where that cannot be wrong, in float64 otherwise.
// LABEL is the type of the labels. After steps.cuh.

constexpr int kThreads = 128;
constexpr int kRows = 4;  // of a thread, side by side

// One tree: where its parts begin in the arrays of all trees. Its centres come in `parts` of `part` each.
struct Tree {
  i64 columns;  // `width` numbers of columns; at the same place their factors and roots
  i64 records;  // [part][1 + column][record]
  i64 centers;  // [centre][column]
  float slope, base, rounding, floor;
  float reach;  // its unit of length, in the group's
  int clusters, width, parts, part;
  int number;
};

// Trees whose columns fit on the chip together, or one whose columns do not (count is 0).
struct Group {
  int begin, end;      // trees
  int columns, count;  // where the numbers of the columns are
  int floats;          // room that the records of all its trees need
  int unused;
};

struct Exact {
  Cells cells;
  const int* columns;
  const double* first;
  const double* second;
  const double* root;
  const double* centers;
};

// What a thread knows of its rows: the highest score so far, and as bits of `found` the centres from `first` on that
// may have it.
struct Contest {
  float best[kRows], found[kRows];
  int first[kRows];
};

// A record: of one column what each centre of a part multiplies it with, then the column's place. The first record of a
// part has what the scores start with.
__device__ constexpr int record_floats(int part) { return (part + 4) / 4 * 4; }

template <int Part>
__device__ __forceinline__ void read_record(const float* from, float (&record)[record_floats(Part)]) {
#pragma unroll
  for (int i = 0; i < record_floats(Part); i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i);
    record[i] = four.x, record[i + 1] = four.y, record[i + 2] = four.z, record[i + 3] = four.w;
  }
}

// Scores of some centres: x.c - |c|^2 / 2, less that of the tree's first centre. Column j of the rows is at
// x + place * step. Scores less than `margin` apart are not told from each other.
template <int Part>
__device__ __forceinline__ void compete(const float4* x, i64 step, const float* part, int width, int first,
                                        const float (&margin)[kRows], Contest& contest) {
  constexpr int Floats = record_floats(Part);
  float score[kRows][Part], record[Floats];
  read_record<Part>(part, record);
#pragma unroll
  for (int b = 0; b < Part; ++b)
#pragma unroll
    for (int i = 0; i < kRows; ++i) score[i][b] = record[b];
#pragma unroll 4
  for (int j = 0; j < width; ++j) {
    part += Floats;
    read_record<Part>(part, record);
    const float4 row = x[__float_as_int(record[Floats - 1]) * step];
#pragma unroll
    for (int b = 0; b < Part; ++b) {
      score[0][b] = __fmaf_rn(row.x, record[b], score[0][b]);
      score[1][b] = __fmaf_rn(row.y, record[b], score[1][b]);
      score[2][b] = __fmaf_rn(row.z, record[b], score[2][b]);
      score[3][b] = __fmaf_rn(row.w, record[b], score[3][b]);
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    float best = score[i][0];
#pragma unroll
    for (int b = 1; b < Part; ++b) best = fmaxf(best, score[i][b]);
    const float least = best - margin[i];
    float found = 0;
#pragma unroll
    for (int b = 0; b < Part; ++b)
      if (score[i][b] >= least) found += static_cast<float>(1 << b);
    const float before = contest.best[i];
    const bool above = least > before, beside = best >= before - margin[i];  // beside: two parts have it
    contest.best[i] = fmaxf(best, before);
    contest.found[i] = above ? found : beside ? 0.0f : contest.found[i];
    contest.first[i] = above ? first : contest.first[i];
  }
}

// The rows and the part are on the chip.
__device__ __forceinline__ void search(const float4* tile, const float* part, int width, int size, int first,
                                       const float (&margin)[kRows], Contest& contest) {
  switch (size) {
    case 3: compete<3>(tile, kThreads, part, width, first, margin, contest); break;
    case 5: compete<5>(tile, kThreads, part, width, first, margin, contest); break;
    case 7: compete<7>(tile, kThreads, part, width, first, margin, contest); break;
    case 10: compete<10>(tile, kThreads, part, width, first, margin, contest); break;
    case 13: compete<13>(tile, kThreads, part, width, first, margin, contest); break;
    default: compete<15>(tile, kThreads, part, width, first, margin, contest);
  }
}

// By direct distances, lowest index on ties; all threads of a warp for one row, each with some of the centres.
__device__ __noinline__ int exact_nearest(const Exact& exact, i64 row, const Tree& tree) {
  int label = 0x7fffffff;
  double best = __longlong_as_double(0x7ff0000000000000ll);
  for (int c = threadIdx.x % 32; c < tree.clusters; c += 32) {
    double total = 0;
    for (int j = 0; j < tree.width; ++j) {
      const i64 at = tree.columns + j;
      const double x = place_of(exact.cells, row, exact.cells.steps[exact.columns[at]]);
      const double gap = x * exact.first[at] * exact.second[at] * exact.root[at] -
                         exact.centers[tree.centers + static_cast<i64>(c) * tree.width + j];
      total += gap * gap;
    }
    if (total < best) best = total, label = c;
  }
  for (int apart = 16; apart; apart /= 2) {
    const double other = __shfl_xor_sync(~0u, best, apart);
    const int whose = __shfl_xor_sync(~0u, label, apart);
    if (other < best || (other == best && whose < label)) best = other, label = whose;
  }
  return label < tree.clusters ? label : 0;
}

struct alignas(kRows * sizeof(LABEL)) Few {
  LABEL of[kRows];
};

__device__ __forceinline__ void write_labels(LABEL* to, const int (&label)[kRows], i64 left) {
  if (left >= kRows && reinterpret_cast<u64>(to) % sizeof(Few) == 0) {
    Few few;
#pragma unroll
    for (int i = 0; i < kRows; ++i) few.of[i] = static_cast<LABEL>(label[i]);
    *reinterpret_cast<Few*>(to) = few;
  } else {
    for (int i = 0; i < min(static_cast<i64>(kRows), left); ++i) to[i] = static_cast<LABEL>(label[i]);
  }
}

// A multiple of four.
__device__ __forceinline__ void copy(float* to, const float* from, int count) {
  for (int i = threadIdx.x; i < count / 4; i += kThreads)
    reinterpret_cast<float4*>(to)[i] = reinterpret_cast<const float4*>(from)[i];
}

// Labels of a piece: labels[number of the tree * label_pitch + row]; grid: (rows, groups). The rows' columns that a
// group needs are on the chip. So are the records: of all its trees if they fit into `room_floats`, or else of one tree
// after the other, as many parts as fit. `unsure` counts the labels that float64 had to decide.
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    label_rows(const REAL* x, i64 row_step, i64 column_step, const Step* steps, const double2* knots, const int* before,
               const float* narrow, i64 pitch, int rows, const Group* groups, const int* group_columns,
               const float* group_units, const Tree* trees, const int* columns, const float* records,
               const double* first, const double* second, const double* root, const double* centers, LABEL* labels,
               i64 label_pitch, int room_floats, u64* unsure) {
  extern __shared__ float4 shared[];
  const Group group = groups[blockIdx.y];
  const i64 row = kRows * (blockIdx.x * static_cast<i64>(kThreads) + threadIdx.x);
  const float4* here = reinterpret_cast<const float4*>(narrow + min(row, pitch - kRows));
  float4* tile = shared + threadIdx.x;  // [column][thread]
  float* room = reinterpret_cast<float*>(shared + group.count * kThreads);
  const bool whole = group.count && group.floats <= room_floats;
  const float* all = records + trees[group.begin].records;
  if (whole) copy(room, all, group.floats);
  float length[kRows] = {};  // sums of the coordinates' magnitudes
  const int listed = groups[blockIdx.y + 1].columns - group.columns;
  for (int i = 0; i < listed; ++i) {
    const float4 four = here[group_columns[group.columns + i] * (pitch / kRows)];
    const float unit = group_units[group.columns + i];
    length[0] = __fmaf_rn(fabsf(four.x), unit, length[0]), length[1] = __fmaf_rn(fabsf(four.y), unit, length[1]);
    length[2] = __fmaf_rn(fabsf(four.z), unit, length[2]), length[3] = __fmaf_rn(fabsf(four.w), unit, length[3]);
    if (group.count) tile[i * kThreads] = four;
  }
  if (whole) __syncthreads();
  for (int t = group.begin; t < group.end; ++t) {
    const Tree& tree = trees[t];
    const int width = tree.width, part = tree.part, parts = tree.parts, size = (width + 1) * record_floats(part);
    Contest contest;
    float margin[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float own = length[i] * tree.reach, error = own * tree.slope + tree.base;
      margin[i] = (error + error) + (own * own * tree.rounding + tree.floor);
      contest.best[i] = __int_as_float(0xff800000), contest.found[i] = 0, contest.first[i] = 0;
    }
    const float* from = records + tree.records;
    if (whole) {
      for (int p = 0; p < parts; ++p) search(tile, room + (from - all) + p * size, width, part, p * part, margin, contest);
    } else if (group.count) {
      const int most = room_floats / size;
      for (int p = 0; p < parts; ++p) {
        if (p % most == 0) {
          __syncthreads();
          copy(room, from + static_cast<i64>(p) * size, min(most, parts - p) * size);
          __syncthreads();
        }
        search(tile, room + p % most * size, width, part, p * part, margin, contest);
      }
    } else {  // such trees have parts of 15
      for (int p = 0; p < parts; ++p)
        compete<15>(here, pitch / kRows, from + static_cast<i64>(p) * size, width, p * part, margin, contest);
    }
    int label[kRows];
    bool open = false;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int bits = __float_as_int(contest.found[i]);  // of a power of two the exponent is the place of its bit
      const bool sure = bits > 0 && (bits & 0x7fffff) == 0;
      label[i] = sure ? contest.first[i] + (bits >> 23) - 127 : -1;
      open = open || (!sure && row + i < rows);
    }
    if (__any_sync(~0u, open)) {
      const Exact exact = {{x, row_step, column_step, steps, knots, before}, columns, first, second, root, centers};
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (unsigned left = __ballot_sync(~0u, label[i] < 0 && row + i < rows); left; left &= left - 1) {
          const int lane = __ffs(left) - 1;
          const int found = exact_nearest(exact, __shfl_sync(~0u, row + i, lane), tree);
          if (threadIdx.x % 32 == lane) label[i] = found, atomicAdd(unsure, 1ull);
        }
    }
    write_labels(labels + tree.number * label_pitch + row, label, rows - row);
  }
}
