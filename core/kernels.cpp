// One instruction set's kernels. Built several times with CF_ISA naming the set, each with its own compiler flags.
// Only plain functions and types of this file's own: a shared template compiled with AVX could be linked into the rest.
#include "counts.hpp"
#include "hartigan.hpp"
#include "kernels.hpp"
#include "lloyd.hpp"
#include "nearest.hpp"
#include "partial.hpp"

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
