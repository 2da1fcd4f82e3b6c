// A partition of a problem's rows, and what is reported of it.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>
#include "kmeans/problem.hpp"
#include "kmeans/problem_rows.hpp"

namespace cf {

struct Partition {
  LaneVector<int32_t> labels;
  std::vector<double> centers, mass;
  double objective = INFINITY;
};

// Measure a partition without empty clusters, and translate its centres into the table's coordinates.
Solution measure(const Table& table, const Problem& problem, const ProblemRows& rows, const Partition& partition);

}  // namespace cf
