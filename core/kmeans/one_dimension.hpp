// K-means on one column, exactly.
#pragma once
#include <vector>

namespace cf {

// Centres of the best partition of weighted points on a line into k intervals, ascending.
// `x` strictly ascending, at least k points.
std::vector<double> cut_line(const std::vector<double>& x, const std::vector<double>& weight, int k);

}  // namespace cf
