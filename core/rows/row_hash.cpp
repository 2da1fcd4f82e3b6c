#include "rows/row_hash.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include "runtime/random.hpp"
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 256;
constexpr int kSide = 4;  // rows whose hashes are made side by side: each step waits for the one before

// The bits of a number, equal for numbers that compare equal, and for all NaNs.
uint64_t bits_of(double value) {
  value += 0.0;  // turns -0 into 0
  if (value != value) value = std::numeric_limits<double>::quiet_NaN();
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// N rows side by side.
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

// What one thread has seen of the columns.
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

// Mix the next value of a row into its key.
void extend(uint64_t& key, double value) {
  value += 0.0;  // turns -0 into 0
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  key = (key ^ bits) * 0xD6E8FEB86659FD93ull;
  key ^= key >> 32;
}

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

// ---- Keys, which order a table ----

PowerOfTwo::PowerOfTwo(int exponent)
    : first(std::ldexp(1.0, exponent / 2)), second(std::ldexp(1.0, exponent - exponent / 2)) {}

int exponent_of(double largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

std::vector<PowerOfTwo> undo(const std::vector<int>& exponents) {
  std::vector<PowerOfTwo> factors;
  for (int e : exponents) factors.emplace_back(-e);
  return factors;
}

std::vector<double> largest_by_column(const double* x, int64_t n, int64_t p, const double* weights) {
  std::vector<double> largest(p, 0.0);
  int64_t i = 0;
  // Rows of weight 0 do not count.
  if (weights) {
    for (; i < n; ++i) {
      if (i % kRowsBetween == 0) check_interrupt();
      for (int64_t j = 0; j < p && weights[i] > 0; ++j) largest[j] = std::max(largest[j], std::fabs(x[i * p + j]));
    }
    return largest;
  }
  // Four rows between two visits to the same maximum.
  for (; i + 4 <= n; i += 4) {
    if (i % kRowsBetween == 0) check_interrupt();
    for (int64_t j = 0; j < p; ++j) {
      const double* at = x + i * p + j;
      const double two = std::max(std::fabs(at[0]), std::fabs(at[p]));
      const double more = std::max(std::fabs(at[2 * p]), std::fabs(at[3 * p]));
      largest[j] = std::max(largest[j], std::max(two, more));
    }
  }
  for (; i < n; ++i)
    for (int64_t j = 0; j < p; ++j) largest[j] = std::max(largest[j], std::fabs(x[i * p + j]));
  return largest;
}

RowKeys::RowKeys(int64_t rows) : keys_(rows, kGolden) {}

void RowKeys::add(const double* x, int64_t columns, int64_t length, const int64_t* rows, const double* weights,
                  int threads) {
  // The power of two of each column, over the rows that have a weight.
  const int64_t n = this->rows();
  std::vector<PowerOfTwo> scale(columns, PowerOfTwo(0));
  parallel_for(columns, threads, [&](int64_t c, int) {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i)
      if (!weights || weights[i] > 0) largest = std::max(largest, std::fabs(x[c * length + rows[i]]));
    scale[c] = PowerOfTwo(-exponent_of(largest));
  });

  // Column after column of a few rows, whose keys stay in the cache.
  parallel_for((n + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t end = std::min(n, (task + 1) * kRowsPerTask);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t i = task * kRowsPerTask; i < end; ++i) extend(keys_[i], scale[c](x[c * length + rows[i]]));
  });
}

void RowKeys::add(const double* x, int64_t row_step, const std::vector<PowerOfTwo>& scale, int threads) {
  const int64_t n = rows();
  parallel_for((n + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
    const int64_t end = std::min(n, (task + 1) * kRowsPerTask);
    const size_t columns = scale.size();
    for (int64_t i = task * kRowsPerTask; i < end; ++i) {
      uint64_t key = keys_[i];
      for (size_t j = 0; j < columns; ++j) extend(key, scale[j](x[i * row_step + j]));
      keys_[i] = key;
    }
  });
}

std::vector<uint64_t> RowKeys::finished() const& { return RowKeys(*this).finished(); }

std::vector<uint64_t> RowKeys::finished() && {
  for (uint64_t& key : keys_) key = mix(key);
  return std::move(keys_);
}

}  // namespace cf
