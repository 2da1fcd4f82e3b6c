// Exact K-means on a single column.
#pragma once
#include <vector>

namespace cf {

// Find the best partition of weighted points on a line into k intervals; return its centres, ascending.
// `x` is strictly ascending and has at least k points.
std::vector<double> one_dimension_centers(const std::vector<double>& x, const std::vector<double>& weight, int k);

}  // namespace cf
