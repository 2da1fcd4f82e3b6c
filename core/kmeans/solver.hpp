// K-means as the forest needs it: many small problems over one table.
#pragma once
#include <cstdint>
#include <vector>
#include "rows/table.hpp"

namespace cf {

struct Problem {
  const int32_t* columns;  // a column listed twice counts twice in the distance
  int width;
  int k;
  uint64_t seed;
};

// What follows the restarts: a few passes of single-row moves; passes until no move is left; before these, attempts to
// improve the best restart.
enum class Effort : int8_t { quick = 0, polished = 1, improved = 2 };

struct Search {
  int restarts;
  int max_iter;  // of Lloyd, for each restart
  Effort effort;
};

enum class Outcome : int8_t { solved = 0, too_few_distinct_rows = 1 };

// Sums are in units of 4^exponent times the table's unit of weight. Clusters come heaviest first.
struct Solution {
  Outcome outcome = Outcome::too_few_distinct_rows;
  std::vector<double> centers;  // k * width, in the table's coordinates
  double within = 0, between = 0;
  double within_pairs = 0, between_pairs = 0;
  int exponent = 0;
  int iterations = 1;  // of Lloyd, in the restart that won
};

std::vector<Solution> solve(const Table& table, const std::vector<Problem>& problems, const Search& search,
                            int threads);

// The nearest centre of each row, lowest index on ties: labels[problem][input row]; -1 for rows of weight 0.
void assign(const Table& table, const std::vector<Problem>& problems, const std::vector<const double*>& centers,
            int32_t* labels, int threads);

}  // namespace cf
