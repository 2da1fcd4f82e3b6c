// Votes of nodes for their groups, from the number of members in which a row shares its label with each node. Included
// once per instruction set.
#pragma once
#include "consensus/match_counts.hpp"
#include "simd/kernels.hpp"
#include "simd/lanes.hpp"

namespace CF_ISA {
namespace {

// The powers of sixteen counts.
CF_INLINE inline Float powers(const cf::NodeBlock& nodes, const uint8_t* counts) {
  Float out;
#if defined(__AVX512F__) && !defined(CF_PORTABLE_LANES)
  __m128i bytes;
  std::memcpy(&bytes, counts, sizeof bytes);
  const __m512i count = _mm512_cvtepu8_epi32(bytes);  // the permutations use its lowest four bits
  const __m512 high = _mm512_permutexvar_ps(_mm512_srli_epi32(count, 4), _mm512_loadu_ps(nodes.high));
  out.v[0] = (Float::Part)_mm512_mul_ps(high, _mm512_permutexvar_ps(count, _mm512_loadu_ps(nodes.low)));
#else
  float power[kLanes];
  for (int i = 0; i < kLanes; ++i) power[i] = nodes.power[counts[i]];
  out = Float::load(power);
#endif
  return out;
}

// See Kernels::find_lines.
template <class Label>
void find_lines(const Label* labels, int64_t rows, int32_t first, int32_t count, int32_t* __restrict lines,
                int32_t* __restrict lowest) {
  for (int64_t r = 0; r < rows; ++r) {
    const int32_t label = labels[r];
    lowest[r] = label < lowest[r] ? label : lowest[r];
    lines[r] = static_cast<uint32_t>(label) < static_cast<uint32_t>(count) ? first + label : 0;
  }
}

// See Kernels::vote.
void vote(const cf::NodeBlock& nodes, const int32_t* lines, int members, int64_t rows, int64_t step, float* votes) {
  for (int64_t r = 0; r < rows; ++r, ++lines, votes += step) {
    uint8_t counts[cf::kNodeBlock];
    for (int w = 0; w < cf::kNodeWords; w += kWords) {
      Bits planes[8];
      times<8>(8, [&](int p) CF_INLINE { planes[p] = Bits{}; });
      add_rows<8>(nodes.bits + w, cf::kNodeWords, lines, cf::kVoters, members, planes);
      transpose(planes);
      for (int p = 0; p < 8; ++p) std::memcpy(counts + 64 * p + 8 * w, &planes[p], sizeof planes[p]);
    }
    for (int i = 0; i < nodes.count; ++i) {
      const cf::GroupRun& run = nodes.runs[i];
      Float total = Float::load(votes + static_cast<int64_t>(run.group) * kLanes);
      for (int at = run.begin; at < run.end; at += kLanes)
        total = multiply_add(powers(nodes, counts + at), Float::load(nodes.weights + at), total);
      total.store(votes + static_cast<int64_t>(run.group) * kLanes);
    }
  }
}

}  // namespace
}  // namespace CF_ISA
