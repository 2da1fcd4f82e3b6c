// The nearest centre of each row in each tree: in float32 where that cannot be wrong, in float64 otherwise.
// LABEL is the type of the labels.

constexpr int kThreads = 256;
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
  int number, unused;
};

// What the exact comparison needs of all trees.
struct Trees {
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

// What the search needs of a tree, in shared memory if it fits. `tile` is room for a thread's rows, or null.
struct Field {
  const int* columns;
  const float* unit;
  const float* ahead;
  const float* offset;
  float4* tile;
};

// Scores of a group of centres: x.c - |c|^2 / 2, less that of the first centre. With the first group the rows' lengths
// are taken, and the rows go to the tile for the other groups.
template <int Group, bool First>
__device__ void compete(const float* narrow, i64 pitch, const Field& field, int width, int group, Contest& contest) {
  const float* ahead = field.ahead + group * kGroup * width;
  const float* offset = field.offset + group * kGroup;
  const int first = group * Group;
  float score[kRows][Group];
  for (int b = 0; b < Group; ++b)
    for (int i = 0; i < kRows; ++i) score[i][b] = offset[b];
#pragma unroll 2
  for (int j = 0; j < width; ++j) {
    const float4 x = !First && field.tile ? field.tile[j * kThreads]
                                          : *reinterpret_cast<const float4*>(narrow + field.columns[j] * pitch);
    if (First) {
      if (field.tile) field.tile[j * kThreads] = x;
      const float unit = field.unit[j];
      contest.length[0] = __fmaf_rn(fabsf(x.x), unit, contest.length[0]);
      contest.length[1] = __fmaf_rn(fabsf(x.y), unit, contest.length[1]);
      contest.length[2] = __fmaf_rn(fabsf(x.z), unit, contest.length[2]);
      contest.length[3] = __fmaf_rn(fabsf(x.w), unit, contest.length[3]);
    }
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

template <int Group>
__device__ void search(const float* narrow, i64 pitch, const Field& field, int width, int groups, Contest& contest) {
  compete<Group, true>(narrow, pitch, field, width, 0, contest);
  for (int g = 1; g < groups; ++g) compete<Group, false>(narrow, pitch, field, width, g, contest);
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

__device__ void copy(float*& to, const float*& from, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
  from = to;
  to += count;
}

// Labels of a piece: labels[number of the tree * label_pitch + row]; grid: (rows, groups of trees). The trees of a group
// have columns in common, which are then in the cache. `unsure` counts the labels that float64 had to decide.
extern "C" __global__ void __launch_bounds__(kThreads, 3)
    label_rows(const float* narrow, const double* exact, i64 pitch, int rows, const Tree* each, const int* columns,
               const float* units, const float* ahead, const float* offsets, const double* firsts,
               const double* seconds, const double* roots, const double* centers, int count, int per_block,
               LABEL* labels, i64 label_pitch, int shared_floats, u64* unsure) {
  extern __shared__ float4 room[];
  const Trees trees = {columns, firsts, seconds, roots, centers};
  const i64 row = kRows * (blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x);
  const int begin = blockIdx.y * per_block, end = min(count, begin + per_block);
  for (int t = begin; t < end; ++t) {
    const Tree tree = each[t];
    const int width = tree.width, padded = tree.groups * kGroup;
    const int tile = tree.groups > 1 ? kRows * kThreads * width : 0;
    Field field = {columns + tree.columns, units + tree.columns, ahead + tree.ahead, offsets + tree.offset, nullptr};
    __syncthreads();
    if (tile + padded * (width + 1) + 2 * width <= shared_floats) {
      if (tile) field.tile = room + threadIdx.x;
      float* to = reinterpret_cast<float*>(room) + tile;
      copy(to, field.ahead, padded * width);
      copy(to, field.offset, padded);
      copy(to, field.unit, width);
      int* kept = reinterpret_cast<int*>(to);
      for (int j = threadIdx.x; j < width; j += blockDim.x) kept[j] = field.columns[j];
      field.columns = kept;
    }
    __syncthreads();
    if (row >= rows) continue;
    Contest contest;
    for (int i = 0; i < kRows; ++i)
      contest.length[i] = 0, contest.best[i] = contest.second[i] = kLowest, contest.label[i] = 0;
    switch (tree.group) {
      case 1: search<1>(narrow + row, pitch, field, width, tree.groups, contest); break;
      case 2: search<2>(narrow + row, pitch, field, width, tree.groups, contest); break;
      case 3: search<3>(narrow + row, pitch, field, width, tree.groups, contest); break;
      case 4: search<4>(narrow + row, pitch, field, width, tree.groups, contest); break;
      case 5: search<5>(narrow + row, pitch, field, width, tree.groups, contest); break;
      case 6: search<6>(narrow + row, pitch, field, width, tree.groups, contest); break;
      case 7: search<7>(narrow + row, pitch, field, width, tree.groups, contest); break;
      default: search<8>(narrow + row, pitch, field, width, tree.groups, contest);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (row + i >= rows) break;
      const float error = contest.length[i] * tree.slope + tree.base;
      const float last_word = contest.length[i] * contest.length[i] * tree.rounding + tree.floor;
      int label = contest.label[i];
      if (!(contest.second[i] < contest.best[i] - (error + error) - last_word)) {
        label = exact_nearest(exact, pitch, row + i, tree, trees);
        atomicAdd(unsure, 1ull);
      }
      labels[tree.number * label_pitch + row + i] = static_cast<LABEL>(label);
    }
  }
}
