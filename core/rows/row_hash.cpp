#include "rows/row_hash.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 256;
constexpr int kSide = 4;  // rows whose hashes are made side by side: each step waits for the one before

uint64_t bits_of(double value) {
  value += 0.0;  // turns -0 into 0
  if (value != value) value = std::numeric_limits<double>::quiet_NaN();
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <int N>
void hash_some(const double* x, int64_t columns, uint64_t* keys) {
  uint64_t key[N];
  for (int r = 0; r < N; ++r) key[r] = keys[r];
  for (int64_t c = 0; c < columns; ++c)
    for (int r = 0; r < N; ++r) key[r] = hash(key[r], bits_of(x[r * columns + c]));
  for (int r = 0; r < N; ++r) keys[r] = key[r];
}

void hash_task(const double* x, int64_t rows, int64_t columns, uint64_t* keys) {
  int64_t r = 0;
  for (; r + kSide <= rows; r += kSide) hash_some<kSide>(x + r * columns, columns, keys + r);
  for (; r < rows; ++r) hash_some<1>(x + r * columns, columns, keys + r);
}

int64_t tasks(int64_t rows) { return (rows + kRowsPerTask - 1) / kRowsPerTask; }

// Call work(first row, rows, worker) for each task.
template <class Work>
void over_tasks(int64_t rows, int threads, const Work& work) {
  parallel_for(tasks(rows), threads, [&](int64_t task, int worker) {
    const int64_t first = task * kRowsPerTask;
    work(first, std::min(kRowsPerTask, rows - first), worker);
  });
}

struct ThreadEnds : ColumnEnds {
  explicit ThreadEnds(int64_t columns) {
    low.assign(columns, INFINITY);
    high.assign(columns, -INFINITY);
    gap.assign(columns, 0.0);
  }

  // A comparison with a NaN is false, so it is kept beside.
  void add(const double* x, int64_t rows, int64_t columns) {
    double *least = low.data(), *most = high.data(), *missing = gap.data();
    for (int64_t r = 0; r < rows; ++r, x += columns)
      for (int64_t c = 0; c < columns; ++c) {
        const double value = x[c];
        least[c] = value < least[c] ? value : least[c];
        most[c] = value > most[c] ? value : most[c];
        missing[c] = value != value ? std::numeric_limits<double>::quiet_NaN() : missing[c];
      }
  }

  void join(const ThreadEnds& other) {
    for (size_t c = 0; c < gap.size(); ++c) {
      low[c] = std::min(low[c], other.low[c]);
      high[c] = std::max(high[c], other.high[c]);
      gap[c] += other.gap[c];
    }
  }

  // Adding 0 turns -0 into 0, whichever of the two was seen first.
  ColumnEnds ends() const {
    ColumnEnds found{low, high};
    for (size_t c = 0; c < gap.size(); ++c) {
      found.low[c] += gap[c];
      found.high[c] += gap[c];
    }
    return found;
  }

  std::vector<double> gap;  // 0, or NaN where the column has one
};

}  // namespace

void hash_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads) {
  over_tasks(rows, threads,
             [&](int64_t first, int64_t count, int) { hash_task(x + first * columns, count, columns, keys + first); });
}

ColumnEnds scan_rows(const double* x, int64_t rows, int64_t columns, uint64_t* keys, int threads) {
  const int64_t most = std::max<int64_t>(1, std::min<int64_t>(threads, tasks(rows)));
  std::vector<ThreadEnds> shares(most, ThreadEnds(columns));
  over_tasks(rows, threads, [&](int64_t first, int64_t count, int worker) {
    hash_task(x + first * columns, count, columns, keys + first);
    ThreadEnds own(columns);  // in memory that no other thread writes to meanwhile
    own.add(x + first * columns, count, columns);
    shares[worker].join(own);
  });
  ThreadEnds all(columns);
  for (const ThreadEnds& share : shares) all.join(share);
  return all.ends();
}

}  // namespace cf
