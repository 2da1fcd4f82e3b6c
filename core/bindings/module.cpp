// The Python module: its parts, the choice of the instruction set, and how calls are interrupted.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <exception>
#include <string>
#include "runtime/interrupt.hpp"
#include "simd/kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_rows(nb::module_& m);
void bind_kmeans(nb::module_& m);
void bind_consensus(nb::module_& m);

// ---- Interrupts: the part of runtime/interrupt.hpp that needs Python ----

namespace cf {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{50};
constexpr std::chrono::microseconds kBetweenLooks{100};  // a thread that looks at the clock sooner again is wasteful
constexpr int kMostPassing = 15;

// While Python shuts down, it ends threads that ask for the GIL. Before Python 3.14 it does so by pthread_exit, which
// unwinds the stack and would abort at the first destructor: such a thread sleeps until the process is gone.
void take_gil(void* state) {
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

}  // namespace

Call*& Call::current() {
  thread_local Call* call = nullptr;
  return call;
}

Call::Call()
    : outer_(current()),
      state_(PyEval_SaveThread()),
      looked_(std::chrono::steady_clock::now()),
      next_(looked_ + kBetweenChecks) {
  current() = this;
}

Call::~Call() {
  current() = outer_;
  take_gil(state_);
}

// A look at the clock costs as much as a small loop over rows.
bool Call::time_is_up() {
  if (unseen_++ < passing_) return false;
  const auto now = std::chrono::steady_clock::now();
  passing_ = now - looked_ < kBetweenLooks ? std::min(2 * passing_ + 1, kMostPassing) : 0;
  unseen_ = 0;
  looked_ = now;
  return now >= next_;
}

void Call::check() {
  if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
  if (std::this_thread::get_id() != caller_ || !time_is_up()) return;
  take_gil(state_);
  const bool raised = PyErr_CheckSignals() != 0;
  state_ = PyEval_SaveThread();
  next_ = std::chrono::steady_clock::now() + kBetweenChecks;
  if (!raised) return;
  stopped_ = true;
  throw Interrupted();
}

void check_interrupt() {
  if (Call* call = Call::current()) call->check();
}

}  // namespace cf

// ---- The module ----

NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const cf::Interrupted&) {
      // The exception that the signal's handler raised is set already.
    }
  });
  m.doc() = "The hot loops of clusterforests: K-means problems over one table, match counts, products with W.";
  bind_rows(m);
  bind_kmeans(m);
  bind_consensus(m);
  m.def("instruction_set", [] { return std::string(cf::kernels().name); });
  m.def("instruction_sets", &cf::instruction_sets);
  m.def("use_instruction_set", &cf::use_instruction_set, "name"_a);
}
