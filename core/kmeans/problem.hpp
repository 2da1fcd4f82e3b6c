// A K-means problem over some columns of a table, how hard to search, what is found, and the rows that the search sees.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>
#include "rows/table.hpp"
#include "simd/kernels.hpp"

namespace cf {

struct Problem {
  const int32_t* columns;  // a column listed twice counts twice in the distance
  int width;               // number of columns
  int k;                   // number of clusters
  uint64_t seed;
};

constexpr int64_t kMostCells = int64_t{1} << 27;  // of a problem's centres: the hot loops index them with 32 bits
constexpr const char* kTooManyCells = "clusters * columns is too large";

inline bool can_be_indexed(int64_t clusters, int64_t columns) {
  return columns < kMostCells && clusters * (columns + 1) < kMostCells;
}

// What follows the random restarts.
enum class Effort : int8_t {
  quick = 0,     // a pass of single-row moves
  polished = 1,  // passes until no single-row move lowers the objective
  improved = 2   // before these passes, swaps of centres that improve the best restart
};

struct SearchSettings {
  int restarts;
  int max_iter;  // Lloyd iterations of each restart
  Effort effort;
};

// Sums are in units of 4^exponent times the table's unit of weight. Clusters are sorted, heaviest first.
struct Solution {
  bool solved = false;          // false if there are fewer distinct rows than clusters
  std::vector<double> centers;  // k * width, in the table's coordinates
  double within = 0, between = 0;
  double within_pairs = 0, between_pairs = 0;
  int exponent = 0;
  int iterations = 1;  // Lloyd iterations of the restart that won
};

// The columns of the table that a problem uses. One listed m times is kept once, times sqrt(m), which gives the same
// distances; constant ones are dropped.
struct ProblemColumns {
  ProblemColumns(const std::vector<int>& reach, const Problem& problem);

  int exponent = 0;          // true value - origin = value * 2^exponent / root
  std::vector<int> source;   // column here -> column of the table
  std::vector<double> root;  // square root of how often it is listed
};

// Vectors whose first number begins a line of the cache: sixteen lanes that lie across two lines take twice as long to
// read.
template <class T>
struct CacheAligned {
  using value_type = T;

  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}  // NOLINT: allocators convert

  T* allocate(size_t count) {
    if (count > static_cast<size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* data, size_t) { ::operator delete(data, kLine); }

  friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
  friend bool operator!=(const CacheAligned&, const CacheAligned&) { return false; }

 private:
  static constexpr std::align_val_t kLine{64};
};

template <class T>
using LaneVector = std::vector<T, CacheAligned<T>>;

// The rows of one problem: its columns side by side, in tiles of sixteen rows, scaled to about 1.
class ProblemRows : public ProblemColumns {
 public:
  ProblemRows(const Table& table, const Problem& problem);

  // Merge equal rows and add their weights, if a sample shows that many are equal.
  void merge_equal_rows();
  // With a single column: merge equal values and sort them.
  void sort_single_column();
  // Make the float32 copies that `rows32` needs.
  void make_float32();
  // Weighted sum of squares about the origin, over the first tiles.
  double sum_of_squares(int64_t first_tiles) const;

  double at(int64_t row, int j) const { return x[(row / kTile) * kTile * width + j * kTile + row % kTile]; }
  bool equal(int64_t a, int64_t b) const;
  TiledRows<double> rows64(int64_t first_tiles) const { return {x.data(), weight.data(), first_tiles, width, unit}; }
  TiledRows<float> rows32(int64_t first_tiles) const { return {x32.data(), weight32.data(), first_tiles, width, unit}; }

  int64_t rows = 0, tiles = 0;
  int width = 0;
  LaneVector<double> x, weight;
  LaneVector<float> x32, weight32;
  bool unit = true;  // every weight is 1

 private:
  void keep(const std::vector<int64_t>& chosen, const std::vector<double>& mass);
  void pad();
};

}  // namespace cf
