// Products of vectors with rows of W, given as match counts or as numbers. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

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

}  // namespace
}  // namespace CF_ISA
