// K-means as the forest needs it: many small problems over one table.
#pragma once
#include <vector>
#include "kmeans/problem.hpp"
#include "rows/table.hpp"

namespace cf {

// Solve each problem: random restarts of Lloyd's iteration in float32, then Hartigan's moves in float64 on the best.
std::vector<Solution> solve(const Table& table, const std::vector<Problem>& problems, const SearchSettings& settings,
                            int threads);

}  // namespace cf
