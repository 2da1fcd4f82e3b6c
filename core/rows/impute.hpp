// Missing cells filled from similar rows.
#pragma once
#include <cstdint>
#include <vector>
#include "simd/kernels.hpp"

namespace cf {

// Rows whose values may be taken. Distances are measured between places: the values, scaled. NaN means missing.
struct Donors {
  Donors(const Features& features, int64_t rows, const double* places, const double* values, const double* weight);

  bool has(int64_t row, int feature) const;

  Features features;
  int64_t rows, tiles;
  const double* values;
  const double* weight;
  std::vector<double> x, known;  // the places: tiles * columns * 16 and tiles * features * 16, for the kernel
};

struct Filling {
  double neighbours;    // weight of the donors whose mean fills a cell
  int nearest;          // they are among so many nearest ones
  const double* means;  // of the columns, where none of these has a value
};

// Fills the missing cells of `rows` rows.
void fill(const Donors& donors, const Filling& how, const double* places, double* values, int64_t rows, int threads);

}  // namespace cf
