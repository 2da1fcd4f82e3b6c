// In how many partitions rows share their label, and what is made of these counts: weights, products and votes.
//
// Labels are rows of bits (see LabelBits), one for each label of each partition. The counts of many columns are added
// at once by logical operations, with bit p of every count in plane p: positional population counts (Klarqvist, Muła &
// Lemire 2021). Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

// ---- Counts ----

using Bits = Register<uint64_t>::type;  // 64 columns in each word
constexpr int kWords = Register<uint64_t>::width;

inline Bits load_bits(const uint64_t* from) {
  Bits out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

// Add three bits in every position: total + b + c = 2 * carry + new total. Returns the carry.
inline Bits add_bits(Bits& total, Bits b, Bits c) {
#if defined(__AVX512F__) && !defined(CF_PORTABLE_LANES)
  const __m512i x = (__m512i)total, y = (__m512i)b, z = (__m512i)c;
  total = (Bits)_mm512_ternarylogic_epi64(x, y, z, 0x96);
  return (Bits)_mm512_ternarylogic_epi64(x, y, z, 0xE8);
#else
  const Bits odd = total ^ b, carry = (total & b) | (odd & c);
  total = odd ^ c;
  return carry;
#endif
}

// Add a carry to the counts in the planes First, ..., Last - 1.
template <int First, int Last>
CF_INLINE inline void ripple(Bits* planes, Bits carry) {
  times<Last - First>(Last - First, [&](int p) CF_INLINE {
    const Bits up = planes[First + p] & carry;
    planes[First + p] = planes[First + p] ^ carry;
    carry = up;
  });
}

// One step of `transpose`: exchange blocks of bits between planes that are `Apart` apart.
template <int Apart>
CF_INLINE inline void exchange(Bits* planes, uint64_t kept) {
  const Bits mask = kept - Bits{};
  times<8>(8, [&](int p) CF_INLINE {
    if (p & Apart) return;
    const Bits moved = ((planes[p] >> Apart) ^ planes[p + Apart]) & mask;
    planes[p + Apart] = planes[p + Apart] ^ moved;
    planes[p] = planes[p] ^ (moved << Apart);
  });
}

// In every byte, exchange bit k of plane p with bit p of plane k.
CF_INLINE inline void transpose(Bits* planes) {
  exchange<4>(planes, 0x0f0f0f0f0f0f0f0full);
  exchange<2>(planes, 0x3333333333333333ull);
  exchange<1>(planes, 0x5555555555555555ull);
}

// Add up the chosen bit rows, whose numbers are `step` apart: bit p of a column's count goes to plane p.
template <int Planes>
CF_INLINE inline void add_rows(const uint64_t* bits, int64_t words, const int32_t* chosen, int64_t step, int members,
                               Bits* planes) {
  const auto row = [&](int l) CF_INLINE { return load_bits(bits + static_cast<int64_t>(chosen[l * step]) * words); };
  int l = 0;
  for (; l + 8 <= members; l += 8) {
    const Bits two_a = add_bits(planes[0], row(l), row(l + 1));
    const Bits two_b = add_bits(planes[0], row(l + 2), row(l + 3));
    const Bits four_a = add_bits(planes[1], two_a, two_b);
    const Bits two_c = add_bits(planes[0], row(l + 4), row(l + 5));
    const Bits two_d = add_bits(planes[0], row(l + 6), row(l + 7));
    const Bits four_b = add_bits(planes[1], two_c, two_d);
    ripple<3, Planes>(planes, add_bits(planes[2], four_a, four_b));
  }
  for (; l < members; ++l) ripple<0, Planes>(planes, row(l));
}

// Set the bits of columns whose count is at least `lowest`: subtracting it leaves no borrow.
template <int Planes>
CF_INLINE inline Bits at_least(const Bits* planes, int lowest) {
  Bits borrow = Bits{};
  times<Planes>(Planes, [&](int p) CF_INLINE { borrow = lowest >> p & 1 ? ~planes[p] | borrow : ~planes[p] & borrow; });
  return ~borrow;
}

inline bool any(Bits bits) {
  uint64_t word[kWords], all = 0;
  std::memcpy(word, &bits, sizeof word);
  for (int i = 0; i < kWords; ++i) all |= word[i];
  return all != 0;
}

// See CountKernels::count_row.
template <class Count>
void count_row(const uint64_t* bits, int64_t words, const int32_t* chosen, int members, int64_t columns, int lowest,
               Count* out, uint64_t* high) {
  constexpr int kPlanes = 8 * sizeof(Count), kGroupWords = cf::kGroup / 64;
  for (int64_t start = 0, first = 0; start < columns; start += cf::kGroup, first += kGroupWords) {
    uint8_t bytes[sizeof(Count)][cf::kGroup];
    for (int w = 0; w < kGroupWords; w += kWords) {
      Bits planes[kPlanes];
      times<kPlanes>(kPlanes, [&](int p) CF_INLINE { planes[p] = Bits{}; });
      add_rows<kPlanes>(bits + first + w, words, chosen, 1, members, planes);
      const Bits reach = at_least<kPlanes>(planes, lowest);
      std::memcpy(high + first + w, &reach, sizeof reach);
      if (!any(reach)) {
        for (size_t half = 0; half < sizeof(Count); ++half)
          for (int p = 0; p < 8; ++p) std::memset(bytes[half] + 128 * p + 8 * w, 0, sizeof reach);
        continue;
      }
      for (size_t half = 0; half < sizeof(Count); ++half) {
        transpose(planes + 8 * half);
        for (int p = 0; p < 8; ++p) std::memcpy(bytes[half] + 128 * p + 8 * w, &planes[8 * half + p], sizeof reach);
      }
    }
    const int64_t live = columns - start < cf::kGroup ? columns - start : cf::kGroup;
    if constexpr (sizeof(Count) == 1)
      std::memcpy(out + start, bytes[0], live);
    else
      for (int64_t j = 0; j < live; ++j) out[start + j] = static_cast<Count>(bytes[0][j] | bytes[1][j] << 8);
  }
}

// ---- Products ----

// See CountKernels::look_up.
template <class Count>
void look_up(const Count* counts, int64_t n, const double* table, double* out) {
  const int64_t whole = n - n % kLanes;
  for (int64_t j = 0; j < whole; j += kLanes) lanes_of(table, counts + j).store(out + j);
  for (int64_t j = whole; j < n; ++j) out[j] = table[counts[j]];
}

template <class Count, int V>
void few_products(const Count* counts, int64_t n, const double* table, int lowest, const double* vectors, double* out) {
  Double total[V];
  times<V>(V, [&](int v) CF_INLINE { total[v] = Double::all(0); });
  for (int64_t j = 0; j < n; j += cf::kStride) {
    Count most = 0;
    for (int i = 0; i < cf::kStride; ++i) most = counts[j + i] > most ? counts[j + i] : most;
    if (most < lowest) continue;
    for (int64_t i = j; i < j + cf::kStride; i += kLanes) {
      const Double weight = lanes_of(table, counts + i);
      times<V>(V, [&](int v) CF_INLINE { total[v] = total[v] + weight * Double::load(vectors + v * n + i); });
    }
  }
  for (int v = 0; v < V; ++v) out[v] = sum(total[v]);
}

// See CountKernels::products.
template <class Count>
void count_products(const Count* counts, int64_t n, const double* table, int lowest, const double* vectors, int count,
                    double* out) {
  for (; count >= 4; count -= 4, vectors += 4 * n, out += 4)
    few_products<Count, 4>(counts, n, table, lowest, vectors, out);
  if (count == 3) few_products<Count, 3>(counts, n, table, lowest, vectors, out);
  if (count == 2) few_products<Count, 2>(counts, n, table, lowest, vectors, out);
  if (count == 1) few_products<Count, 1>(counts, n, table, lowest, vectors, out);
}

// V numbers side by side, one of each vector.
#if defined(CF_PORTABLE_LANES) || !defined(__GNUC__)
template <int V>
struct Few {
  double v[V];
  Few operator+(const Few& other) const {
    Few out;
    for (int i = 0; i < V; ++i) out.v[i] = v[i] + other.v[i];
    return out;
  }
  friend Few operator*(double weight, const Few& few) {
    Few out;
    for (int i = 0; i < V; ++i) out.v[i] = weight * few.v[i];
    return out;
  }
};
#else
template <int V>
struct FewLanes {
  typedef double type __attribute__((vector_size(8 * V)));
};
template <>
struct FewLanes<1> {
  using type = double;
};
template <int V>
using Few = typename FewLanes<V>::type;
#endif

// Every fourth entry is added to the same one of four sums. The vectors are interleaved: vectors[column][V].
template <class Count, int V>
void few_entry_products(const uint16_t* at, const Count* counts, int64_t n, const double* table, const double* vectors,
                        double* out) {
  Few<V> total[4] = {};
  const auto add = [&](int into, int64_t e) CF_INLINE {
    Few<V> x;
    std::memcpy(&x, vectors + static_cast<int64_t>(at[e]) * V, sizeof x);
    total[into] = total[into] + table[counts[e]] * x;
  };
  int64_t e = 0;
  for (; e + 4 <= n; e += 4) times<4>(4, [&](int i) CF_INLINE { add(i, e + i); });
  for (int i = 0; e < n; ++e, ++i) add(i, e);
  const Few<V> all = (total[0] + total[1]) + (total[2] + total[3]);
  std::memcpy(out, &all, sizeof all);
}

// See CountKernels::entry_products.
template <class Count>
void entry_products(const uint16_t* at, const Count* counts, int64_t n, const double* table, const double* vectors,
                    int count, double* out) {
  if (count == 1) few_entry_products<Count, 1>(at, counts, n, table, vectors, out);
  if (count == 2) few_entry_products<Count, 2>(at, counts, n, table, vectors, out);
  if (count == 4) few_entry_products<Count, 4>(at, counts, n, table, vectors, out);
  if (count == 8) few_entry_products<Count, 8>(at, counts, n, table, vectors, out);
}

// See Kernels::row_products.
void row_products(const double* row, int64_t n, const double* vectors, int count, double* out) {
  const int64_t whole = n - n % kLanes;
  for (int v = 0; v < count; ++v) {
    const double* x = vectors + v * n;
    Double total = Double::all(0);
    for (int64_t j = 0; j < whole; j += kLanes) total = total + Double::load(row + j) * Double::load(x + j);
    double rest = 0;
    for (int64_t j = whole; j < n; ++j) rest += row[j] * x[j];
    out[v] = sum(total) + rest;
  }
}

// ---- Votes ----

// The powers of sixteen counts.
CF_INLINE inline Float powers(const cf::NodeBlock& nodes, const uint8_t* counts) {
  Float out;
#if defined(__AVX512F__) && !defined(CF_PORTABLE_LANES)
  __m128i bytes;
  std::memcpy(&bytes, counts, sizeof bytes);
  const __m512i count = _mm512_cvtepu8_epi32(bytes);  // the permutations use its lowest four bits
  const __m512 high = _mm512_permutexvar_ps(_mm512_srli_epi32(count, 4), _mm512_loadu_ps(nodes.high));
  out.v[0] = (Float::Part)_mm512_mul_ps(high, _mm512_permutexvar_ps(count, _mm512_loadu_ps(nodes.low)));
#else
  float power[kLanes];
  for (int i = 0; i < kLanes; ++i) power[i] = nodes.power[counts[i]];
  out = Float::load(power);
#endif
  return out;
}

// See Kernels::find_lines.
template <class Label>
void find_lines(const Label* labels, int64_t rows, int32_t first, int32_t count, int32_t* __restrict lines,
                int32_t* __restrict lowest) {
  for (int64_t r = 0; r < rows; ++r) {
    const int32_t label = labels[r];
    lowest[r] = label < lowest[r] ? label : lowest[r];
    lines[r] = static_cast<uint32_t>(label) < static_cast<uint32_t>(count) ? first + label : 0;
  }
}

// See Kernels::vote.
void vote(const cf::NodeBlock& nodes, const int32_t* lines, int members, int64_t rows, int64_t step, float* votes) {
  for (int64_t r = 0; r < rows; ++r, ++lines, votes += step) {
    uint8_t counts[cf::kNodeBlock];
    for (int w = 0; w < cf::kNodeWords; w += kWords) {
      Bits planes[8];
      times<8>(8, [&](int p) CF_INLINE { planes[p] = Bits{}; });
      add_rows<8>(nodes.bits + w, cf::kNodeWords, lines, cf::kVoters, members, planes);
      transpose(planes);
      for (int p = 0; p < 8; ++p) std::memcpy(counts + 64 * p + 8 * w, &planes[p], sizeof planes[p]);
    }
    for (int i = 0; i < nodes.count; ++i) {
      const cf::GroupRun& run = nodes.runs[i];
      Float total = Float::load(votes + static_cast<int64_t>(run.group) * kLanes);
      for (int at = run.begin; at < run.end; at += kLanes)
        total = multiply_add(powers(nodes, counts + at), Float::load(nodes.weights + at), total);
      total.store(votes + static_cast<int64_t>(run.group) * kLanes);
    }
  }
}

}  // namespace
}  // namespace CF_ISA
