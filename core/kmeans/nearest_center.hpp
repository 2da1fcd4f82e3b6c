// Rows to their nearest centres: the rows of a table, or rows that come block by block.
//
// The search runs in float32 and bounds its own error. Where another centre might be nearer, which is rare, the row is
// looked at again in float64, so that labels are those of float64 everywhere. The search on GPUs uses the same bounds.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>
#include "kmeans/problem.hpp"
#include "rows/scaling.hpp"
#include "rows/table.hpp"

namespace cf {

// Columns whose units are more than so many powers of two apart are not compared in float32.
constexpr int kFloat32Range = 60;

// Bounds the error of a float32 score of this many products, relative to the sizes of its factors: twice what rounding
// can do.
constexpr double float32_error(int columns) { return (columns + 8.0) * 0x1p-23; }

// Bounds the error of a float64 squared distance, relative to the squared sizes of its ends.
constexpr double float64_error(int columns) { return (columns + 4.0) * 0x1p-47; }

// Squared distances that differ by less are never told apart by float32.
constexpr double kDistanceFloor = 1e-30;

// The columns of a table that problems use, in float32, each padded to whole tiles.
struct Float32Columns {
  void take(const Table& table, const std::vector<Problem>& problems);
  const float* column(int64_t c) const { return values.data() + place[c]; }

  int64_t tiles = 0;
  std::vector<int64_t> place;  // column of the table -> where its values begin
  std::vector<float> values;
};

// The centres of one clustering, ready for the search.
class NearestCenter {
 public:
  struct Workspace {
    std::vector<int32_t> chosen;   // the label of each distinct row of the table, and of those that pad it
    std::vector<uint32_t> unsure;  // of each tile: a bit for each row that float32 cannot decide
    std::vector<const float*> columns;
    std::vector<double> apart;  // squared distances of a row
  };

  NearestCenter(const Coordinates& coordinates, const Problem& problem, const double* centers);

  // Label the distinct rows of a table: the nearest centre, lowest index on ties.
  void label(const Table& table, const Float32Columns& narrow, Workspace& work) const;

 private:
  void place_centers(const Coordinates& coordinates, const Problem& problem, const double* centers);
  void bound_errors();
  int32_t nearest(const Table& table, int64_t row, std::vector<double>& apart) const;

  ProblemColumns columns_;
  int k_, width_;
  bool in_range_ = true;  // whether float32 can hold all columns in one unit
  std::vector<PowerOfTwo> scale_;
  std::vector<double> centers_;               // column by column: [width][k]
  std::vector<float> unit_, ahead_, offset_;  // see Float32Centers
  float slope_ = 0, base_ = 0, rounding_ = 0, floor_ = 0;
};

// Find the nearest centre of each input row, lowest index on ties: labels[problem][row]; -1 for rows of weight 0.
void assign(const Table& table, const std::vector<Problem>& problems, const std::vector<const double*>& centers,
            int32_t* labels, int threads);

// ---- Rows that come block by block ----
//
// Against the centres of many clusterings. Sums are kept as integers: adding them is associative, so neither threads
// nor the size of the blocks change a bit.

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
