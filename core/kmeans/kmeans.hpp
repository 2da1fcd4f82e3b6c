// K-means as the forest needs it: many small problems over one table, each solved well rather than fast once.
//
// The search has three steps, whose loops are in lloyd.hpp and hartigan.hpp:
//
//   1. Random restarts of Lloyd's iteration (Lloyd 1982; Forgy 1965 for the start from random rows), in float32.
//   2. Unless the restarts agree, swaps: a centre that is little missed moves to a row far from all centres. The row is
//      drawn by its squared distance, as k-means++ draws (Arthur & Vassilvitskii 2007); random swap is of Fränti 2018.
//   3. Moves of single rows between clusters (Hartigan & Wong 1979), in float64, from the best few of these.
//
// One column is solved exactly instead: see one_dimension.hpp.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/problem.hpp"
#include "rows/table.hpp"

namespace cf {

// Solve each problem. Neither threads nor the other problems change an answer.
std::vector<Solution> solve(const Table& table, const std::vector<Problem>& problems, const SearchSettings& settings,
                            int threads);

// Rows of numbers; weights may be null.
struct WeightedRows {
  const double* x;
  const double* weights;
  int64_t rows, columns;
};

// A row's coordinates are value / 2^exponent - origin, by column. Distances are in units of 2^scale.
struct TableFit {
  int64_t distinct = 0;
  bool solved = false;  // false if float64 cannot tell that many rows apart
  int scale = 0, iterations = 0;
  double within = 0;  // infinite if no double can hold it
  Coordinates coordinates;
  std::vector<double> places;   // of the centres: k * columns coordinates
  std::vector<double> centers;  // the same as values
};

// K-means over all columns of one table, from its rows to their labels: the nearest centre of each row, rows of weight
// 0 included, if the problem is solved. With fewer distinct rows, k is their number.
TableFit fit_table(const WeightedRows& from, int k, uint64_t seed, const SearchSettings& settings, int32_t* labels,
                   int threads);

}  // namespace cf
