// Sixteen virtual lanes, whatever the register width.
//
// Every instruction set executes the same IEEE operations in the same order, lane by lane, so results are equal
// bit for bit. The one exception is multiply_add. With CF_PORTABLE_LANES (and on compilers without vector extensions)
// a register is one scalar. Included once per instruction set, in a namespace of its own: nothing here may have
// external linkage.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__x86_64__) && !defined(CF_PORTABLE_LANES)
#include <immintrin.h>
#endif

namespace CF_ISA {
namespace {

constexpr int kLanes = 16;

#if defined(__GNUC__)
#define CF_INLINE __attribute__((always_inline))
#else
#define CF_INLINE
#endif

// Call f(0), f(1), ..., f(N - 1), unrolled. With N = 0, call f(0), ..., f(count - 1) in a loop.
template <class F, int... I>
CF_INLINE inline void expand(const F& f, std::integer_sequence<int, I...>) {
  (f(I), ...);
}
template <int N, class F>
CF_INLINE inline void times(int count, const F& f) {
  if constexpr (N > 0)
    expand(f, std::make_integer_sequence<int, N>{});
  else
    for (int i = 0; i < count; ++i) f(i);
}

#if defined(CF_PORTABLE_LANES) || !defined(__GNUC__)
template <class T>
struct Register {
  using type = T;
  static constexpr int width = 1;
};
#else
#if defined(__AVX512F__)
#define CF_REGISTER_BYTES 64
#elif defined(__AVX2__)
#define CF_REGISTER_BYTES 32
#else
#define CF_REGISTER_BYTES 16
#endif
template <class T>
struct Register {
  typedef T type __attribute__((vector_size(CF_REGISTER_BYTES)));
  static constexpr int width = CF_REGISTER_BYTES / sizeof(T);
};
#endif

template <class T>
struct Lanes {
  using Part = typename Register<T>::type;
  static constexpr int width = Register<T>::width;
  static constexpr int parts = kLanes / width;
  Part v[parts];

  static Lanes load(const T* from) {
    Lanes out;  // unrolled: in a loop, compilers may copy it through memory in halves
    times<parts>(parts, [&](int i) CF_INLINE { std::memcpy(&out.v[i], from + i * width, sizeof(Part)); });
    return out;
  }
  static Lanes all(T value) {
    Lanes out;
    for (int i = 0; i < parts; ++i) out.v[i] = value - Part{};
    return out;
  }
  void store(T* to) const {
    for (int i = 0; i < parts; ++i) std::memcpy(to + i * width, &v[i], sizeof(Part));
  }
};

using Float = Lanes<float>;
using Double = Lanes<double>;
using Int = Lanes<int32_t>;

template <class T>
using PartMask = decltype(typename Lanes<T>::Part{} < typename Lanes<T>::Part{});
template <class T>
struct Mask {
  PartMask<T> v[Lanes<T>::parts];
};

#define CF_LANEWISE(RESULT, NAME, OP)                                      \
  template <class T>                                                       \
  inline RESULT NAME(const Lanes<T>& a, const Lanes<T>& b) {               \
    RESULT out;                                                            \
    for (int i = 0; i < Lanes<T>::parts; ++i) out.v[i] = a.v[i] OP b.v[i]; \
    return out;                                                            \
  }
CF_LANEWISE(Lanes<T>, operator+, +)
CF_LANEWISE(Lanes<T>, operator-, -)
CF_LANEWISE(Lanes<T>, operator*, *)
CF_LANEWISE(Lanes<T>, operator/, /)
CF_LANEWISE(Lanes<T>, operator&, &)
CF_LANEWISE(Lanes<T>, operator|, |)
CF_LANEWISE(Lanes<T>, operator^, ^)
CF_LANEWISE(Mask<T>, operator<, <)
CF_LANEWISE(Mask<T>, operator==, ==)
#undef CF_LANEWISE

template <class T, class M>
inline Lanes<T> select(const M& mask, const Lanes<T>& yes, const Lanes<T>& no) {
  Lanes<T> out;
  for (int i = 0; i < Lanes<T>::parts; ++i) out.v[i] = mask.v[i] ? yes.v[i] : no.v[i];
  return out;
}

// x * y + z with one rounding or two, as is fastest: for scores that decide only what either rounding would decide.
CF_INLINE inline Float multiply_add(const Float& x, const Float& y, const Float& z) {
#if defined(__FMA__) && CF_REGISTER_BYTES == 64
  return {{(Float::Part)_mm512_fmadd_ps((__m512)x.v[0], (__m512)y.v[0], (__m512)z.v[0])}};
#elif defined(__FMA__) && CF_REGISTER_BYTES == 32
  const auto part = [&](int i) { return (Float::Part)_mm256_fmadd_ps((__m256)x.v[i], (__m256)y.v[i], (__m256)z.v[i]); };
  return {{part(0), part(1)}};
#else
  return z + x * y;
#endif
}

// The smaller and the larger of two numbers; the second one if either is NaN.
CF_INLINE inline Float smaller(const Float& a, const Float& b) {
#if CF_REGISTER_BYTES == 64
  return {{(Float::Part)_mm512_min_ps((__m512)a.v[0], (__m512)b.v[0])}};
#else
  return select(a < b, a, b);
#endif
}
CF_INLINE inline Float larger(const Float& a, const Float& b) {
#if CF_REGISTER_BYTES == 64
  return {{(Float::Part)_mm512_max_ps((__m512)a.v[0], (__m512)b.v[0])}};
#else
  return select(b < a, a, b);
#endif
}

inline int lowest_bit(uint32_t bits) {
#if defined(__GNUC__)
  return __builtin_ctz(bits);
#else
  int i = 0;
  while (!(bits >> i & 1)) ++i;
  return i;
#endif
}

// Set bit i where lane i is not zero.
inline uint32_t nonzero(const Int& a) {
  uint32_t bits = 0;
  for (int i = 0; i < Int::parts; ++i) {
#if defined(CF_PORTABLE_LANES) || !defined(__SSE2__)
    int32_t lane[Int::width];
    std::memcpy(lane, &a.v[i], sizeof lane);
    for (int j = 0; j < Int::width; ++j) bits |= static_cast<uint32_t>(lane[j] != 0) << (i * Int::width + j);
#elif defined(__AVX512F__)
    bits = _mm512_test_epi32_mask((__m512i)a.v[i], (__m512i)a.v[i]);
#elif defined(__AVX2__)
    const Int::Part set = a.v[i] != 0;
    bits |= static_cast<uint32_t>(_mm256_movemask_ps((__m256)set)) << (8 * i);
#else
    const Int::Part set = a.v[i] != 0;
    bits |= static_cast<uint32_t>(_mm_movemask_ps((__m128)set)) << (4 * i);
#endif
  }
  return bits;
}

// Load table[index[i]] into lane i, one after the other: gather instructions were no faster, or far slower.
template <class Index>
inline Double lanes_of(const double* table, const Index* index) {
  Double out;
  for (int i = 0; i < Double::parts; ++i) {
    const Index* at = index + i * Double::width;
    if constexpr (Double::width == 8)
      out.v[i] = Double::Part{table[at[0]], table[at[1]], table[at[2]], table[at[3]],
                              table[at[4]], table[at[5]], table[at[6]], table[at[7]]};
    else if constexpr (Double::width == 4)
      out.v[i] = Double::Part{table[at[0]], table[at[1]], table[at[2]], table[at[3]]};
    else if constexpr (Double::width == 2)
      out.v[i] = Double::Part{table[at[0]], table[at[1]]};
    else
      out.v[i] = table[at[0]];
  }
  return out;
}

// Add the upper half of 2 N lanes to the lower one.
template <int N, class T>
CF_INLINE inline void halve(T* lane) {
#if defined(CF_PORTABLE_LANES) || !defined(__GNUC__)
  for (int i = 0; i < N; ++i) lane[i] += lane[i + N];
#else
  typedef T Half __attribute__((vector_size(N * sizeof(T))));
  Half low, high;
  std::memcpy(&low, lane, sizeof low);
  std::memcpy(&high, lane + N, sizeof high);
  low += high;
  std::memcpy(lane, &low, sizeof low);
#endif
}

// Add up all lanes, halving their number each time, in the same order in every build.
template <class T>
inline T sum(const Lanes<T>& a) {
  T lane[kLanes];
  a.store(lane);
  halve<8>(lane);
  halve<4>(lane);
  halve<2>(lane);
  return lane[0] + lane[1];
}

}  // namespace
}  // namespace CF_ISA
