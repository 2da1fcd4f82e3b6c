// Arrays as they come from Python and go back, and checks of them. What fails raises a ValueError; nothing outside the
// bindings is reached with bad arguments.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>
#include "kmeans/problem.hpp"
#include "rows/table.hpp"
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"
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

// ---- New arrays ----

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

// ---- Checks ----

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// Loading a number that is not aligned to its size is undefined.
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

// An array without numbers may claim any shape, and memory is taken for each row and column.
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

inline bool all_finite(const double* x, size_t count) {
  for (size_t start = 0; start < count; start += cf::kRowsBetween) {
    cf::check_interrupt();
    if (!cf::kernels().all_finite(x + start, std::min<size_t>(count - start, cf::kRowsBetween))) return false;
  }
  return true;
}

inline void require_finite(const In<double, 2>& x) { require(all_finite(x.data(), x.size()), "X must be finite"); }

inline void require_weights(const double* weights, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i % cf::kRowsBetween == 0) cf::check_interrupt();
    require(weights[i] >= 0 && weights[i] <= 0x1p1000, "weights must be finite and not negative");
  }
}

using Weights = std::optional<In<double, 1>>;

// Rows that can be clustered, and their weights: first what their shapes tell, then, without the GIL, their numbers.
inline void require_rows(const In<double, 2>& x, const Weights& weights) {
  require_table(x);
  require_aligned(x, weights.value_or(In<double, 1>()));
  require(!weights || weights->shape(0) == x.shape(0), "weights must have one entry per row");
}

inline void require_numbers(const In<double, 2>& x, const Weights& weights) {
  require_finite(x);
  if (weights) require_weights(weights->data(), weights->shape(0));
}

inline void require_labels(In<int32_t, 2> labels) {
  require(labels.shape(0) >= 1 && labels.shape(0) < 65536, "at least 1 and at most 65535 partitions");
  int64_t used = 0;  // each takes a row of up to 4096 bits, whether or not it occurs
  for (size_t m = 0; m < labels.shape(0) && labels.shape(1); ++m) {
    const int32_t* row = labels.data() + m * labels.shape(1);
    used += std::max(*std::max_element(row, row + labels.shape(1)), 0) + int64_t{1};
    require(used <= (1 << 22), "the partitions must have at most 2^22 labels in all, numbered from 0");
  }
}

// ---- Clusterings and coordinates, which Python passes as flat arrays ----

inline cf::Coordinates read_coordinates(In<int32_t, 1> exponent, In<double, 1> origin, In<int32_t, 1> reach,
                                        size_t columns) {
  require_aligned(exponent, origin, reach);
  require(exponent.shape(0) == columns && origin.shape(0) == columns && reach.shape(0) == columns,
          "the new rows must have the table's columns");
  for (size_t j = 0; j < columns; ++j) {
    require(exponent(j) > -3000 && exponent(j) < 3000, "an exponent is out of range");
    require(reach(j) == cf::Coordinates::kConstant || (reach(j) > -3000 && reach(j) < 3000), "a reach is out of range");
  }
  return {{exponent.data(), exponent.data() + columns},
          {origin.data(), origin.data() + columns},
          {reach.data(), reach.data() + columns}};
}

// Problem i has columns[offsets[i]:offsets[i + 1]] and clusters[i] clusters.
inline std::vector<cf::Problem> read_problems(int64_t width, In<int32_t, 1> columns, In<int64_t, 1> offsets,
                                              In<int32_t, 1> clusters) {
  require_aligned(columns, offsets, clusters);
  require(offsets.shape(0) == clusters.shape(0) + 1, "offsets must be one longer than clusters");
  const size_t count = clusters.shape(0);
  require(offsets(0) == 0 && offsets(count) == static_cast<int64_t>(columns.shape(0)),
          "offsets must run from 0 to the number of columns listed");
  for (size_t j = 0; j < columns.shape(0); ++j)
    require(columns(j) >= 0 && columns(j) < width, "a column index is out of range");
  std::vector<cf::Problem> problems(count);
  for (size_t i = 0; i < count; ++i) require(offsets(i) <= offsets(i + 1), "offsets must ascend");
  for (size_t i = 0; i < count; ++i) {
    const int64_t listed = offsets(i + 1) - offsets(i);
    require(clusters(i) >= 1, "clusters must be at least 1");
    require(cf::can_be_indexed(clusters(i), listed), cf::kTooManyCells);
    problems[i] = {columns.data() + offsets(i), static_cast<int>(listed), clusters(i), 0};
  }
  return problems;
}

// Where the centres of each problem begin.
inline std::vector<const double*> read_centers(const std::vector<cf::Problem>& problems, In<double, 1> centers) {
  require_aligned(centers);
  std::vector<const double*> each;
  size_t used = 0;
  for (const cf::Problem& problem : problems) {
    require(problem.width >= 1, "a clustering must have columns");
    each.push_back(centers.data() + used);
    used += static_cast<size_t>(problem.k) * problem.width;
  }
  require(used == centers.shape(0), "centers must hold clusters * columns numbers for each problem");
  return each;
}
