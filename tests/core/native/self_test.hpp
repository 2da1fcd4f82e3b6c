// What the self-tests of the core share: tables made of integers, checks, and digests of results.
//
// They need no Python, so they run wherever the core can be compiled.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>
#include "runtime/random.hpp"

namespace self_test {

inline void check(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

inline bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a) + std::abs(b)); }

// An integer in [0, n), the same everywhere.
inline int64_t draw(uint64_t seed, uint64_t counter, uint64_t n) {
  return static_cast<int64_t>(cf::below(cf::hash(seed, counter), n));
}

// A table x[row][column] with three groups, some equal rows, and columns of different units.
inline std::vector<double> make_table(int64_t rows, int columns, uint64_t seed) {
  std::vector<double> x(rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t row = i % 10 ? i : 0;
    for (int j = 0; j < columns; ++j) {
      const uint64_t cell = static_cast<uint64_t>(row) * columns + j;
      const int64_t spread = draw(seed, 2 * cell, 1000) + draw(seed, 2 * cell + 1, 1000);
      const int64_t center = draw(seed + 1, (row % 3) * columns + j, 4000);
      x[i * columns + j] = static_cast<double>(spread + center) / (j % 2 ? 7.0 : 1000.0);
    }
  }
  return x;
}

inline std::vector<double> make_weights(int64_t rows, uint64_t seed) {
  std::vector<double> weights(rows);
  for (int64_t i = 0; i < rows; ++i) weights[i] = static_cast<double>(draw(seed, i, 5)) / 3.0;
  return weights;
}

// Labels[member][row] below `clusters`, of which some are -1.
inline std::vector<int32_t> make_labels(int members, int64_t rows, int clusters, uint64_t seed) {
  std::vector<int32_t> labels(members * rows);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(draw(seed, i, clusters + 1)) - 1;
  return labels;
}

// A hash of bytes (FNV-1a). Every machine that the package supports has its lowest byte first.
class Digest {
 public:
  template <class T>
  Digest& add(const std::vector<T>& numbers) {
    for (const T& number : numbers) add(number);
    return *this;
  }
  template <class T>
  Digest& add(T number) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &number, sizeof(T));
    for (unsigned char byte : bytes) value_ = (value_ ^ byte) * 0x100000001B3ull;
    return *this;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xCBF29CE484222325ull;
};

struct Case {
  const char* name;
  uint64_t (*run)(int threads);  // throws where a result is not what a plain loop finds
};

std::vector<Case> row_cases();
std::vector<Case> kmeans_cases();
std::vector<Case> consensus_cases();

}  // namespace self_test
