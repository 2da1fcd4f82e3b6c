// Tables, scaling, hashes, draws of features and imputation, against plain loops.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include "rows/impute.hpp"
#include "rows/row_hash.hpp"
#include "rows/scaling.hpp"
#include "rows/table.hpp"
#include "runtime/random.hpp"
#include "self_test.hpp"

namespace self_test {
namespace {

// Every input row is where `place` says, and equal rows are at one place with their weights added.
uint64_t table_case(int) {
  const int64_t rows = 500, columns = 6;
  const std::vector<double> x = make_table(rows, columns, 1), weights = make_weights(rows, 2);
  const cf::Table table(x.data(), rows, columns, weights.data(), {columns, nullptr});
  std::vector<double> mass(table.distinct, 0);
  for (int64_t i = 0; i < rows; ++i) {
    check((table.place[i] < 0) == (weights[i] == 0), "a row of weight 0 has a place, or another has none");
    if (table.place[i] < 0) continue;
    mass[table.place[i]] += weights[i];
    for (int64_t j = 0; j < columns; ++j) {
      const double at = table.column(j)[table.place[i]] + table.origin[j];
      check(near(std::ldexp(at, table.exponent[j]), x[i * columns + j]), "a value is not where its place says");
    }
  }
  for (int64_t i = 0; i < table.distinct; ++i)
    check(near(std::ldexp(table.weight[i], table.weight_exponent), mass[i]), "weights of equal rows are not added");
  return Digest().add(table.values).add(table.weight).add(table.place).add(table.origin).value();
}

// One column is shifted and divided, one is ranked, and a third adds up both.
uint64_t scaling_case(int threads) {
  const int64_t rows = 3000;
  const std::vector<double> x = make_table(rows, 2, 3);
  const std::vector<double> knots{100, 250, 400, 600}, ranks{0, 0.5, 0.6, 1};
  const std::vector<int32_t> exponent{3, 0}, term_columns{0, 1};
  const std::vector<double> shift{0.25, 0}, divisor{3, 1}, coefficients{0.3, -0.7};
  const std::vector<uint8_t> ranked{0, 1};
  const std::vector<int64_t> starts{0, 0, 4}, term_starts{0, 2};
  const cf::Scaling scaling({1, 2, exponent.data(), shift.data(), divisor.data(), ranked.data(), starts.data(),
                             knots.data(), ranks.data(), 1, term_starts.data(), term_columns.data(),
                             coefficients.data()});
  std::vector<double> out(rows * 3);
  scaling.apply_rows(x.data(), rows, out.data(), threads);
  for (int64_t i = 0; i < rows; ++i) {
    const double value = std::clamp(x[2 * i + 1], knots.front(), knots.back());
    size_t k = 0;
    while (k + 2 < knots.size() && value >= knots[k + 1]) ++k;
    const double rank = ranks[k] + (ranks[k + 1] - ranks[k]) * (value - knots[k]) / (knots[k + 1] - knots[k]);
    const double plain = (x[2 * i] / 8 - 0.25) / 3;
    check(near(out[3 * i], plain) && near(out[3 * i + 1], rank), "a scaled value is wrong");
    check(near(out[3 * i + 2], 0.3 * plain - 0.7 * rank), "a projected value is wrong");
  }
  return Digest().add(out).value();
}

uint64_t row_hash_case(int threads) {
  const int64_t rows = 2500;
  std::vector<double> x = make_table(rows, 3, 4);
  x[3] = 0.0, x[6] = -0.0;
  std::copy_n(&x[4], 2, &x[7]);
  x[9] = std::numeric_limits<double>::quiet_NaN();
  std::vector<uint64_t> keys(rows);
  cf::hash_rows(x.data(), rows, 3, keys.data(), threads);
  check(keys[1] == keys[2], "0 and -0 have different hashes");
  check(keys[0] == keys[10] && keys[0] != keys[11], "hashes do not tell equal rows from others");
  std::vector<uint64_t> again(rows);
  const cf::ColumnEnds ends = cf::scan_rows(x.data(), rows, 3, again.data(), threads);
  check(again == keys, "a scan has other hashes");
  check(ends.low[0] != ends.low[0] && ends.high[0] != ends.high[0], "a NaN is not among the ends of its column");
  for (int c : {1, 2}) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t r = 0; r < rows; ++r) low = std::min(low, x[3 * r + c]), high = std::max(high, x[3 * r + c]);
    check(ends.low[c] == low && ends.high[c] == high, "the ends of a column are wrong");
  }
  return Digest().add(keys).value();
}

uint64_t feature_draw_case(int) {
  Digest digest;
  for (uint64_t key = 0; key < 200; ++key) {
    std::vector<int32_t> taken{2, 5, 11}, out(12);
    cf::draw_features(key, 14, 12, taken, out.data());
    const std::set<int32_t> drawn(out.begin(), out.begin() + 11);
    check(drawn.size() == 11 && *drawn.begin() >= 0 && *drawn.rbegin() < 14, "features repeat or are out of range");
    check(!drawn.count(2) && !drawn.count(5) && !drawn.count(11), "a feature was drawn that is taken");
    check(out[11] == -1, "a feature was drawn where none is left");
    digest.add(out);
  }
  return digest.value();
}

// With one feature to each column, the mean of the two nearest donors that have the feature.
double plain_fill(const std::vector<double>& x, int64_t rows, int columns, const double* row, int column) {
  std::vector<std::pair<double, int64_t>> order;
  for (int64_t r = 0; r < rows; ++r) {
    double apart = 4, shared = 2;
    for (int j = 0; j < columns; ++j) {
      const double gap = row[j] - x[r * columns + j];
      if (std::isnan(gap)) continue;
      apart += gap * gap;
      ++shared;
    }
    order.push_back({apart / shared, r});
  }
  std::sort(order.begin(), order.end());
  double sum = 0;
  int found = 0;
  for (int i = 0; i < 10 && found < 2; ++i) {
    const double value = x[order[i].second * columns + column];
    if (!std::isnan(value)) sum += value, ++found;
  }
  return sum / found;
}

uint64_t impute_case(int threads) {
  const int64_t rows = 200;
  constexpr int columns = 5;
  std::vector<double> x = make_table(rows, columns, 5);
  for (int64_t i = 0; i < rows * columns; ++i)
    if (draw(6, i, 10) == 0) x[i] = std::numeric_limits<double>::quiet_NaN();
  std::vector<int32_t> first(columns);
  std::iota(first.begin(), first.end(), 0);
  const std::vector<int32_t> widths(columns, 1);
  const std::vector<double> weight(rows, 1), means(columns, 0);
  const cf::Donors donors({first.data(), widths.data(), columns, columns}, rows, x.data(), x.data(), weight.data());
  std::vector<double> filled = x;
  cf::impute(donors, {2, 10, means.data()}, x.data(), filled.data(), rows, threads);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double* row = &x[i / columns * columns];
    const double wanted = std::isnan(x[i]) ? plain_fill(x, rows, columns, row, static_cast<int>(i % columns)) : x[i];
    check(near(filled[i], wanted), "a cell is not filled from the nearest rows");
  }
  return Digest().add(filled).value();
}

}  // namespace

std::vector<Case> row_cases() {
  return {{"table", table_case},
          {"scaling", scaling_case},
          {"row_hash", row_hash_case},
          {"feature_draw", feature_draw_case},
          {"impute", impute_case}};
}

}  // namespace self_test
