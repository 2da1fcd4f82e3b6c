// The nearest centre of each row in each tree: in float32 where that cannot be wrong, in float64 otherwise.
// LABEL is the type of the labels. After steps.cuh.

constexpr int kThreads = 128;
constexpr int kRows = 4;  // of a thread, side by side

// One tree: where its parts begin in the arrays of all trees. Its centres come in `parts` of `part` each.
struct Tree {
  i64 columns;      // `width` numbers of columns; at the same place their factors and roots
  i64 records;      // [part][1 + 2 pairs][record]
  i64 centers;      // [centre][column]
  float margin[3];  // what scores may be wrong by, as a polynomial of a row's length: constant, linear, square
  int clusters, width;
  int pairs;  // of columns; the last one may have one column
  int parts, part;
  int number, unused;
};

// Trees whose columns fit on the chip together, or one whose columns do not (count is 0).
struct Group {
  int begin, end;      // trees
  int columns, count;  // where the numbers of the columns are
  int floats;          // room that the records of all its trees need
};

struct Exact {
  Cells cells;
  const int* columns;
  const double* first;
  const double* second;
  const double* root;
  const double* centers;
};

// What a thread knows of its rows: the highest score so far, and the centre that has it, or -1 if float32 cannot tell.
struct Contest {
  float best[kRows];
  int label[kRows];
};

// A record: of one column what each centre of a part multiplies it with, then the place of the next column. The first
// record of a part has what the scores start with.
__device__ constexpr int record_floats(int part) { return (part + 4) / 4 * 4; }

template <int Part>
__device__ __forceinline__ void read_record(const float* from, float (&record)[record_floats(Part)]) {
#pragma unroll
  for (int i = 0; i < record_floats(Part); i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i);
    record[i] = four.x, record[i + 1] = four.y, record[i + 2] = four.z, record[i + 3] = four.w;
  }
}

// sum = row times record, added to what it starts from.
template <int Part, class From>
__device__ __forceinline__ void multiply(const float4& row, const float (&record)[record_floats(Part)], From from,
                                         float (&sum)[kRows][Part]) {
#pragma unroll
  for (int b = 0; b < Part; ++b) {
    sum[0][b] = __fmaf_rn(row.x, record[b], from(0, b));
    sum[1][b] = __fmaf_rn(row.y, record[b], from(1, b));
    sum[2][b] = __fmaf_rn(row.z, record[b], from(2, b));
    sum[3][b] = __fmaf_rn(row.w, record[b], from(3, b));
  }
}

// Scores of the centres of a part: x.c - |c|^2 / 2, less that of the tree's first centre. The column of a place is at
// x + place * step; each pass of the loop takes two. Scores less than `margin` apart are not told from each other.
template <int Part>
__device__ __forceinline__ void compete(const float4* x, i64 step, const float* part, int pairs, int first,
                                        const float (&margin)[kRows], Contest& contest) {
  constexpr int Floats = record_floats(Part);
  float score[kRows][Part], record[Floats], start[Floats];
  const auto column_after = [&](const float(&last)[Floats]) { return x[__float_as_int(last[Part]) * step]; };
  read_record<Part>(part, start);
  float4 one = column_after(start);
  read_record<Part>(part + Floats, record);
  float4 two = column_after(record);
  multiply<Part>(one, record, [&](int, int b) { return start[b]; }, score);
  const auto so_far = [&](int i, int b) { return score[i][b]; };
  read_record<Part>(part + 2 * Floats, record);
  one = column_after(record);
  multiply<Part>(two, record, so_far, score);
#pragma unroll 1
  for (int j = 1; j < pairs; ++j) {
    part += 2 * Floats;
    read_record<Part>(part + Floats, record);
    two = column_after(record);
    multiply<Part>(one, record, so_far, score);
    read_record<Part>(part + 2 * Floats, record);
    one = column_after(record);
    multiply<Part>(two, record, so_far, score);
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
    const int bits = __float_as_int(found);  // of a power of two the exponent is the place of its bit
    const int label = bits > 0 && (bits & 0x7fffff) == 0 ? first + (bits >> 23) - 127 : -1;
    if (first == 0) {
      contest.best[i] = best, contest.label[i] = label;
    } else {
      const float before = contest.best[i];
      const bool above = least > before, beside = best >= before - margin[i];  // beside: two parts have it
      contest.label[i] = above ? label : beside ? -1 : contest.label[i];
      contest.best[i] = fmaxf(best, before);
    }
  }
}

// The rows and the part are on the chip.
__device__ __forceinline__ void search(const float4* tile, const float* part, int pairs, int size, int first,
                                       const float (&margin)[kRows], Contest& contest) {
  switch (size) {
    case 3: compete<3>(tile, kThreads, part, pairs, first, margin, contest); break;
    case 5: compete<5>(tile, kThreads, part, pairs, first, margin, contest); break;
    case 7: compete<7>(tile, kThreads, part, pairs, first, margin, contest); break;
    case 10: compete<10>(tile, kThreads, part, pairs, first, margin, contest); break;
    case 13: compete<13>(tile, kThreads, part, pairs, first, margin, contest); break;
    default: compete<15>(tile, kThreads, part, pairs, first, margin, contest);
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
      const Step& step = exact.cells.steps[exact.columns[at]];
      const double x = place_of(cell_of(exact.cells, row, step), exact.cells, row, step);
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

#ifndef EMULATED
// To the chip, without waiting for it.
__device__ __forceinline__ void fetch(float4* to, const float4* from) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

__device__ __forceinline__ void wait_for_fetched() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#endif

// Labels of a piece: labels[number of the tree * label_pitch + row]; grid: (groups, rows). The rows' columns that a
// group needs are on the chip, and so are as many records of its trees as fit beside them into `chip_floats`: all, but
// of very large trees. `unsure` counts the labels that float64 had to decide.
extern "C" __global__ void __launch_bounds__(kThreads, 4)
    label_rows(const REAL* x, i64 row_step, i64 column_step, const Step* steps, const double2* knots, const int* before,
               const Term* terms, const float* narrow, i64 pitch, int rows, const Group* groups,
               const int* group_columns, const float* group_units, const Tree* trees, const int* columns,
               const float* records, const double* first, const double* second, const double* root,
               const double* centers, LABEL* labels, i64 label_pitch, int chip_floats, u64* unsure) {
  extern __shared__ float4 shared[];
  const Group group = groups[blockIdx.x];
  const int row = kRows * (blockIdx.y * kThreads + threadIdx.x);
  const float4* here = reinterpret_cast<const float4*>(narrow + min(static_cast<i64>(row), pitch - kRows));
  float4* tile = shared + threadIdx.x;  // [column][thread]
  float* room = reinterpret_cast<float*>(shared + group.count * kThreads);
  const int listed = groups[blockIdx.x + 1].columns - group.columns;
  const float* all = records + trees[group.begin].records;
  i64 next = 0, held = 0, until = 0;  // the part at hand, and what is on the chip of the group's records
  const auto hold_next = [&] {
    held = next, until = min(next + chip_floats - group.count * kThreads * kRows, static_cast<i64>(group.floats));
    for (int i = 4 * threadIdx.x; i < until - held; i += 4 * kThreads)
      fetch(reinterpret_cast<float4*>(room + i), reinterpret_cast<const float4*>(all + held + i));
  };
  if (group.count) {
    hold_next();
#pragma unroll 4
    for (int i = 0; i < listed; ++i)
      fetch(tile + i * kThreads, here + group_columns[group.columns + i] * (pitch / kRows));
    wait_for_fetched();
  }
  float length[kRows] = {};  // sums of the coordinates' magnitudes
#pragma unroll 4
  for (int i = 0; i < listed; ++i) {
    const float4 four = group.count ? tile[i * kThreads] : here[group_columns[group.columns + i] * (pitch / kRows)];
    const float unit = group_units[group.columns + i];
    length[0] = __fmaf_rn(fabsf(four.x), unit, length[0]), length[1] = __fmaf_rn(fabsf(four.y), unit, length[1]);
    length[2] = __fmaf_rn(fabsf(four.z), unit, length[2]), length[3] = __fmaf_rn(fabsf(four.w), unit, length[3]);
  }
  __syncthreads();
  LABEL* own = labels + row;
  const u64 steps_of_bytes = reinterpret_cast<u64>(own) | label_pitch * sizeof(LABEL);
  const bool together = row + kRows <= rows && steps_of_bytes % sizeof(Few) == 0;
  for (int t = group.begin; t < group.end; ++t) {
    const Tree& tree = trees[t];
    const int pairs = tree.pairs, part = tree.part, parts = tree.parts, size = (1 + 2 * pairs) * record_floats(part);
    Contest contest;
    float margin[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      margin[i] = __fmaf_rn(length[i], __fmaf_rn(length[i], tree.margin[2], tree.margin[1]), tree.margin[0]);
    for (int p = 0; p < parts; ++p, next += size) {
      if (group.count == 0) {  // such trees have parts of 15
        compete<15>(here, pitch / kRows, all + next, pairs, p * part, margin, contest);
        continue;
      }
      if (next + size > until) {
        __syncthreads();
        hold_next();
        wait_for_fetched();
        __syncthreads();
      }
      search(tile, room + (next - held), pairs, part, p * part, margin, contest);
    }
    int (&label)[kRows] = contest.label;
    if (__any_sync(~0u, (label[0] | label[1] | label[2] | label[3]) < 0)) {
      const Cells cells = {x, row_step, column_step, steps, knots, before, terms};
      const Exact exact = {cells, columns, first, second, root, centers};
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        for (unsigned open = __ballot_sync(~0u, label[i] < 0 && row + i < rows); open; open &= open - 1) {
          const int lane = __ffs(open) - 1;
          const int found = exact_nearest(exact, __shfl_sync(~0u, row + i, lane), tree);
          if (threadIdx.x % 32 == lane) label[i] = found, atomicAdd(unsure, 1ull);
        }
    }
    LABEL* to = own + tree.number * label_pitch;
    if (together) {
      Few few;
#pragma unroll
      for (int i = 0; i < kRows; ++i) few.of[i] = static_cast<LABEL>(label[i]);
      *reinterpret_cast<Few*>(to) = few;
    } else {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        if (row + i < rows) to[i] = static_cast<LABEL>(label[i]);
    }
  }
}
