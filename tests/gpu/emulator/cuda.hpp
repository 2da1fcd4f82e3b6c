// CUDA C++ for a C++17 compiler, as far as our kernels use it. `emulated_cuda.py` includes it before a kernel's source.

#pragma once

#include <cmath>
#include <tuple>
#include <type_traits>
#include <utility>

#include "threads.hpp"

#define __global__
#define __device__
#define __constant__ static
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

#define VECTOR_2(name, type)              \
  struct alignas(2 * sizeof(type)) name { \
    type x, y;                            \
  };                                      \
  static inline name make_##name(type x, type y) { return {x, y}; }
#define VECTOR_4(name, type, alignment) \
  struct alignas(alignment) name {      \
    type x, y, z, w;                    \
  };                                    \
  static inline name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }

VECTOR_2(short2, short)
VECTOR_2(int2, int)
VECTOR_2(uint2, unsigned)
VECTOR_2(float2, float)
VECTOR_2(double2, double)
VECTOR_2(longlong2, long long)
VECTOR_2(ulonglong2, unsigned long long)
VECTOR_4(char4, signed char, 4)
VECTOR_4(uchar4, unsigned char, 4)
VECTOR_4(short4, short, 8)
VECTOR_4(ushort4, unsigned short, 8)
VECTOR_4(int4, int, 16)
VECTOR_4(uint4, unsigned, 16)
VECTOR_4(float4, float, 16)

namespace emulator {

// Nothing that other threads may change stays in a register meanwhile.
inline __attribute__((always_inline)) void barrier(int line) {
  asm volatile("" ::: "memory");
  wait_at_barrier(line);
  asm volatile("" ::: "memory");
}

inline __attribute__((always_inline)) void together(unsigned mask, Together what, void* operand) {
  asm volatile("" : : "r"(operand) : "memory");
  wait_for_warp(mask, what, operand);
  asm volatile("" ::: "memory");
}

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(shared);
}

template <class T>
struct Shuffle {
  T given, got;
  int from;
};

template <class T>
void shuffle_lanes(void* const* operands, unsigned lanes) {
  for (unsigned left = lanes; left; left &= left - 1) {
    auto& own = *static_cast<Shuffle<T>*>(operands[__builtin_ctz(left)]);
    if (!(lanes >> own.from & 1))
      fail("lane %d takes a value of lane %d, which gives none", __builtin_ctz(left), own.from);
    own.got = static_cast<Shuffle<T>*>(operands[own.from])->given;
  }
}

template <class T>
T shuffle(unsigned mask, T value, int from) {
  Shuffle<T> operand = {value, value, from};
  together(mask, shuffle_lanes<T>, &operand);
  return operand.got;
}

struct Vote {
  bool given;
  unsigned got;
};

enum class Count { kBallot, kAny, kAll };

template <Count what>
void count_lanes(void* const* operands, unsigned lanes) {
  unsigned found = 0;
  for (unsigned left = lanes; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    found |= static_cast<unsigned>(static_cast<Vote*>(operands[lane])->given) << lane;
  }
  if (what == Count::kAny) found = found != 0;
  if (what == Count::kAll) found = found == lanes;
  for (unsigned left = lanes; left; left &= left - 1) static_cast<Vote*>(operands[__builtin_ctz(left)])->got = found;
}

template <Count what>
unsigned count(unsigned mask, bool value) {
  Vote operand = {value, 0};
  together(mask, count_lanes<what>, &operand);
  return operand.got;
}

inline void no_op(void* const*, unsigned) {}

struct Product {
  int* sum;
  const unsigned *a, *b;
};

// Where the numbers of a thread are in the matrices: as the PTX manual has them for m16n8k32 and integers of 8 bits.
inline void multiply_lanes(void* const* operands, unsigned lanes) {
  if (lanes != ~0u) fail("a product of matrices needs all lanes of a warp, it has %#x", lanes);
  int a[16][32], b[32][8];
  for (int lane = 0; lane < kLanes; ++lane) {
    const Product& own = *static_cast<const Product*>(operands[lane]);
    const int group = lane / 4, member = lane % 4;
    for (int byte = 0; byte < 4; ++byte) {
      for (int i = 0; i < 4; ++i) a[group + 8 * (i % 2)][member * 4 + byte + 16 * (i / 2)] = own.a[i] >> 8 * byte & 255;
      for (int i = 0; i < 2; ++i) b[member * 4 + byte + 16 * i][group] = static_cast<signed char>(own.b[i] >> 8 * byte);
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    int* sum = static_cast<const Product*>(operands[lane])->sum;
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      unsigned total = static_cast<unsigned>(sum[i]);
      for (int k = 0; k < 32; ++k) total += static_cast<unsigned>(a[row][k] * b[k][column]);
      sum[i] = static_cast<int>(total);
    }
  }
}

template <class To, class From>
To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

template <class T, class Change>
T change(T* at, Change next) {
  const T before = *at;
  *at = next(before);
  return before;
}

inline int lane() { return current % kLanes; }

}  // namespace emulator

#define __syncthreads() emulator::barrier(__LINE__)

static inline void __syncwarp(unsigned mask = ~0u) { emulator::together(mask, emulator::no_op, nullptr); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}

static inline unsigned __ballot_sync(unsigned mask, bool value) {
  return emulator::count<emulator::Count::kBallot>(mask, value);
}
static inline int __any_sync(unsigned mask, bool value) { return emulator::count<emulator::Count::kAny>(mask, value); }
static inline int __all_sync(unsigned mask, bool value) { return emulator::count<emulator::Count::kAll>(mask, value); }

template <class T>
T __shfl_sync(unsigned mask, T value, int from) {
  return emulator::shuffle(mask, value, from & 31);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int apart) {
  return emulator::shuffle(mask, value, (emulator::lane() ^ apart) & 31);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, int apart) {
  return emulator::shuffle(mask, value, emulator::lane() < apart ? emulator::lane() : emulator::lane() - apart);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, int apart) {
  return emulator::shuffle(mask, value, emulator::lane() + apart > 31 ? emulator::lane() : emulator::lane() + apart);
}

// cp.async
static inline void fetch(float4* to, const float4* from) { *to = *from; }
static inline void wait_for_fetched() {}

// mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32
static inline void multiply_bytes(int (&sum)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  emulator::Product operand = {sum, a, b};
  emulator::together(~0u, emulator::multiply_lanes, &operand);
}

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}

template <class T, class U>
T atomicAdd(T* at, U value) {
  return emulator::change(at, [&](T before) { return static_cast<T>(before + static_cast<T>(value)); });
}
template <class T, class U>
T atomicMin(T* at, U value) {
  return emulator::change(at, [&](T before) { return min(before, static_cast<T>(value)); });
}
template <class T, class U>
T atomicMax(T* at, U value) {
  return emulator::change(at, [&](T before) { return max(before, static_cast<T>(value)); });
}
template <class T, class U>
T atomicOr(T* at, U value) {
  return emulator::change(at, [&](T before) { return static_cast<T>(before | static_cast<T>(value)); });
}

static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline double __longlong_as_double(long long x) { return emulator::same_bits<double>(x); }
static inline long long __double_as_longlong(double x) { return emulator::same_bits<long long>(x); }
static inline int __float_as_int(float x) { return emulator::same_bits<int>(x); }
static inline float __int_as_float(int x) { return emulator::same_bits<float>(x); }
static inline unsigned __float_as_uint(float x) { return emulator::same_bits<unsigned>(x); }
static inline float __uint_as_float(unsigned x) { return emulator::same_bits<float>(x); }
static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned which) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) out |= static_cast<unsigned>(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
  return out;
}
template <class T>
T __ldg(const T* at) {
  return *at;
}

namespace emulator {

// An argument of a launch: the bits of a number, or the address of an array of such numbers.
struct Argument {
  unsigned long long bits;
  int size;      // of the number, in bytes
  int floating;  // whether it is no integer
  int array;
};

struct Launch {
  unsigned grid[2], threads, shared_bytes;
  int count;
  const Argument* arguments;
};

// Why an argument does not fit a parameter, or null. Structs come as arrays of bytes; a null pointer as the integer 0.
template <class T>
const char* misfit(const Argument& given) {
  if constexpr (std::is_pointer_v<T>) {
    using Item = std::remove_cv_t<std::remove_pointer_t<T>>;
    if (!given.array) return given.bits || given.size != 8 ? "is no array" : nullptr;
    if (given.bits % alignof(Item)) return "is not aligned";
    if constexpr (std::is_class_v<Item>) return nullptr;
    if (given.size != sizeof(Item) || given.floating != std::is_floating_point_v<Item>) return "has another dtype";
  } else {
    if (given.array) return "is an array, not a number";
    if (given.size != sizeof(T) || given.floating != std::is_floating_point_v<T>) return "has another dtype";
  }
  return nullptr;
}

template <class T>
T unpack(const Argument& given) {
  T out;
  std::memcpy(&out, &given.bits, sizeof out);
  return out;
}

template <class... Types>
struct Call {
  void (*kernel)(Types...);
  std::tuple<Types...> arguments;
};

template <class... Types, std::size_t... at>
const char* launch_with(void (*kernel)(Types...), const Launch& launch, std::index_sequence<at...>) {
  const char* why[] = {nullptr, misfit<Types>(launch.arguments[at])...};
  for (int i = 1; i <= launch.count; ++i)
    if (why[i]) {
      std::snprintf(message, sizeof message, "%s: argument %d %s", kernel_name, i, why[i]);
      return message;
    }
  const Call<Types...> call = {kernel, {unpack<Types>(launch.arguments[at])...}};
  kernel_call = &call;
  enter = [](const void* given) {
    const auto& own = *static_cast<const Call<Types...>*>(given);
    std::apply(own.kernel, own.arguments);
  };
  blockDim = {launch.threads, 1, 1};
  gridDim = {launch.grid[0], launch.grid[1], 1};
  return run_grid(launch.shared_bytes);
}

// Null, or what went wrong.
template <class... Types>
const char* launch_kernel(const char* name, void (*kernel)(Types...), const Launch& launch) {
  kernel_name = name;
  if (launch.count == sizeof...(Types)) return launch_with(kernel, launch, std::index_sequence_for<Types...>());
  std::snprintf(message, sizeof message, "%s: %d arguments for %zu parameters", name, launch.count, sizeof...(Types));
  return message;
}

}  // namespace emulator

#define LAUNCH(name)                                                                                            \
  extern "C" __attribute__((visibility("default"))) const char* launch_##name(const emulator::Launch* launch) { \
    return emulator::launch_kernel(#name, kernels::name, *launch);                                              \
  }
