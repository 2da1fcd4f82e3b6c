#include "kmeans/table_fit.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include "kmeans/nearest_center.hpp"
#include "kmeans/solver.hpp"

namespace cf {

TableFit fit_table(const WeightedRows& from, int k, uint64_t seed, const SearchSettings& settings, int32_t* labels,
                   int threads) {
  const Table table(from.x, from.rows, from.columns, from.weights, {from.columns, nullptr});
  TableFit fit;
  fit.distinct = table.distinct;
  if (!table.distinct) return fit;
  std::vector<int32_t> columns(from.columns);
  std::iota(columns.begin(), columns.end(), 0);
  const int found = static_cast<int>(std::min<int64_t>(k, table.distinct));
  if (!can_be_indexed(found, from.columns)) throw std::invalid_argument(kTooManyCells);
  const std::vector<Problem> problem = {{columns.data(), static_cast<int>(from.columns), found, seed}};
  Solution solution = std::move(solve(table, problem, settings, threads)[0]);
  fit.solved = solution.solved;
  if (!fit.solved) return fit;
  fit.scale = solution.exponent;
  fit.iterations = solution.iterations;
  fit.within = std::ldexp(solution.within, 2 * solution.exponent + table.weight_exponent);
  fit.coordinates = table;
  fit.places = std::move(solution.centers);
  for (size_t i = 0; i < fit.places.size(); ++i) {
    const size_t j = i % columns.size();
    fit.centers.push_back(std::ldexp(fit.places[i] + table.origin[j], table.exponent[j]));
  }
  const bool every = std::none_of(table.place.begin(), table.place.end(), [](int32_t place) { return place < 0; });
  if (every)
    assign(table, problem, {fit.places.data()}, labels, threads);
  else
    assign(Table::project(from.x, from.rows, table), problem, {fit.places.data()}, labels, threads);
  return fit;
}

}  // namespace cf
