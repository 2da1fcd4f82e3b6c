// Match counts from one-hot bit rows, and products with rows of W. Included per instruction set.
#pragma once
#include "kernels.hpp"
#include "lanes.hpp"

namespace CF_ISA {
namespace {

using Bits = Lanes<uint64_t>;  // 1024 columns at a time

// A full adder on every bit: total + b + c becomes 2 * carry + total. Returns the carry.
inline Bits add_bits(Bits& total, const Bits& b, const Bits& c) {
  const Bits odd = total ^ b, carry = (total & b) | (odd & c);
  total = odd ^ c;
  return carry;
}

inline void ripple(Bits* planes, int first, int last, Bits carry) {
  for (int p = first; p < last; ++p) {
    const Bits up = planes[p] & carry;
    planes[p] = planes[p] ^ carry;
    carry = up;
  }
}

// The low eight bits as eight bytes of 0 or 1, the first bit in the highest byte.
inline uint64_t spread(uint64_t bits) { return (((bits & 255) * 0x8040201008040201ull) >> 7) & 0x0101010101010101ull; }

void count_row(const uint64_t* bits, int64_t words, const int32_t* chosen, int members, int64_t columns,
               const double* table, double* out) {
  constexpr int kPlanes = 16;
  int used = 3;
  while ((members >> used) != 0) ++used;
  for (int64_t w = 0; w < words; w += kLanes) {
    Bits planes[kPlanes];
    for (int p = 0; p < used; ++p) planes[p] = Bits::all(0);
    const auto row = [&](int l) { return Bits::load(bits + static_cast<int64_t>(chosen[l]) * words + w); };
    int l = 0;
    for (; l + 8 <= members; l += 8) {
      const Bits two_a = add_bits(planes[0], row(l), row(l + 1));
      const Bits two_b = add_bits(planes[0], row(l + 2), row(l + 3));
      const Bits four_a = add_bits(planes[1], two_a, two_b);
      const Bits two_c = add_bits(planes[0], row(l + 4), row(l + 5));
      const Bits two_d = add_bits(planes[0], row(l + 6), row(l + 7));
      const Bits four_b = add_bits(planes[1], two_c, two_d);
      ripple(planes, 3, used, add_bits(planes[2], four_a, four_b));
    }
    for (; l < members; ++l) ripple(planes, 0, used, row(l));
    uint64_t plane[kPlanes][kLanes];
    for (int p = 0; p < used; ++p) planes[p].store(plane[p]);
    const int64_t first = w * 64, end = columns < first + kLanes * 64 ? columns : first + kLanes * 64;
    for (int64_t j = first; j < end; j += 8) {
      const int64_t word = (j - first) / 64, shift = (j - first) % 64;
      uint64_t low = 0, high = 0;
      for (int p = 0; p < used && p < 8; ++p) low |= spread(plane[p][word] >> shift) << p;
      for (int p = 8; p < used; ++p) high |= spread(plane[p][word] >> shift) << (p - 8);
      const int live = end - j < 8 ? static_cast<int>(end - j) : 8;
      for (int i = 0; i < live; ++i)
        out[j + i] = table[((low >> (56 - 8 * i)) & 255) | (((high >> (56 - 8 * i)) & 255) << 8)];
    }
  }
}

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

}  // namespace
}  // namespace CF_ISA
