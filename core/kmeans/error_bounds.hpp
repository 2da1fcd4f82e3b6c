// How far rounding can be off in the search for the nearest centre. The search on GPUs uses the same bounds.
#pragma once

namespace cf {

// Columns whose units are more than so many powers of two apart are not compared in float32.
constexpr int kFloat32Range = 60;

// Bounds the error of a float32 score of this many products, relative to the sizes of its factors: twice what rounding
// can do.
constexpr double float32_error(int columns) { return (columns + 8.0) * 0x1p-23; }

// Bounds the error of a float64 squared distance, relative to the squared sizes of its ends.
constexpr double float64_error(int columns) { return (columns + 4.0) * 0x1p-47; }

// Squared distances that differ by less are never told apart by float32.
constexpr double kDistanceFloor = 1e-30;

}  // namespace cf
