// The choice of the instruction set, by what the processor supports.
#include <atomic>
#include <stdexcept>
#include "simd/kernels.hpp"

#define CF_DECLARE(NAME)        \
  namespace NAME {              \
  extern const cf::Kernels set; \
  }
CF_DECLARE(baseline)
#ifdef CF_PORTABLE
CF_DECLARE(portable)
#endif
#ifdef CF_X86
CF_DECLARE(avx2)
CF_DECLARE(avx512)
#endif

namespace cf {
namespace {

std::vector<const Kernels*> runnable() {
  std::vector<const Kernels*> sets;
#ifdef CF_X86
  __builtin_cpu_init();
  const bool fma = __builtin_cpu_supports("fma");
  if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    sets.push_back(&avx512::set);
  if (fma && __builtin_cpu_supports("avx2")) sets.push_back(&avx2::set);
#endif
  sets.push_back(&baseline::set);
#ifdef CF_PORTABLE
  sets.push_back(&portable::set);
#endif
  return sets;
}

std::atomic<const Kernels*>& current() {
  static std::atomic<const Kernels*> set{runnable().front()};
  return set;
}

}  // namespace

const Kernels& kernels() { return *current().load(std::memory_order_relaxed); }

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Kernels* set : runnable()) names.emplace_back(set->name);
  return names;
}

void use_instruction_set(const std::string& name) {
  for (const Kernels* set : runnable()) {
    if (name == set->name || name == "auto") {
      current() = set;
      return;
    }
  }
  std::string known = "auto";
  for (const std::string& other : instruction_sets()) known += ", " + other;
  throw std::invalid_argument("instruction set '" + name + "' cannot run here; choose one of: " + known);
}

}  // namespace cf
