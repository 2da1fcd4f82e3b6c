#include "rows/table.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include "runtime/threads.hpp"

namespace cf {
namespace {

constexpr int64_t kOriginSample = 63;

struct Keyed {
  uint64_t key;
  int64_t row;
};

// The largest magnitude.
double largest_of(const double* x, size_t count) {
  double largest[4] = {0, 0, 0, 0};  // four chains of comparisons instead of one
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int j = 0; j < 4; ++j) largest[j] = std::max(largest[j], std::fabs(x[i + j]));
  for (; i < count; ++i) largest[0] = std::max(largest[0], std::fabs(x[i]));
  return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

int radix_digits(int bits) { return (bits + 10) / 11; }

// How many leading bits of the keys tell most rows apart.
int prefix_bits(size_t count) {
  int bits = 8;
  while (bits < 33 && (size_t{1} << bits) < count) ++bits;
  if (bits < 11) ++bits;  // while one digit is enough: fewer rows are left to compare
  const int digits = radix_digits(bits);
  return (bits + digits - 1) / digits * digits;
}

// Radix sort by the leading bits, least significant digit first. Rows that share these bits are left to the caller.
void radix_sort(std::vector<Keyed>& items, int bits) {
  const int digits = radix_digits(bits), width = bits / digits;
  const uint64_t digit = (uint64_t{1} << width) - 1;
  std::vector<Keyed> other(items.size());
  std::vector<uint32_t> count;
  for (int shift = 64 - bits; shift < 64; shift += width) {
    check_interrupt();
    count.assign(digit + 2, 0);
    for (const Keyed& item : items) ++count[((item.key >> shift) & digit) + 1];
    for (size_t d = 0; d <= digit; ++d) count[d + 1] += count[d];
    for (const Keyed& item : items) other[count[(item.key >> shift) & digit]++] = item;
    items.swap(other);
  }
}

// Sort the rows that have a weight by their keys, equal keys by value, and equal rows by weight, so that weights are
// added in one order.
std::vector<Keyed> sort_rows(const double* x, int64_t n, int64_t p, const uint64_t* keys, const double* weights) {
  // By the leading bits of the keys, which tell most rows apart.
  std::vector<Keyed> order;
  order.reserve(n);
  for (int64_t i = 0; i < n; ++i)
    if (!weights || weights[i] > 0) order.push_back({keys[i], i});
  const int bits = prefix_bits(order.size());
  radix_sort(order, bits);
  // The few that share them, by comparison.
  const auto same_prefix = [&](const Keyed& a, const Keyed& b) { return (a.key ^ b.key) >> (64 - bits) == 0; };
  int64_t compared = 0;
  const auto before = [&](const Keyed& a, const Keyed& b) {
    if (++compared % kRowsBetween == 0) check_interrupt();
    if (a.key != b.key) return a.key < b.key;
    const double *left = x + a.row * p, *right = x + b.row * p;
    for (int64_t j = 0; j < p; ++j)
      if (left[j] != right[j]) return left[j] < right[j];
    return weights && weights[a.row] < weights[b.row];
  };
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && same_prefix(order[i], order[end])) ++end;
    if (end - i == 2 && before(order[i + 1], order[i])) std::swap(order[i], order[i + 1]);  // most often there are two
    if (end - i > 2) std::sort(order.begin() + i, order.begin() + end, before);
    i = end;
  }
  return order;
}

}  // namespace

Table::Table(const double* x, int64_t n, int64_t p, const double* weights, const RowOrder& by) : rows(n), columns(p) {
  for (double largest : largest_by_column(x, n, p, weights)) exponent.push_back(exponent_of(largest));
  const std::vector<int64_t> source = merge_equal_rows(x, weights, by);
  scale_weights();
  fill(x, source);
  set_origin();
  measure_reach();
}

// Returns an input row for each distinct row.
std::vector<int64_t> Table::merge_equal_rows(const double* x, const double* weights, const RowOrder& by) {
  // Keys of the rows, unless they are given.
  std::vector<uint64_t> own;
  if (!by.keys) {
    RowKeys hashed(rows);
    hashed.add(x, columns, undo({exponent.begin(), exponent.begin() + by.keyed}), 1);
    own = std::move(hashed).finished();
  }
  const std::vector<Keyed> order = sort_rows(x, rows, columns, by.keys ? by.keys : own.data(), weights);
  // Equal rows are neighbours now: keep the first of them, and add up their weights.
  place.assign(rows, -1);
  std::vector<int64_t> source;
  source.reserve(order.size());
  weight.reserve(order.size());
  uint64_t last = 0;
  int64_t seen = 0;
  for (const Keyed& item : order) {
    if (seen++ % kRowsBetween == 0) check_interrupt();
    const double w = weights ? weights[item.row] : 1;
    const bool repeated = item.key == last && !source.empty() &&
                          std::equal(x + item.row * columns, x + (item.row + 1) * columns, x + source.back() * columns);
    last = item.key;
    if (repeated) {
      weight.back() += w;
    } else {
      source.push_back(item.row);
      weight.push_back(w);
    }
    place[item.row] = static_cast<int32_t>(source.size()) - 1;
  }
  distinct = static_cast<int64_t>(source.size());
  return source;
}

// Weights other than 1 become at most about 1.
void Table::scale_weights() {
  unit = std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; });
  if (unit) return;
  weight_exponent = exponent_of(largest_of(weight.data(), weight.size()));
  const PowerOfTwo lighter(-weight_exponent);
  for (double& w : weight) w = lighter(w);
}

Table Table::project(const double* x, int64_t n, const Coordinates& coordinates) {
  // Rows become columns, a block at a time.
  constexpr int64_t kBlock = 64;
  const int64_t p = static_cast<int64_t>(coordinates.exponent.size());
  std::vector<double> values(static_cast<size_t>(n) * p);
  for (int64_t start = 0; start < n; start += kBlock) {
    if (start % kRowsBetween == 0) check_interrupt();
    for (int64_t j = 0; j < p; ++j)
      for (int64_t i = start; i < std::min(n, start + kBlock); ++i) values[j * n + i] = x[i * p + j];
  }
  return adopt(std::move(values), n, coordinates);
}

Table Table::adopt(std::vector<double>&& values, int64_t n, const Coordinates& coordinates) {
  Table other;
  static_cast<Coordinates&>(other) = coordinates;
  other.rows = other.distinct = n;
  other.projected = true;
  other.columns = static_cast<int64_t>(coordinates.exponent.size());
  other.values = std::move(values);
  other.weight.assign(n, 1);
  other.place.resize(n);
  std::iota(other.place.begin(), other.place.end(), 0);
  const std::vector<PowerOfTwo> scale = undo(coordinates.exponent);
  for (int64_t j = 0; j < other.columns; ++j) {
    check_interrupt();
    for (int64_t i = 0; i < n; ++i) {
      double& value = other.values[j * n + i];
      value = scale[j](value) + 0.0 - coordinates.origin[j];
    }
  }
  return other;
}

// The columns, divided by their powers of two.
void Table::fill(const double* x, const std::vector<int64_t>& source) {
  constexpr int64_t kBlock = 64;  // rows at a time, so that a cache line of the input serves several columns
  const std::vector<PowerOfTwo> scale = undo(exponent);
  values.resize(static_cast<size_t>(distinct) * columns);
  for (int64_t start = 0; start < distinct; start += kBlock) {
    if (start % kRowsBetween == 0) check_interrupt();
    const int64_t end = std::min(distinct, start + kBlock);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = start; i < end; ++i) values[j * distinct + i] = scale[j](x[source[i] * columns + j]) + 0.0;
  }
}

// Subtract the median of a sample. With the mean, an outlier could leave the other values to the rounding of float32.
void Table::set_origin() {
  origin.assign(columns, 0);
  const int64_t sample = std::min(distinct, kOriginSample);
  if (!sample) return;
  std::vector<double> some(sample);
  for (int64_t j = 0; j < columns; ++j) {
    check_interrupt();
    std::copy_n(column(j), sample, some.begin());
    std::nth_element(some.begin(), some.begin() + sample / 2, some.end());
    origin[j] = some[sample / 2];
    for (int64_t i = 0; i < distinct; ++i) values[j * distinct + i] -= origin[j];
  }
}

// How far each column goes from its origin, as a power of two.
void Table::measure_reach() {
  reach.assign(columns, kConstant);
  for (int64_t j = 0; j < columns; ++j) {
    check_interrupt();
    const double largest = largest_of(column(j), distinct);
    if (largest > 0) reach[j] = exponent_of(largest) + exponent[j];
  }
}

}  // namespace cf
