#include "table.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include "random.hpp"

namespace cf {

PowerOfTwo::PowerOfTwo(int exponent)
    : first(std::ldexp(1.0, exponent / 2)), second(std::ldexp(1.0, exponent - exponent / 2)) {}

namespace {

constexpr long kOriginSample = 255;

struct Keyed {
  uint64_t key;
  int64_t row;
};

int exponent_of(const double* x, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(x[i]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

uint64_t row_key(const double* row, long columns, const PowerOfTwo& scale) {
  uint64_t key = kGolden;
  for (long j = 0; j < columns; ++j) {
    const double value = scale(row[j]) + 0.0;  // -0 and 0 are the same value
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    key = (key ^ bits) * 0xD6E8FEB86659FD93ull;
    key ^= key >> 32;
  }
  return mix(key);
}

// Least-significant-digit radix sort on the top 33 bits; equal prefixes are left for the caller.
void radix_sort(std::vector<Keyed>& items) {
  std::vector<Keyed> other(items.size());
  for (int shift = 31; shift < 64; shift += 11) {
    size_t count[2049] = {0};
    for (const Keyed& item : items) ++count[((item.key >> shift) & 2047) + 1];
    for (int digit = 0; digit < 2048; ++digit) count[digit + 1] += count[digit];
    for (const Keyed& item : items) other[count[(item.key >> shift) & 2047]++] = item;
    items.swap(other);
  }
}

}  // namespace

Table::Table(const double* x, long n, long p, const double* weights) : rows(n), columns(p) {
  exponent = exponent_of(x, static_cast<size_t>(n) * p);
  const PowerOfTwo scale(-exponent);
  std::vector<Keyed> order;
  order.reserve(n);
  for (long i = 0; i < n; ++i)
    if (!weights || weights[i] > 0) order.push_back({row_key(x + i * p, p, scale), i});
  radix_sort(order);
  const auto same_key = [](const Keyed& a, const Keyed& b) { return (a.key >> 31) == (b.key >> 31); };
  const auto before = [&](const Keyed& a, const Keyed& b) {
    if (a.key != b.key) return a.key < b.key;
    const double *left = x + a.row * p, *right = x + b.row * p;
    for (long j = 0; j < p; ++j)
      if (left[j] != right[j]) return left[j] < right[j];
    return weights && weights[a.row] < weights[b.row];  // so that weights add up in one order
  };
  for (size_t i = 0; i < order.size();) {
    size_t end = i + 1;
    while (end < order.size() && same_key(order[i], order[end])) ++end;
    if (end - i > 1) std::sort(order.begin() + i, order.begin() + end, before);
    i = end;
  }
  place.assign(n, -1);
  std::vector<int64_t> source;
  for (const Keyed& item : order) {
    const double w = weights ? weights[item.row] : 1;
    const bool repeated =
        !source.empty() && std::equal(x + item.row * p, x + (item.row + 1) * p, x + source.back() * p);
    if (repeated) {
      weight.back() += w;
    } else {
      source.push_back(item.row);
      weight.push_back(w);
    }
    place[item.row] = static_cast<int32_t>(source.size()) - 1;
  }
  distinct = static_cast<long>(source.size());
  unit = std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; });
  fill(x, source);
  set_origin();
  measure();
}

Table Table::project(const double* x, long n) const {
  Table other;
  other.rows = other.distinct = n;
  other.columns = columns;
  other.origin = origin;
  other.reach = reach;
  other.exponent = exponent;
  other.weight.assign(n, 1);
  other.place.resize(n);
  std::vector<int64_t> source(n);
  for (long i = 0; i < n; ++i) source[i] = other.place[i] = static_cast<int32_t>(i);
  other.fill(x, source);
  for (long j = 0; j < columns; ++j)
    for (long i = 0; i < n; ++i) other.values[j * n + i] -= origin[j];
  return other;
}

void Table::fill(const double* x, const std::vector<int64_t>& source) {
  constexpr long kBlock = 64;  // rows at a time, so that a cache line of the input serves several columns
  const PowerOfTwo scale(-exponent);
  values.resize(static_cast<size_t>(distinct) * columns);
  for (long start = 0; start < distinct; start += kBlock) {
    const long end = std::min(distinct, start + kBlock);
    for (long j = 0; j < columns; ++j)
      for (long i = start; i < end; ++i) values[j * distinct + i] = scale(x[source[i] * columns + j]);
  }
}

// The median of a sample: an outlier must not push the other values into the rounding of float32.
void Table::set_origin() {
  origin.assign(columns, 0);
  const long sample = std::min(distinct, kOriginSample);
  if (!sample) return;
  std::vector<double> some(sample);
  for (long j = 0; j < columns; ++j) {
    std::copy_n(column(j), sample, some.begin());
    std::nth_element(some.begin(), some.begin() + sample / 2, some.end());
    origin[j] = some[sample / 2];
    for (long i = 0; i < distinct; ++i) values[j * distinct + i] -= origin[j];
  }
}

void Table::measure() {
  reach.assign(columns, kConstant);
  for (long j = 0; j < columns; ++j) {
    const int e = exponent_of(column(j), distinct);
    const bool constant = std::all_of(column(j), column(j) + distinct, [](double v) { return v == 0; });
    if (!constant) reach[j] = e;
  }
}

}  // namespace cf
