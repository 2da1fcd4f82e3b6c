// Where rows go by their labels: products of W, which is never stored, with vectors, and what follows from them.

constexpr int kWarps = 8;       // of a block
constexpr int kVoters = 4;      // rows of a warp
constexpr int kMembers = 128;   // trees whose labels are on chip at a time
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

// lines[t * kRowsOfBlock + row]: the bit row that a row's label in tree t chooses.
constexpr int kRowsOfBlock = kWarps * kVoters;

// out[v][row] = common * sum of vector v + sum over the nodes j of table[matches of row and j] * vectors[v][j].
// bits[line][words]: which nodes have that label in that tree. vectors are laid out [word / 32][bit][v][word % 32].
template <int Vectors>
__device__ void vote(const LABEL* labels, i64 label_pitch, i64 rows, int members, const int* first,
                     const unsigned* bits, int words, const double* table, const double* vectors, const double* base,
                     double* out) {
  __shared__ int lines[kMembers * kRowsOfBlock];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const i64 start = blockIdx.x * static_cast<i64>(kRowsOfBlock);
  double total[kVoters][Vectors] = {};
  for (int word = lane; word < words; word += 32) {
    unsigned planes[kVoters][kPlanes] = {};
    for (int t0 = 0; t0 < members; t0 += kMembers) {
      const int some = min(kMembers, members - t0), padded = (some + 7) / 8 * 8;
      __syncthreads();
      for (int i = threadIdx.x; i < padded * kRowsOfBlock; i += blockDim.x) {
        const int t = t0 + i / kRowsOfBlock;
        const i64 row = start + i % kRowsOfBlock;
        // Of what is no tree or no row the first line, which has no bits.
        lines[i] = i < some * kRowsOfBlock && row < rows ? (first[t] + labels[t * label_pitch + row]) * words : 0;
      }
      __syncthreads();
      for (int t = 0; t < padded; t += 8)
#pragma unroll
        for (int i = 0; i < kVoters; ++i) {
          const int* line = lines + t * kRowsOfBlock + warp * kVoters + i;
          unsigned row[8];
#pragma unroll
          for (int l = 0; l < 8; ++l) row[l] = bits[line[l * kRowsOfBlock] + word];
          unsigned* p = planes[i];
          const unsigned two_a = add_bits(p[0], row[0], row[1]), two_b = add_bits(p[0], row[2], row[3]);
          const unsigned four_a = add_bits(p[1], two_a, two_b);
          const unsigned two_c = add_bits(p[0], row[4], row[5]), two_d = add_bits(p[0], row[6], row[7]);
          const unsigned four_b = add_bits(p[1], two_c, two_d);
          ripple<3>(p, add_bits(p[2], four_a, four_b));
        }
    }
#pragma unroll
    for (int i = 0; i < kVoters; ++i)
      for (int half = 0; half < COUNT_BYTES; ++half) transpose(planes[i] + 8 * half);
    const double* own = vectors + (word / 32) * 1024ll * Vectors + lane;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        double weight[kVoters];
#pragma unroll
        for (int i = 0; i < kVoters; ++i) {
          unsigned count = planes[i][k] >> 8 * q & 255u;
          if (COUNT_BYTES == 2) count |= (planes[i][kPlanes - 8 + k] >> 8 * q & 255u) << 8;
          weight[i] = table[count];
        }
#pragma unroll
        for (int v = 0; v < Vectors; ++v) {
          const double x = own[((8 * q + k) * Vectors + v) * 32];
#pragma unroll
          for (int i = 0; i < kVoters; ++i) total[i][v] = __fma_rn(weight[i], x, total[i][v]);
        }
      }
  }
#pragma unroll
  for (int i = 0; i < kVoters; ++i)
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      double sum = total[i][v];
      for (int apart = 16; apart; apart /= 2) sum += __shfl_xor_sync(~0u, sum, apart);
      const i64 row = start + warp * kVoters + i;
      if (lane == 0 && row < rows) out[v * rows + row] = base[v] + sum;
    }
}

#define VOTES(N)                                                                                                      \
  extern "C" __global__ void __launch_bounds__(32 * kWarps)                                                           \
      votes_##N(const LABEL* labels, i64 label_pitch, i64 rows, int members, const int* first, const unsigned* bits,  \
                int words, const double* table, const double* vectors, const double* base, double* out) {             \
    vote<N>(labels, label_pitch, rows, members, first, bits, words, table, vectors, base, out);                       \
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

// The group with the most votes: `placement.MostLinked`.
extern "C" __global__ void most_linked_rows(const double* votes, i64 rows, int groups, int* out) {
  const i64 r = blockIdx.x * static_cast<i64>(blockDim.x) + threadIdx.x;
  if (r >= rows) return;
  int best = 0;
  for (int g = 1; g < groups; ++g)
    if (votes[g * rows + r] > votes[best * rows + r]) best = g;
  out[r] = best;
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
