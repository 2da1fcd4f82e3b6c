// Lloyd's iteration in float32 (Lloyd 1982), for the search over restarts, and the sums of the rows of each cluster
// that give its centres. Included once per instruction set.
//
// Once few rows change their cluster, sums are corrected by these rows instead of taken anew.
#pragma once
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

// ---- Sums of the rows of each cluster, lane by lane ----

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

// ---- Lloyd's iteration ----

// K and D fix the numbers of clusters and columns at compile time; 0 leaves them to run time.
template <int K, int D>
struct Lloyd {
  const cf::TiledRows<float>& rows;
  const int k, d;
  float* centers;
  float* ahead;   // c - c0 for every centre but the first
  float* offset;  // (|c0|^2 - |c|^2) / 2
  int32_t* labels;
  double* sums;
  double* mass;
  float* lane_sums;  // k * (d + 1) * 16

  // Compare B centres with the best so far. The nearest centre c maximises the score x.c - |c|^2 / 2. The score of the
  // first centre is subtracted from all, so that it is 0 and need not be computed.
  template <int B>
  CF_INLINE void compete(const float* tile, int first, Float& best, Int& label) const {
    const int columns = D ? D : d;
    const float* center = ahead + first * columns;
    Float score[B];
    times<B>(B, [&](int b) CF_INLINE { score[b] = Float::all(offset[first + b]); });
    times<D>(d, [&](int j) CF_INLINE {
      const Float x = Float::load(tile + j * kLanes);
      times<B>(B, [&](int b) CF_INLINE { score[b] = score[b] + x * Float::all(center[b * columns + j]); });
    });
    times<B>(B, [&](int b) CF_INLINE {
      const auto better = best < score[b];
      best = select(better, score[b], best);
      label = select(better, Int::all(first + b), label);
    });
  }

  CF_INLINE Int nearest(const float* tile) const {
    const int clusters = K ? K : k;
    Float best = Float::all(0);
    Int label = Int::all(0);
    int c = 1;
    for (; c + 4 <= clusters; c += 4) compete<4>(tile, c, best, label);
    if ((clusters - 1) & 2) compete<2>(tile, c, best, label), c += 2;
    if ((clusters - 1) & 1) compete<1>(tile, c, best, label);
    return label;
  }

  // Give a tile its labels, and count in each lane those that it had already.
  CF_INLINE void relabel(int64_t t, const Int& label, Int& kept) {
    kept = select(label == Int::load(labels + t * kLanes), kept + Int::all(1), kept);
    label.store(labels + t * kLanes);
  }

  // Assign the rows of some tiles; return which lanes kept their label, and how often.
  CF_INLINE Int assign(int64_t start, int64_t end) {
    Int kept = Int::all(0);
    for (int64_t t = start; t < end; ++t) relabel(t, nearest(rows.x + t * (D ? D : d) * kLanes), kept);
    return kept;
  }

  // The same, and add the rows to the lane sums, which all stay in registers.
  CF_INLINE Int assign_and_sum(int64_t start, int64_t end) {
    constexpr int stride = D + 1;
    Int kept = Int::all(0);
    Float held[K * stride];
    times<K * stride>(0, [&](int i) CF_INLINE { held[i] = Float::all(0); });
    for (int64_t t = start; t < end; ++t) {
      const float* tile = rows.x + t * D * kLanes;
      const Int label = nearest(tile);
      relabel(t, label, kept);
      const auto sum = [&](const Float& weight, const auto& weighted) CF_INLINE {
        times<K>(0, [&](int c) CF_INLINE {
          const auto mine = label == Int::all(c);
          const auto add = [&](const Float& x, int i) CF_INLINE { held[i] = select(mine, held[i] + x, held[i]); };
          times<D>(0, [&](int j) CF_INLINE { add(weighted(Float::load(tile + j * kLanes)), c * stride + j); });
          add(weight, c * stride + D);
        });
      };
      if (rows.unit && t + 1 < rows.tiles) {  // the last tile may be padded
        sum(Float::all(1), [](const Float& x) CF_INLINE { return x; });
      } else {
        const Float weight = Float::load(rows.weight + t * kLanes);
        sum(weight, [&](const Float& x) CF_INLINE { return x * weight; });
      }
    }
    times<K * stride>(0, [&](int i) CF_INLINE { held[i].store(lane_sums + i * kLanes); });
    return kept;
  }

  // Assign all rows and sum each cluster afresh. Returns how many rows changed.
  int64_t pass_all() {
    constexpr int64_t kBlock = 256;  // tiles that are summed in float32 before they are added to the float64 sums
    const int clusters = K ? K : k, columns = D ? D : d, stride = columns + 1;
    int64_t changed = 0;
    for (int i = 0; i < clusters * columns; ++i) sums[i] = 0;
    for (int i = 0; i < clusters; ++i) mass[i] = 0;
    for (int64_t start = 0; start < rows.tiles; start += kBlock) {
      cf::check_interrupt();
      const int64_t end = start + kBlock < rows.tiles ? start + kBlock : rows.tiles;
      Int kept = Int::all(0);
      if constexpr (K > 0) {
        kept = assign_and_sum(start, end);
      } else {
        std::memset(lane_sums, 0, sizeof(float) * kLanes * clusters * stride);
        for (int64_t t = start; t < end; t += kNear) {
          const int64_t stop = t + kNear < end ? t + kNear : end;
          kept = kept + assign(t, stop);
          LaneSums<float, int32_t>{rows, labels, t, stop, lane_sums}.add(clusters);
        }
      }
      changed += (end - start) * kLanes - sum(kept);
      for (int c = 0; c < clusters; ++c) {
        const float* from = lane_sums + c * stride * kLanes;
        for (int j = 0; j < columns; ++j) sums[c * columns + j] += sum(Float::load(from + j * kLanes));
        mass[c] += sum(Float::load(from + columns * kLanes));
      }
    }
    return changed;
  }

  // Assign all rows and correct the sums by those that changed. Returns how many did. The search for labels goes ahead
  // by some tiles: a branch for each row that changed, which processors cannot foresee, would hold it up.
  int64_t pass_changed() {
    int64_t changed = 0;
    int32_t now[kNear * kLanes];
    uint32_t differ[kNear];
    for (int64_t start = 0; start < rows.tiles; start += kNear) {
      if (start % cf::kTilesBetween == 0) cf::check_interrupt();
      const int64_t count = start + kNear < rows.tiles ? kNear : rows.tiles - start;
      for (int64_t t = 0; t < count; ++t) {
        const Int label = nearest(rows.x + (start + t) * (D ? D : d) * kLanes);
        label.store(now + t * kLanes);
        differ[t] = nonzero(label ^ Int::load(labels + (start + t) * kLanes));
      }
      for (int64_t t = 0; t < count; ++t)
        for (uint32_t bits = differ[t]; bits; bits &= bits - 1, ++changed)
          change(start + t, lowest_bit(bits), now[t * kLanes + lowest_bit(bits)]);
    }
    return changed;
  }

  // Move a row to another cluster.
  CF_INLINE void change(int64_t t, int lane, int32_t now) {
    const int columns = D ? D : d;
    const float* tile = rows.x + t * columns * kLanes;
    int32_t& old = labels[t * kLanes + lane];
    const double weight = rows.weight[t * kLanes + lane];
    double *from = sums + old * columns, *to = sums + now * columns;
    for (int j = 0; j < columns; ++j) {
      const double x = weight * tile[j * kLanes + lane];
      to[j] += x;
      from[j] -= x;
    }
    mass[now] += weight;
    mass[old] -= weight;
    old = now;
  }

  // Assign rows to centres, and centres to the means of their rows, until no row changes.
  int run(int max_iter) {
    const int clusters = K ? K : k, columns = D ? D : d;
    int64_t changed = 1;
    int iteration = 0;
    for (; iteration < max_iter && changed; ++iteration) {
      // Scores are relative to that of the first centre.
      for (int c = 1; c < clusters; ++c) {
        double square = 0;
        for (int j = 0; j < columns; ++j) {
          const double own = centers[c * columns + j], first = centers[j];
          ahead[c * columns + j] = static_cast<float>(own - first);
          square += (first - own) * (first + own);
        }
        offset[c] = static_cast<float>(0.5 * square);
      }
      // Assign. Correcting the sums by one row costs about as much as thirty lane sums.
      const bool many = iteration == 0 || 30 * changed > rows.tiles * clusters * (columns + 1);
      changed = many ? pass_all() : pass_changed();
      if (iteration == 0) changed = rows.tiles * kLanes;  // there were no labels before
      // Each centre to the mean of its rows.
      for (int c = 0; c < clusters; ++c) {
        if (mass[c] <= 0) continue;  // an empty cluster keeps its centre; Hartigan's moves will fill it
        const double inverse = 1.0 / mass[c];
        for (int j = 0; j < columns; ++j)
          centers[c * columns + j] = static_cast<float>(sums[c * columns + j] * inverse);
      }
    }
    return iteration;
  }
};

using LloydRun = int (*)(const cf::TiledRows<float>&, int, int, float*, int32_t*, double*, double*, float*);

template <int K, int D>
int run_lloyd(const cf::TiledRows<float>& rows, int k, int max_iter, float* centers, int32_t* labels, double* sums,
              double* mass, float* scratch) {
  float* offset = scratch + static_cast<int64_t>(k) * rows.columns;
  return Lloyd<K, D>{rows, k, rows.columns, centers, scratch, offset, labels, sums, mass, offset + k}.run(max_iter);
}

// Which shapes have loops of their own is measured: small problems gain a quarter where both numbers are fixed, and
// with 32 registers of 512 bits another seventh where only the columns are. Narrower registers cannot hold the latter's
// scores and lose by them. On x86 without AVX2, machines of before 2013, no shape is worth the time that it takes to
// compile.
#if defined(CF_FEW_SHAPES) || defined(CF_PORTABLE_LANES) || !defined(__GNUC__)
constexpr bool kFixBoth = false, kFixColumns = false;
#elif defined(__x86_64__)
constexpr bool kFixBoth = CF_REGISTER_BYTES >= 32, kFixColumns = CF_REGISTER_BYTES == 64;
#else
constexpr bool kFixBoth = true, kFixColumns = false;
#endif

// Fix both numbers for shapes whose lane sums fit into the registers of the widest set.
template <int D>
LloydRun choose_lloyd(int k) {
  if constexpr (kFixBoth) {
    if (k == 2) return run_lloyd<2, D>;
    if constexpr (D <= 5)
      if (k == 3) return run_lloyd<3, D>;
    if constexpr (D <= 4)
      if (k == 4) return run_lloyd<4, D>;
  }
  if constexpr (kFixColumns) return run_lloyd<0, D>;
  return run_lloyd<0, 0>;
}

LloydRun choose_lloyd(int columns, int k) {
#if defined(CF_FEW_SHAPES)
  // Sanitizers see the fixed loops of one shape: unrolled code takes minutes to compile.
  if (columns == 2 && k == 2) return run_lloyd<2, 2>;
#endif
  switch (columns) {
    case 2:
      return choose_lloyd<2>(k);
    case 3:
      return choose_lloyd<3>(k);
    case 4:
      return choose_lloyd<4>(k);
    case 5:
      return choose_lloyd<5>(k);
    case 6:
      return choose_lloyd<6>(k);
    case 7:
      return choose_lloyd<7>(k);
    case 8:
      return choose_lloyd<8>(k);
  }
  return run_lloyd<0, 0>;
}

// See Kernels::lloyd.
int lloyd(const cf::TiledRows<float>& rows, int k, int max_iter, float* centers, int32_t* labels, double* sums,
          double* mass, float* scratch) {
  return choose_lloyd(rows.columns, k)(rows, k, max_iter, centers, labels, sums, mass, scratch);
}

}  // namespace
}  // namespace CF_ISA
