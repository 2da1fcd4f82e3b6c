// Checks of arguments. What fails raises a ValueError; nothing outside the bindings is reached with bad arguments.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include "bindings/arrays.hpp"
#include "runtime/interrupt.hpp"

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

template <class Test>
void require_all(const double* x, size_t count, const Test& test, const char* message) {
  for (size_t start = 0; start < count; start += cf::kRowsBetween) {
    cf::check_interrupt();
    require(std::all_of(x + start, x + std::min<size_t>(count, start + cf::kRowsBetween), test), message);
  }
}

inline void require_weights(const double* weights, size_t count) {
  const auto is_weight = [](double w) { return w >= 0 && w <= 0x1p1000; };
  require_all(weights, count, is_weight, "weights must be finite and not negative");
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
