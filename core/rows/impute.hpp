// Fill missing cells from similar rows: nearest neighbours (Troyanskaya et al. 2001), by distances over the features
// that two rows share (Dixon 1979), so that no row need be complete.
#pragma once
#include <cstdint>
#include <vector>
#include "simd/kernels.hpp"

namespace cf {

// Rows whose values may be taken. Distances are measured between places, which are the values scaled. NaN is missing.
struct Donors {
  Donors(const Features& features, int64_t rows, const double* places, const double* values, const double* weight);

  bool has(int64_t row, int feature) const;

  Features features;
  int64_t rows, tiles;
  const double* values;
  const double* weight;
  std::vector<double> x, known;  // the places and which are known, in tiles: see Kernels::shared_distances
};

struct ImputeSettings {
  double neighbours;    // total weight of the donors whose mean fills a cell
  int nearest;          // how many of the nearest donors may fill it
  const double* means;  // of the columns: what fills it if none of these has a value
};

// Fill the missing cells of `values`, rows that lie at `places`.
void impute(const Donors& donors, const ImputeSettings& settings, const double* places, double* values, int64_t rows,
            int threads);

}  // namespace cf
