// Arrays as they come from Python and go back, and what is asked of them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <vector>
#include "runtime/interrupt.hpp"

namespace nb = nanobind;

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using InOut = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Loads of numbers that straddle their size are undefined.
template <class... Arrays>
void require_aligned(const Arrays&... arrays) {
  const auto aligned = [](const auto& array) {
    using Number = typename std::decay_t<decltype(array)>::Scalar;
    return array.size() == 0 || reinterpret_cast<uintptr_t>(array.data()) % alignof(Number) == 0;
  };
  require((aligned(arrays) && ...), "arrays must be aligned in memory: pass copies");
}

inline void require_threads(int threads) {
  require(threads >= 1 && threads <= 1024, "threads must be at least 1 and at most 1024");
}

// An array without numbers may claim any shape: memory is taken for each row and column.
template <class T>
void require_cells(const In<T, 2>& x) {
  require(x.size() > 0 || std::max(x.shape(0), x.shape(1)) < (size_t{1} << 24), "an empty array is too large");
}

template <class T>
void require_table(const In<T, 2>& x) {
  require(x.shape(0) < static_cast<size_t>(std::numeric_limits<int32_t>::max()), "X has 2^31 rows or more");
  require(x.shape(1) < (size_t{1} << 24), "X has 2^24 columns or more");
  require_cells(x);
}

template <class Test>
void require_all(const double* x, size_t count, const Test& test, const char* message) {
  for (size_t start = 0; start < count; start += cf::kRowsBetween) {
    cf::check_interrupt();
    require(std::all_of(x + start, x + std::min<size_t>(count, start + cf::kRowsBetween), test), message);
  }
}

inline bool is_weight(double w) { return w >= 0 && w <= 0x1p1000; }

inline void require_labels(In<int32_t, 2> labels) {
  require(labels.shape(0) >= 1 && labels.shape(0) < 65536, "at least 1 and at most 65535 partitions");
  int64_t used = 0;  // a bit for each of up to 4096 columns and each label, those that no row has too
  for (size_t m = 0; m < labels.shape(0) && labels.shape(1); ++m) {
    const int32_t* row = labels.data() + m * labels.shape(1);
    used += std::max(*std::max_element(row, row + labels.shape(1)), 0) + int64_t{1};
    require(used <= (1 << 22), "the partitions must have at most 2^22 labels in all, numbered from 0");
  }
}

template <class T, int N>
Out<T, N> owned(std::vector<T>&& data, std::initializer_list<size_t> shape) {
  auto* kept = new std::vector<T>(std::move(data));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T, N>(kept->data(), shape, owner);
}

template <class T, int N>
Out<T, N> uninitialised(std::initializer_list<size_t> shape) {
  size_t count = 1;
  for (size_t extent : shape) {
    if (extent && count > std::numeric_limits<size_t>::max() / sizeof(T) / extent) throw std::bad_alloc();
    count *= extent;
  }
  T* data = new (std::nothrow) T[count ? count : 1];  // a sanitizer ends the process where another new would throw
  if (!data) throw std::bad_alloc();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, N>(data, shape, owner);
}
