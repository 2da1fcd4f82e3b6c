// The kernels of one instruction set. Built several times with CF_ISA naming the set, each with its own compiler flags.
//
// Everything included here has internal linkage: a template compiled with AVX that the linker shared with the rest of
// the core would run on processors without AVX.
#include "simd/kernels.hpp"
#include "consensus/match_kernels.hpp"
#include "kmeans/distances.hpp"
#include "kmeans/hartigan.hpp"
#include "kmeans/lloyd.hpp"
#include "rows/row_kernels.hpp"

#define CF_TEXT_(x) #x
#define CF_TEXT(x) CF_TEXT_(x)

namespace CF_ISA {
extern const cf::Kernels set;
const cf::Kernels set = {CF_TEXT(CF_ISA),
                         lloyd,
                         nearest_center,
                         assign,
                         two_nearest,
                         hartigan,
                         {count_row<uint8_t>, look_up<uint8_t>, count_products<uint8_t>, entry_products<uint8_t>},
                         {count_row<uint16_t>, look_up<uint16_t>, count_products<uint16_t>, entry_products<uint16_t>},
                         row_products,
                         find_lines<int8_t>,
                         find_lines<int16_t>,
                         find_lines<int32_t>,
                         vote,
                         shared_distances,
                         scale_tile,
                         project,
                         all_finite,
                         sum_clusters};
}  // namespace CF_ISA
