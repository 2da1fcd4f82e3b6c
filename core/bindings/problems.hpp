// Clusterings and coordinates, which Python passes as flat arrays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>
#include "bindings/arrays.hpp"
#include "bindings/checks.hpp"
#include "kmeans/problem.hpp"
#include "rows/table.hpp"

inline cf::Coordinates read_coordinates(In<int32_t, 1> exponent, In<double, 1> origin, In<int32_t, 1> reach,
                                        size_t columns) {
  require_aligned(exponent, origin, reach);
  require(exponent.shape(0) == columns && origin.shape(0) == columns && reach.shape(0) == columns,
          "the new rows must have the table's columns");
  for (size_t j = 0; j < columns; ++j) {
    require(exponent(j) > -3000 && exponent(j) < 3000, "an exponent is out of range");
    require(reach(j) == cf::Coordinates::kConstant || (reach(j) > -3000 && reach(j) < 3000), "a reach is out of range");
  }
  return {{exponent.data(), exponent.data() + columns},
          {origin.data(), origin.data() + columns},
          {reach.data(), reach.data() + columns}};
}

// Problem i has columns[offsets[i]:offsets[i + 1]] and clusters[i] clusters.
inline std::vector<cf::Problem> read_problems(int64_t width, In<int32_t, 1> columns, In<int64_t, 1> offsets,
                                              In<int32_t, 1> clusters) {
  require_aligned(columns, offsets, clusters);
  require(offsets.shape(0) == clusters.shape(0) + 1, "offsets must be one longer than clusters");
  const size_t count = clusters.shape(0);
  require(offsets(0) == 0 && offsets(count) == static_cast<int64_t>(columns.shape(0)),
          "offsets must run from 0 to the number of columns listed");
  for (size_t j = 0; j < columns.shape(0); ++j)
    require(columns(j) >= 0 && columns(j) < width, "a column index is out of range");
  std::vector<cf::Problem> problems(count);
  for (size_t i = 0; i < count; ++i) require(offsets(i) <= offsets(i + 1), "offsets must ascend");
  for (size_t i = 0; i < count; ++i) {
    const int64_t listed = offsets(i + 1) - offsets(i);
    require(clusters(i) >= 1, "clusters must be at least 1");
    require(cf::can_be_indexed(clusters(i), listed), cf::kTooManyCells);
    problems[i] = {columns.data() + offsets(i), static_cast<int>(listed), clusters(i), 0};
  }
  return problems;
}

// Where the centres of each problem begin.
inline std::vector<const double*> read_centers(const std::vector<cf::Problem>& problems, In<double, 1> centers) {
  require_aligned(centers);
  std::vector<const double*> each;
  size_t used = 0;
  for (const cf::Problem& problem : problems) {
    require(problem.width >= 1, "a clustering must have columns");
    each.push_back(centers.data() + used);
    used += static_cast<size_t>(problem.k) * problem.width;
  }
  require(used == centers.shape(0), "centers must hold clusters * columns numbers for each problem");
  return each;
}
