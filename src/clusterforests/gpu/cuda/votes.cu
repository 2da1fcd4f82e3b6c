// Where rows go by their labels: products of W, which is never stored, with vectors, and what follows from them.

constexpr int kThreads = 512;             // of a block, a row each
constexpr int kWords = 4;                 // of 32 nodes, whose bits are on the chip together
constexpr int kPlanes = 8 * COUNT_BYTES;  // bits of a count

__device__ unsigned add_bits(unsigned& total, unsigned b, unsigned c) {
  const unsigned odd = total ^ b, carry = (total & b) | (odd & c);
  total = odd ^ c;
  return carry;
}

template <int First>
__device__ void ripple(unsigned* planes, unsigned carry) {
#pragma unroll
  for (int p = First; p < kPlanes; ++p) {
    const unsigned up = planes[p] & carry;
    planes[p] ^= carry;
    carry = up;
  }
}

template <int Apart>
__device__ void exchange(unsigned* planes, unsigned kept) {
#pragma unroll
  for (int p = 0; p < 8; ++p) {
    if (p & Apart) continue;
    const unsigned moved = ((planes[p] >> Apart) ^ planes[p + Apart]) & kept;
    planes[p + Apart] ^= moved;
    planes[p] ^= moved << Apart;
  }
}

// In every byte, bit k of plane p and bit p of plane k change places.
__device__ void transpose(unsigned* planes) {
  exchange<4>(planes, 0x0f0f0f0fu);
  exchange<2>(planes, 0x33333333u);
  exchange<1>(planes, 0x55555555u);
}

// Add up, in every bit, the lines of eight trees.
__device__ void add_lines(unsigned* p, const unsigned* row) {
  const unsigned two_a = add_bits(p[0], row[0], row[1]), two_b = add_bits(p[0], row[2], row[3]);
  const unsigned four_a = add_bits(p[1], two_a, two_b);
  const unsigned two_c = add_bits(p[0], row[4], row[5]), two_d = add_bits(p[0], row[6], row[7]);
  const unsigned four_b = add_bits(p[1], two_c, two_d);
  ripple<3>(p, add_bits(p[2], four_a, four_b));
}

// Count for one row in how many trees it has the label of each node of some words. bits[line][words]: which nodes have
// that label in that tree. Trees come in parts whose lines a block keeps in its own memory, unless `local` is 0; a part
// has a whole number of eights, of which what is no tree has the empty line 0.
__device__ void count_matches(unsigned (*planes)[kPlanes], const LABEL* labels, i64 label_pitch, int members,
                              const int* first, const int* part_trees, const int* part_lines, int parts,
                              const uint4* bits, int words, int word, int local) {
  extern __shared__ uint4 tile[];
  for (int part = 0; part < parts; ++part) {
    const int begin = part_lines[part], count = part_lines[part + 1] - begin;
    if (local) {
      __syncthreads();
      for (int i = threadIdx.x; i <= count; i += blockDim.x)
        tile[i] = i ? bits[static_cast<i64>(begin + i - 1) * words + word] : make_uint4(0, 0, 0, 0);
      __syncthreads();
    }
    for (int t0 = part_trees[part]; t0 < part_trees[part + 1]; t0 += 8) {
      unsigned row[kWords][8];
#pragma unroll
      for (int l = 0; l < 8; ++l) {
        const int t = t0 + l;
        const int line = t < members ? first[t] + labels[t * label_pitch] : 0;
        const uint4 four = local ? tile[line ? line - begin + 1 : 0] : bits[static_cast<i64>(line) * words + word];
        row[0][l] = four.x, row[1][l] = four.y, row[2][l] = four.z, row[3][l] = four.w;
      }
#pragma unroll
      for (int w = 0; w < kWords; ++w) add_lines(planes[w], row[w]);
    }
  }
}

// The count of node 8 q + k of a word, after the planes were transposed.
__device__ unsigned count_of(const unsigned* planes, int k, int q) {
  const unsigned low = planes[k] >> 8 * q & 255u;
  return COUNT_BYTES == 2 ? low | (planes[kPlanes - 8 + k] >> 8 * q & 255u) << 8 : low;
}

// out[v][row] = common * sum of vector v + sum over the nodes j of table[matches of row and j] * vectors[j][v].
template <int Vectors>
__device__ void vote(const LABEL* labels, i64 label_pitch, i64 rows, int members, const int* first,
                     const int* part_trees, const int* part_lines, int parts, const uint4* bits, int words, int local,
                     const double* table, const double* vectors, const double* base, double* out) {
  const i64 row = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x, own = row < rows ? row : rows - 1;
  double total[Vectors] = {};
  for (int word = 0; word < words; ++word) {
    unsigned planes[kWords][kPlanes] = {};
    count_matches(planes, labels + own, label_pitch, members, first, part_trees, part_lines, parts, bits, words, word,
                  local);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      for (int half = 0; half < COUNT_BYTES; ++half) transpose(planes[w] + 8 * half);
      const double* node = vectors + static_cast<i64>(word * kWords + w) * 32 * Vectors;
#pragma unroll
      for (int k = 0; k < 8; ++k)
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          const double weight = table[count_of(planes[w], k, q)];
#pragma unroll
          for (int v = 0; v < Vectors; ++v) total[v] = __fma_rn(weight, node[(8 * q + k) * Vectors + v], total[v]);
        }
    }
  }
  if (row >= rows) return;
#pragma unroll
  for (int v = 0; v < Vectors; ++v) out[v * rows + row] = base[v] + total[v];
}

#define VOTES(N)                                                                                                       \
  extern "C" __global__ void __launch_bounds__(kThreads)                                                               \
      votes_##N(const LABEL* labels, i64 label_pitch, i64 rows, int members, const int* first, const int* part_trees,  \
                const int* part_lines, int parts, const uint4* bits, int words, int local, const double* table,        \
                const double* vectors, const double* base, double* out) {                                              \
    vote<N>(labels, label_pitch, rows, members, first, part_trees, part_lines, parts, bits, words, local, table,       \
            vectors, base, out);                                                                                       \
  }
VOTES(1) VOTES(2) VOTES(3) VOTES(4) VOTES(5) VOTES(6) VOTES(7) VOTES(8)

// The nearest of some centres among rows of votes, scaled to length 1: `placement.Embedding`.
extern "C" __global__ void embed_rows(const double* votes, i64 rows, int count, double length, const double* centers,
                                      int groups, int* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  const double root = sqrt(votes[r]);
  const auto entry = [&](int v) {
    return v == 0 ? root / length : root > 0 ? votes[v * rows + r] / root : 0.0;
  };
  double square = 0;
  for (int v = 0; v < count; ++v) square += entry(v) * entry(v);
  const double size = sqrt(square);
  int best = 0;
  double nearest = __longlong_as_double(0x7ff0000000000000ll);
  for (int g = 0; g < groups; ++g) {
    double apart = 0;
    for (int v = 0; v < count; ++v) {
      const double gap = (size > 0 ? entry(v) / size : 0.0) - centers[g * count + v];
      apart += gap * gap;
    }
    if (apart < nearest) nearest = apart, best = g;
  }
  out[r] = best;
}

// The group whose nodes are linked to the row most: `placement.MostLinked`. Nodes of a group are neighbours and fill
// whole words of 32; those that fill them up have no weight.
extern "C" __global__ void __launch_bounds__(kThreads)
    linked_rows(const LABEL* labels, i64 label_pitch, i64 rows, int members, const int* first, const int* part_trees,
                const int* part_lines, int parts, const uint4* bits, int words, int local, const double* table,
                const double* weights, const int* word_groups, const double* base, int* out) {
  const i64 row = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x, own = row < rows ? row : rows - 1;
  int group = word_groups[0], best = group;
  double sum = base[group], most = -1;
  for (int word = 0; word < words; ++word) {
    unsigned planes[kWords][kPlanes] = {};
    count_matches(planes, labels + own, label_pitch, members, first, part_trees, part_lines, parts, bits, words, word,
                  local);
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const int next = word_groups[word * kWords + w];
      if (next != group) {
        if (sum > most) most = sum, best = group;
        group = next, sum = base[group];
      }
      for (int half = 0; half < COUNT_BYTES; ++half) transpose(planes[w] + 8 * half);
      const double* weight = weights + static_cast<i64>(word * kWords + w) * 32;
#pragma unroll
      for (int k = 0; k < 8; ++k)
#pragma unroll
        for (int q = 0; q < 4; ++q) sum = __fma_rn(table[count_of(planes[w], k, q)], weight[8 * q + k], sum);
    }
  }
  if (sum > most) best = group;
  if (row < rows) out[row] = best;
}

// Down a tree of cuts by the signs of votes: `placement.Walk`.
extern "C" __global__ void walk_rows(const double* votes, i64 rows, const double* cutoffs, const int* children,
                                     int* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  int at = 0;
  while (at >= 0) {
    const double entry = votes[2 * at * rows + r], degree = votes[(2 * at + 1) * rows + r];
    const double z = degree > 0 ? entry / sqrt(degree) : 0.0;
    at = children[2 * at + (z >= cutoffs[at])];
  }
  out[r] = -1 - at;
}

// The group with the highest mean share: `placement.MostShared`. Every sum is over the trees in their order.
extern "C" __global__ void share_rows(const LABEL* labels, i64 label_pitch, i64 rows, int members, const i64* first,
                                      const double* together, const double* clustered, int groups, int* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  double most = -1;
  for (int g = 0; g < groups; ++g) {
    double shared = 0, both = 0;
    for (int t = 0; t < members; ++t) {
      const i64 last = first[t + 1] - first[t] - 2, label = labels[t * label_pitch + r];
      const i64 at = (first[t] + (label < last ? label : last)) * groups + g;
      shared += together[at];
      both += clustered[at];
    }
    const double share = both > 0 ? shared / both : 0.0;
    if (share > most) most = share, best = g;
  }
  out[r] = best;
}

// Give rows the names of their groups.
extern "C" __global__ void name_rows(const int* groups, i64 rows, const int* names, int* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r < rows) out[r] = names[groups[r]];
}

// Count the rows of each group and find its first. A block counts in its own memory if that has room: `local` is the
// number of groups then, and otherwise 0.
extern "C" __global__ void tally_rows(const int* groups, i64 rows, int local, u64* counts, u64* first) {
  extern __shared__ u64 own_first[];
  unsigned* own_count = reinterpret_cast<unsigned*>(own_first + local);
  for (int g = threadIdx.x; g < local; g += blockDim.x) own_first[g] = ~0ull, own_count[g] = 0;
  __syncthreads();
  u64* least = local ? own_first : first;
  const i64 step = gridDim.x * static_cast<i64>(blockDim.x);
  for (i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x; r < rows; r += step) {
    const int g = groups[r];
    if (local)
      atomicAdd(own_count + g, 1u);
    else
      atomicAdd(counts + g, 1ull);
    if (static_cast<u64>(r) < least[g]) atomicMin(least + g, static_cast<u64>(r));
  }
  __syncthreads();
  for (int g = threadIdx.x; g < local; g += blockDim.x)
    if (own_count[g]) atomicAdd(counts + g, static_cast<u64>(own_count[g])), atomicMin(first + g, own_first[g]);
}
