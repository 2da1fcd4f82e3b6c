// Many rows, block by block, against the centres of many clusterings.
//
// Sums are integers: adding them is associative, so neither threads nor the size of the blocks change a bit.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/solver.hpp"
#include "rows/scaling.hpp"

namespace cf {

// Where centres live: rows are scaled, then taken to the coordinates of a table.
struct Space {
  const Scaling* scaling;  // none if rows are taken as they are
  std::vector<int> exponent;
  std::vector<double> origin;
  std::vector<int> reach;
};

struct Clusterings {
  const std::vector<Problem>& problems;
  const std::vector<const double*>& centers;
};

struct Block {
  const double* x;  // rows * columns
  int64_t rows, columns;
  const double* weights;  // none if each is 1
};

// The sums of the coordinates of each cluster's rows, in units of 2^-bits[column], and of their weights, in units of
// 2^-mass_bits. Laid out as the centres are; a column that a clustering lists twice has its sums in both places.
struct Sums {
  const int32_t* bits;
  int mass_bits;
  int64_t* values;
  int64_t* mass;
};

// Adds a block to the sums of the clusters whose centres are nearest. The caller sees to it that nothing overflows.
void add_block(const Space& space, const Clusterings& clusterings, const Block& block, const Sums& sums, int threads);

// labels[clustering * step + row]: the nearest centre, lowest index on ties.
template <class Label>
void label_block(const Space& space, const Clusterings& clusterings, const Block& block, Label* labels, int64_t step,
                 int threads);

// A hash of each row of a block; 0 and -0 are equal, and so are NaNs.
void hash_rows(const Block& block, uint64_t* keys, int threads);

}  // namespace cf
