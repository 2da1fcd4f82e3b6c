// K-means of all columns of one table, from its rows to their labels.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/problem.hpp"
#include "rows/table.hpp"

namespace cf {

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

// Write the nearest centre of each row, rows of weight 0 included, if the problem is solved. With fewer distinct rows,
// k is their number.
TableFit fit_table(const WeightedRows& from, int k, uint64_t seed, const SearchSettings& settings, int32_t* labels,
                   int threads);

}  // namespace cf
