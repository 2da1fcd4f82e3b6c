// Arrays as they come from Python and go back.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nb = nanobind;

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using InOut = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

// A new array that owns a copy of the numbers.
template <class T, class Number>
Out<T, 1> copy_of(const std::vector<Number>& numbers) {
  auto* kept = new std::vector<T>(numbers.begin(), numbers.end());
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T, 1>(kept->data(), {kept->size()}, owner);
}

// A new matrix that owns a copy of the numbers, row by row.
inline Out<double, 2> matrix_of(const std::vector<double>& numbers, size_t columns) {
  auto* kept = new std::vector<double>(numbers);
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Out<double, 2>(kept->data(), {kept->size() / columns, columns}, owner);
}

// Ask for large pages, as NumPy does: to bring in small ones, one by one, may take longer than to fill them.
inline void prefer_large_pages([[maybe_unused]] void* data, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr uintptr_t kPage = 4096;
  constexpr size_t kLarge = size_t{1} << 22;
  if (bytes < kLarge) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(begin), bytes - kPage, MADV_HUGEPAGE);  // where this fails, pages are small
#endif
}

template <class T, int N>
Out<T, N> uninitialised(std::initializer_list<size_t> shape) {
  size_t count = 1;
  for (size_t extent : shape) {
    if (extent && count > std::numeric_limits<size_t>::max() / sizeof(T) / extent) throw std::bad_alloc();
    count *= extent;
  }
  T* data = new (std::nothrow) T[count ? count : 1];  // where plain new would throw, a sanitizer ends the process
  if (!data) throw std::bad_alloc();
  prefer_large_pages(data, count * sizeof(T));
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, N>(data, shape, owner);
}
