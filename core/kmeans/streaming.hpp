// Rows that come block by block, against the centres of many clusterings.
//
// Sums are kept as integers. Adding them is associative, so neither threads nor the size of the blocks change a bit.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>
#include "kmeans/nearest_center.hpp"
#include "kmeans/problem.hpp"
#include "rows/scaling.hpp"
#include "rows/table.hpp"

namespace cf {

struct RowBlock {
  const double* x;  // rows * columns
  int64_t rows;
  const double* weights;  // null if every row has weight 1
};

// Of each cluster: the sums of its rows' coordinates, in units of 2^-bits[column], laid out as the centres are, and of
// their weights, in units of 2^-mass_bits. A column that a clustering lists twice has its sums in both places.
struct ClusterSums {
  const int32_t* bits;
  int mass_bits;
  int64_t* values;
  int64_t* mass;
};

// Passes over the rows of a table with fixed centres.
class Passes {
 public:
  // Rows are scaled, unless `scaling` is null, then taken to the coordinates that the centres are in. Copies what it is
  // given.
  Passes(const Scaling* scaling, const Coordinates& coordinates, const std::vector<Problem>& problems,
         const std::vector<const double*>& centers);
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  // Add a block to the sums of the clusters whose centres are nearest. The caller makes sure that nothing overflows.
  void add(const RowBlock& block, const ClusterSums& sums, int threads) const;

  // Set labels[clustering * step + row] to the nearest centre, lowest index on ties.
  template <class Label>
  void label(const RowBlock& block, Label* labels, int64_t step, int threads) const;

  int64_t columns() const { return scaling_ ? scaling_->columns : scaled_columns(); }  // of the rows
  int64_t scaled_columns() const { return static_cast<int64_t>(coordinates_.exponent.size()); }
  size_t clusterings() const { return problems_.size(); }

  size_t clusters = 0;       // of all clusterings
  size_t center_values = 0;  // numbers of all centres
  int most_clusters = 0;     // of one clustering

 private:
  class PlacedRows;
  class ThreadSums;

  std::optional<Scaling> scaling_;
  Coordinates coordinates_;
  std::vector<int32_t> listed_;  // the columns of all problems
  std::vector<uint8_t> needed_;  // see Scaling::needed
  std::vector<Problem> problems_;
  std::vector<NearestCenter> searches_;
};

}  // namespace cf
