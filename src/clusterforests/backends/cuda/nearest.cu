// The nearest centre of each row in each tree: in float32 where that cannot be wrong, in float64 otherwise.
// LABEL is the type of the labels.

constexpr int kRows = 4;   // of a thread, side by side
constexpr int kGroup = 8;  // centres are padded so that they come in groups of up to so many
constexpr float kLowest = -3e38f;

// One tree: where its parts begin in the arrays of all trees. Centres are padded to `groups` times `group`.
struct Tree {
  i64 columns;  // `width` numbers of columns; at the same place their units, factors and roots
  i64 ahead;    // [group][column][kGroup]
  i64 offset;   // [group][kGroup]
  i64 centers;  // [centre][column]
  float slope, base, rounding, floor;
  int clusters, width, groups, group;
};

struct Trees {
  const Tree* each;
  const int* columns;
  const float* unit;
  const float* ahead;
  const float* offset;
  const double* first;
  const double* second;
  const double* root;
  const double* centers;
};

struct Contest {
  float best[kRows], second[kRows];
  int label[kRows];
};

// Scores of a group of centres: x.c - |c|^2 / 2, less that of the first centre.
template <int Group>
__device__ void compete(const float* narrow, i64 pitch, i64 row, const int* columns, int width, const float* ahead,
                        const float* offset, int first, Contest& contest) {
  float score[kRows][Group];
  for (int b = 0; b < Group; ++b)
    for (int i = 0; i < kRows; ++i) score[i][b] = offset[b];
  for (int j = 0; j < width; ++j) {
    const float4 x = *reinterpret_cast<const float4*>(narrow + columns[j] * pitch + row);
    const float4 low = *reinterpret_cast<const float4*>(ahead + j * kGroup);
    const float4 high = Group > 4 ? *reinterpret_cast<const float4*>(ahead + j * kGroup + 4) : low;
    const float center[kGroup] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int b = 0; b < Group; ++b) {
      score[0][b] = __fmaf_rn(x.x, center[b], score[0][b]);
      score[1][b] = __fmaf_rn(x.y, center[b], score[1][b]);
      score[2][b] = __fmaf_rn(x.z, center[b], score[2][b]);
      score[3][b] = __fmaf_rn(x.w, center[b], score[3][b]);
    }
  }
#pragma unroll
  for (int b = 0; b < Group; ++b)
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float s = score[i][b];
      const bool better = contest.best[i] < s;
      contest.second[i] = fmaxf(contest.second[i], fminf(contest.best[i], s));
      contest.best[i] = fmaxf(contest.best[i], s);
      contest.label[i] = better ? first + b : contest.label[i];
    }
}

// By direct distances, lowest index on ties.
__device__ __noinline__ int exact_nearest(const double* exact, i64 pitch, i64 row, const Tree& tree,
                                          const Trees& trees) {
  int label = 0;
  double best = __longlong_as_double(0x7ff0000000000000ll);
  for (int c = 0; c < tree.clusters; ++c) {
    double total = 0;
    for (int j = 0; j < tree.width; ++j) {
      const i64 at = tree.columns + j;
      const double x = exact[trees.columns[at] * pitch + row] * trees.first[at] * trees.second[at] * trees.root[at];
      const double gap = x - trees.centers[tree.centers + static_cast<i64>(c) * tree.width + j];
      total += gap * gap;
    }
    if (total < best) best = total, label = c;
  }
  return label;
}

// Labels of a piece: labels[tree * label_pitch + row]; grid: (rows, trees). A tree's centres are in shared memory if
// `shared_floats` of them fit. `unsure` counts the rows that float64 had to decide.
extern "C" __global__ void label_rows(const float* narrow, const double* exact, i64 pitch, int rows, const Tree* each,
                                      const int* all_columns, const float* all_units, const float* all_ahead,
                                      const float* all_offsets, const double* firsts, const double* seconds,
                                      const double* roots, const double* centers, LABEL* labels, i64 label_pitch,
                                      int shared_floats, u64* unsure) {
  extern __shared__ float4 room[];
  const Trees trees = {each, all_columns, all_units, all_ahead, all_offsets, firsts, seconds, roots, centers};
  const Tree tree = trees.each[blockIdx.y];
  const int width = tree.width, size = tree.groups * kGroup * width;
  const float* ahead = trees.ahead + tree.ahead;
  const float* offset = trees.offset + tree.offset;
  const int* columns = trees.columns + tree.columns;
  const float* unit = trees.unit + tree.columns;
  if (size <= shared_floats) {
    float* kept = reinterpret_cast<float*>(room);
    for (int i = threadIdx.x; i < size; i += blockDim.x) kept[i] = ahead[i];
    ahead = kept;
    __syncthreads();
  }
  const i64 row = kRows * (blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x);
  if (row >= rows) return;
  float length[kRows] = {0, 0, 0, 0};
  for (int j = 0; j < width; ++j) {
    const float4 x = *reinterpret_cast<const float4*>(narrow + columns[j] * pitch + row);
    length[0] = __fmaf_rn(fabsf(x.x), unit[j], length[0]);
    length[1] = __fmaf_rn(fabsf(x.y), unit[j], length[1]);
    length[2] = __fmaf_rn(fabsf(x.z), unit[j], length[2]);
    length[3] = __fmaf_rn(fabsf(x.w), unit[j], length[3]);
  }
  Contest contest;
  for (int i = 0; i < kRows; ++i) contest.best[i] = contest.second[i] = kLowest, contest.label[i] = 0;
  for (int g = 0; g < tree.groups; ++g) {
    const float* a = ahead + g * kGroup * width;
    const float* o = offset + g * kGroup;
    const int first = g * tree.group;
    switch (tree.group) {
      case 1: compete<1>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      case 2: compete<2>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      case 3: compete<3>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      case 4: compete<4>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      case 5: compete<5>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      case 6: compete<6>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      case 7: compete<7>(narrow, pitch, row, columns, width, a, o, first, contest); break;
      default: compete<8>(narrow, pitch, row, columns, width, a, o, first, contest);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    if (row + i >= rows) return;
    const float error = length[i] * tree.slope + tree.base;
    const float last_word = length[i] * length[i] * tree.rounding + tree.floor;
    const bool sure = contest.second[i] < contest.best[i] - (error + error) - last_word;
    int label = contest.label[i];
    if (!sure) {
      label = exact_nearest(exact, pitch, row + i, tree, trees);
      atomicAdd(unsure, 1ull);
    }
    labels[blockIdx.y * label_pitch + row + i] = static_cast<LABEL>(label);
  }
}
