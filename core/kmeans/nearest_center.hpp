// The nearest centre of each row: searched in float32 where that cannot be wrong, in float64 otherwise.
#pragma once
#include <cstdint>
#include <vector>
#include "kmeans/problem.hpp"
#include "kmeans/problem_rows.hpp"
#include "rows/table.hpp"

namespace cf {

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

}  // namespace cf
