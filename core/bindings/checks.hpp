// Checks of arguments. What fails raises a ValueError; nothing outside the bindings is reached with bad arguments.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include "bindings/arrays.hpp"
#include "runtime/interrupt.hpp"
#include "simd/kernels.hpp"

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
