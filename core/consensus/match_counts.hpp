// In how many members a row shares its label with each column, from bit rows (see label_bits.hpp): the bits of many
// columns are added at once by logical operations. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

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

}  // namespace
}  // namespace CF_ISA
