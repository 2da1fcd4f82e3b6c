// The nearest centre of each row in each tree: in float32 where that cannot be wrong, in float64 otherwise.
// LABEL is the type of the labels.

constexpr int kThreads = 128;
constexpr int kRows = 4;    // of a thread, side by side
constexpr int kCenters = 8;  // centres that compete at a time, at most
constexpr float kLowest = -3e38f;

// One tree: where its parts begin in the arrays of all trees. Its centres come in `parts` of `part` each.
struct Tree {
  i64 columns;  // `width` numbers of columns; at the same place their places, units, factors and roots
  i64 ahead;    // [part][column][kCenters]
  i64 offset;   // [part][kCenters]
  i64 centers;  // [centre][column]
  float slope, base, rounding, floor;
  int clusters, width, parts, part;
  int number, unused;
};

// Trees whose columns fit on the chip together, or one whose columns do not (count is 0).
struct Group {
  int begin, end;      // trees
  int columns, count;  // where the numbers of the columns are
  int floats;          // room that all its trees need
  int widths, parts;   // of all trees together: columns, and centres' parts
  int unused;
};

// What the search needs of a tree.
struct Field {
  const int* at;
  const float* unit;
  const float* ahead;
  const float* offset;
};

struct Exact {
  const double* values;
  i64 pitch;
  const int* columns;
  const double* first;
  const double* second;
  const double* root;
  const double* centers;
};

// What a thread knows of its rows: the sum of their coordinates' magnitudes, the two highest scores, and whose is the
// highest.
struct Contest {
  float length[kRows], best[kRows], second[kRows];
  int label[kRows];
};

// Scores of some centres: x.c - |c|^2 / 2, less that of the first centre. With the first of them the rows' lengths are
// taken. Column j of the rows is at x + at[j] * step.
template <int Part, bool First>
__device__ __forceinline__ void compete(const float4* x, i64 step, const int* at, const float* unit,
                                        const float* ahead, const float* offset, int width, int first,
                                        Contest& contest) {
  float score[kRows][Part];
#pragma unroll
  for (int b = 0; b < Part; ++b)
#pragma unroll
    for (int i = 0; i < kRows; ++i) score[i][b] = offset[b];
#pragma unroll 4
  for (int j = 0; j < width; ++j) {
    const float4 row = x[at[j] * step];
    if (First) {
      contest.length[0] = __fmaf_rn(fabsf(row.x), unit[j], contest.length[0]);
      contest.length[1] = __fmaf_rn(fabsf(row.y), unit[j], contest.length[1]);
      contest.length[2] = __fmaf_rn(fabsf(row.z), unit[j], contest.length[2]);
      contest.length[3] = __fmaf_rn(fabsf(row.w), unit[j], contest.length[3]);
    }
    const float4 low = *reinterpret_cast<const float4*>(ahead + j * kCenters);
    const float4 high = Part > 4 ? *reinterpret_cast<const float4*>(ahead + j * kCenters + 4) : low;
    const float center[kCenters] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int b = 0; b < Part; ++b) {
      score[0][b] = __fmaf_rn(row.x, center[b], score[0][b]);
      score[1][b] = __fmaf_rn(row.y, center[b], score[1][b]);
      score[2][b] = __fmaf_rn(row.z, center[b], score[2][b]);
      score[3][b] = __fmaf_rn(row.w, center[b], score[3][b]);
    }
  }
#pragma unroll
  for (int b = 0; b < Part; ++b)
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float s = score[i][b];
      const bool better = contest.best[i] < s;
      contest.second[i] = fmaxf(contest.second[i], fminf(contest.best[i], s));
      contest.best[i] = fmaxf(contest.best[i], s);
      contest.label[i] = better ? first + b : contest.label[i];
    }
}

// By direct distances, lowest index on ties; all threads of a warp for one row, each with some of the centres.
__device__ __noinline__ int exact_nearest(Exact exact, i64 row, const Tree* given) {
  const Tree& tree = *given;
  int label = 0x7fffffff;
  double best = __longlong_as_double(0x7ff0000000000000ll);
  for (int c = threadIdx.x % 32; c < tree.clusters; c += 32) {
    double total = 0;
    for (int j = 0; j < tree.width; ++j) {
      const i64 at = tree.columns + j;
      const double x = exact.values[exact.columns[at] * exact.pitch + row];
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

// All parts of a tree whose field is on the chip, as are the rows.
__device__ __forceinline__ void search(const float4* tile, const Field& field, int width, int part, int first,
                                       int parts, Contest& contest) {
  const int size = kCenters * width;
  if (first == 0)
    switch (part) {
      case 4: compete<4, true>(tile, kThreads, field.at, field.unit, field.ahead, field.offset, width, 0, contest); break;
      case 5: compete<5, true>(tile, kThreads, field.at, field.unit, field.ahead, field.offset, width, 0, contest); break;
      case 6: compete<6, true>(tile, kThreads, field.at, field.unit, field.ahead, field.offset, width, 0, contest); break;
      default: compete<8, true>(tile, kThreads, field.at, field.unit, field.ahead, field.offset, width, 0, contest);
    }
  for (int p = first == 0 ? 1 : 0; p < parts; ++p)
    compete<8, false>(tile, kThreads, field.at, field.unit, field.ahead + p * size, field.offset + p * kCenters, width,
                      (first + p) * part, contest);
}

template <class T>
__device__ void copy(T* to, const T* from, int count) {
  for (int i = threadIdx.x; i < count; i += kThreads) to[i] = from[i];
}

// Labels of a piece: labels[number of the tree * label_pitch + row]; grid: (rows, groups). The rows' columns that a
// group needs are on the chip. So are the centres: of all its trees if they fit into `room_floats`, or else of one tree
// after the other, as many as fit. `unsure` counts the labels that float64 had to decide.
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    label_rows(const float* narrow, const double* values, i64 pitch, int rows, const Group* groups,
               const int* group_columns, const Tree* trees, const int* columns, const int* places, const float* units,
               const float* ahead, const float* offsets, const double* first, const double* second, const double* root,
               const double* centers, LABEL* labels, i64 label_pitch, int room_floats, u64* unsure) {
  extern __shared__ float4 shared[];
  const Group group = groups[blockIdx.y];
  const i64 row = kRows * (blockIdx.x * static_cast<i64>(kThreads) + threadIdx.x);
  const float4* here = reinterpret_cast<const float4*>(narrow + min(row, pitch - kRows));
  float4* tile = shared + threadIdx.x;  // [column][thread]
  for (int i = 0; i < group.count; ++i) tile[i * kThreads] = here[group_columns[group.columns + i] * (pitch / kRows)];
  float* room = reinterpret_cast<float*>(shared + group.count * kThreads);
  const bool whole = group.count && group.floats <= room_floats;
  const int widths = whole ? (group.widths + 3) / 4 * 4 : 0;
  float *all_units = room + widths, *all_offsets = all_units + widths, *all_ahead = all_offsets + group.parts * kCenters;
  const i64 column = trees[group.begin].columns, offset = trees[group.begin].offset, near = trees[group.begin].ahead;
  if (whole) {
    copy(reinterpret_cast<int*>(room), places + column, group.widths);
    copy(all_units, units + column, group.widths);
    copy(all_offsets, offsets + offset, group.parts * kCenters);
    copy(all_ahead, ahead + near, group.floats - 2 * widths - group.parts * kCenters);
    __syncthreads();
  }
  for (int t = group.begin; t < group.end; ++t) {
    const Tree tree = trees[t];
    const int width = tree.width, size = kCenters * width;
    Contest contest;
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      contest.length[i] = 0, contest.best[i] = contest.second[i] = kLowest, contest.label[i] = 0;
    if (whole) {
      const Field field = {reinterpret_cast<int*>(room) + (tree.columns - column), all_units + (tree.columns - column),
                           all_ahead + (tree.ahead - near), all_offsets + (tree.offset - offset)};
      search(tile, field, width, tree.part, 0, tree.parts, contest);
    } else if (group.count) {
      const int aligned = (width + 3) / 4 * 4;
      const int most = (room_floats - 2 * aligned) / (size + kCenters);
      float *unit = room + aligned, *o = unit + aligned, *a = o + min(most, tree.parts) * kCenters;
      for (int p = 0; p < tree.parts; p += most) {
        const int some = min(most, tree.parts - p);
        __syncthreads();
        copy(reinterpret_cast<int*>(room), places + tree.columns, width);
        copy(unit, units + tree.columns, width);
        copy(o, offsets + tree.offset + p * kCenters, some * kCenters);
        copy(a, ahead + tree.ahead + static_cast<i64>(p) * size, some * size);
        __syncthreads();
        search(tile, {reinterpret_cast<int*>(room), unit, a, o}, width, tree.part, p, some, contest);
      }
    } else {
      const int* at = columns + tree.columns;
      const float *unit = units + tree.columns, *a = ahead + tree.ahead, *o = offsets + tree.offset;
      compete<8, true>(here, pitch / kRows, at, unit, a, o, width, 0, contest);
      for (int p = 1; p < tree.parts; ++p)
        compete<8, false>(here, pitch / kRows, at, unit, a + static_cast<i64>(p) * size, o + p * kCenters, width,
                          p * tree.part, contest);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float error = contest.length[i] * tree.slope + tree.base;
      const float last_word = contest.length[i] * contest.length[i] * tree.rounding + tree.floor;
      const bool sure = contest.second[i] < contest.best[i] - (error + error) - last_word;
      int label = contest.label[i];
      for (unsigned open = __ballot_sync(~0u, !sure && row + i < rows); open; open &= open - 1) {
        const int lane = __ffs(open) - 1;
        const Exact exact = {values, pitch, columns, first, second, root, centers};
        const int found = exact_nearest(exact, __shfl_sync(~0u, row + i, lane), trees + t);
        if (threadIdx.x % 32 == lane) label = found, atomicAdd(unsure, 1ull);
      }
      if (row + i < rows) labels[tree.number * label_pitch + row + i] = static_cast<LABEL>(label);
    }
  }
}
