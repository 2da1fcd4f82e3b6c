// Match counts, products with them and tables of labels, against plain loops.
#include <algorithm>
#include "consensus/label_tables.hpp"
#include "consensus/matches.hpp"
#include "self_test.hpp"

namespace self_test {
namespace {

int matches(const std::vector<int32_t>& a, int64_t rows, int64_t i, const std::vector<int32_t>& b, int64_t columns,
            int64_t j) {
  const int members = static_cast<int>(a.size() / rows);
  int count = 0;
  for (int m = 0; m < members; ++m) count += a[m * rows + i] >= 0 && a[m * rows + i] == b[m * columns + j];
  return count;
}

// A table of weights that is 0 below a third of the members.
std::vector<double> weights_of_counts(int members) {
  std::vector<double> table(members + 1, 0);
  for (int c = members / 3; c <= members; ++c) table[c] = (c * c + 1) / 7.0;
  return table;
}

std::vector<double> vectors(int count, int64_t length) {
  std::vector<double> out(count * length);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(draw(21, i, 2001) - 1000) / 13.0;
  return out;
}

uint64_t coassociation_case(int threads) {
  const int64_t rows = 90, columns = 150;
  Digest digest;
  for (int members : {40, 300}) {  // counts of one byte, and of two
    const std::vector<int32_t> a = make_labels(members, rows, 3, 22), b = make_labels(members, columns, 3, 23);
    const std::vector<double> table = weights_of_counts(members);
    std::vector<double> out(rows * columns);
    cf::coassociate(a.data(), rows, b.data(), columns, members, table.data(), out.data(), threads);
    for (int64_t i = 0; i < rows * columns; ++i)
      check(out[i] == table[matches(a, rows, i / columns, b, columns, i % columns)], "a count is wrong");
    digest.add(out);
  }
  return digest.value();
}

uint64_t product_case(int threads) {
  const int64_t rows = 70, columns = 333;
  const std::vector<double> matrix = make_table(rows, columns, 24), given = vectors(3, columns);
  std::vector<double> out(3 * rows);
  cf::multiply(matrix.data(), rows, columns, given.data(), 3, out.data(), threads);
  for (int64_t i = 0; i < 3 * rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += matrix[i % rows * columns + j] * given[i / rows * columns + j];
    check(near(out[i], sum), "a product is wrong");
  }
  return Digest().add(out).value();
}

// Products with the weights of all pairs, which are never written out; the same from matches that are kept.
uint64_t match_operator_case(int threads) {
  const int64_t rows = 120, columns = 2300;
  Digest digest;
  for (int members : {40, 300}) {
    const std::vector<int32_t> a = make_labels(members, rows, 3, 25), b = make_labels(members, columns, 3, 26);
    const std::vector<double> table = weights_of_counts(members), given = vectors(5, columns);
    cf::MatchOperator matched(b.data(), columns, members, table.data(), false);
    std::vector<double> out(5 * rows), again(5 * rows);
    matched.multiply(a.data(), rows, given.data(), 5, out.data(), threads);
    matched.store(a.data(), rows, threads);
    matched.multiply_stored(given.data(), 5, again.data(), threads);
    check(out == again, "products from stored matches differ");
    for (int64_t i = 0; i < rows; i += 7) {
      double sum[5] = {};
      for (int64_t j = 0; j < columns; ++j)
        for (int v = 0; v < 5; ++v) sum[v] += table[matches(a, rows, i, b, columns, j)] * given[v * columns + j];
      for (int v = 0; v < 5; ++v) check(near(out[v * rows + i], sum[v]), "a product is wrong");
    }
    digest.add(out);
  }
  return digest.value();
}

uint64_t label_table_case(int threads) {
  const int members = 25, width = 4, clusters = 6;
  const int64_t rows = 1500;
  const std::vector<int32_t> labels = make_labels(members, rows, clusters + 2, 27);
  const std::vector<double> lines = make_table(members * (clusters + 2), width, 28);
  std::vector<int64_t> first;
  for (int m = 0; m <= members; ++m) first.push_back(m * (clusters + 2));
  std::vector<double> out(rows * width);
  cf::sum_lines(labels.data(), rows, members, first.data(), lines.data(), width, out.data(), threads);
  std::vector<uint64_t> keys(rows);
  cf::column_keys(labels.data(), rows, members, keys.data());
  for (int64_t i = 0; i < rows * width; ++i) {
    double sum = 0;
    for (int m = 0; m < members; ++m) {
      const int32_t label = labels[m * rows + i / width];
      const int64_t line = label < 0 ? clusters + 1 : std::min(label, int32_t{clusters});
      sum += lines[(first[m] + line) * width + i % width];
    }
    check(near(out[i], sum), "a sum of lines is wrong");
  }
  return Digest().add(out).add(keys).value();
}

}  // namespace

std::vector<Case> consensus_cases() {
  return {{"coassociation", coassociation_case},
          {"product", product_case},
          {"match_operator", match_operator_case},
          {"label_tables", label_table_case}};
}

}  // namespace self_test
