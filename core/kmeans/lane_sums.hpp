// Sums of the rows of each cluster, lane by lane. Included once per instruction set.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

constexpr int64_t kNear = 32;  // tiles that stay in the first cache

// Takes some clusters and columns at a time, as many as the registers can hold the sums of. Each lane adds its rows in
// their order.
template <class T, class L>
struct LaneSums {
  const cf::TiledRows<T>& rows;
  const L* labels;
  int64_t start, end;  // tiles
  T* sums;             // k * (columns + 1) * 16; the last column of a cluster is its mass

  static constexpr int kWide = Lanes<T>::parts == 1 ? 4 : 2;

  void add(int k) const {
    int c = 0;
    for (; c + kWide <= k; c += kWide) add_columns<kWide>(c);
    if (c + 2 <= k) add_columns<2>(c), c += 2;
    if (c < k) add_columns<1>(c);
  }

 private:
  template <int C>
  void add_columns(int c) const {
    int j = 0;
    for (; j + kWide <= rows.columns; j += kWide) add<C, kWide>(c, j);
    if (j + 2 <= rows.columns) add<C, 2>(c, j), j += 2;
    for (; j <= rows.columns; ++j) add<C, 1>(c, j);
  }

  // C clusters and G columns, from c and j on.
  template <int C, int G>
  void add(int c, int j) const {
    const int d = rows.columns;
    const auto place = [&](int i) CF_INLINE { return sums + ((c + i / G) * (d + 1) + j + i % G) * kLanes; };
    Lanes<T> held[C * G];
    times<C * G>(0, [&](int i) CF_INLINE { held[i] = Lanes<T>::load(place(i)); });
    for (int64_t t = start; t < end; ++t) {
      const T* tile = rows.x + (t * d + j) * kLanes;
      const Lanes<T> weight = Lanes<T>::load(rows.weight + t * kLanes);
      const Lanes<L> label = Lanes<L>::load(labels + t * kLanes);
      Lanes<T> value[G];
      times<G>(0, [&](int g) CF_INLINE { value[g] = j < d ? Lanes<T>::load(tile + g * kLanes) * weight : weight; });
      times<C>(0, [&](int b) CF_INLINE {
        const auto mine = label == Lanes<L>::all(c + b);
        times<G>(0, [&](int g) CF_INLINE {
          Lanes<T>& total = held[b * G + g];
          total = select(mine, total + value[g], total);
        });
      });
    }
    times<C * G>(0, [&](int i) CF_INLINE { held[i].store(place(i)); });
  }
};

}  // namespace
}  // namespace CF_ISA
