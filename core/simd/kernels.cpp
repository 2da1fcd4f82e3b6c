// One instruction set's kernels. Built several times with CF_ISA naming the set, each with its own compiler flags.
// Only plain functions and types of this file's own: a shared template compiled with AVX could be linked into the rest.
#include "consensus/match_counts.hpp"
#include "kmeans/hartigan.hpp"
#include "simd/kernels.hpp"
#include "kmeans/lloyd.hpp"
#include "kmeans/nearest_center_kernel.hpp"
#include "rows/shared_distance.hpp"

#define CF_TEXT_(x) #x
#define CF_TEXT(x) CF_TEXT_(x)

namespace CF_ISA {
extern const cf::Kernels set;
const cf::Kernels set = {CF_TEXT(CF_ISA),
                         lloyd,
                         nearest,
                         assign,
                         gaps,
                         hartigan,
                         {count_row<uint8_t>, look_up<uint8_t>, count_products<uint8_t>, entry_products<uint8_t>},
                         {count_row<uint16_t>, look_up<uint16_t>, count_products<uint16_t>, entry_products<uint16_t>},
                         row_products,
                         partial_distances};
}  // namespace CF_ISA
