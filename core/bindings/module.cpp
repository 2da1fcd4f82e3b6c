// The Python module: its parts, the choice of the instruction set, and how calls are interrupted.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_rows(nb::module_& m);
void bind_kmeans(nb::module_& m);
void bind_consensus(nb::module_& m);

// ---- Interrupts: the part of runtime/threads.hpp that needs Python ----

namespace cf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenChecks{50};
constexpr std::chrono::microseconds kBetweenLooks{100};  // a thread that looks at the clock sooner again is wasteful
constexpr int kMostPassing = 15;

// While Python shuts down, it ends threads that ask for the GIL. Before Python 3.14 it does so by pthread_exit, which
// unwinds the stack and would abort at the first destructor: such a thread sleeps until the process is gone.
void take_gil(PyThreadState* state) {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

}  // namespace

struct Call::State {
  // A look at the clock costs as much as a small loop over rows.
  bool time_is_up() {
    if (unseen++ < passing) return false;
    const auto now = Clock::now();
    passing = now - looked < kBetweenLooks ? std::min(2 * passing + 1, kMostPassing) : 0;
    unseen = 0;
    looked = now;
    return now >= next;
  }

  Call* const outer;  // a signal's handler may itself call the core
  PyThreadState* python;
  const std::thread::id caller = std::this_thread::get_id();
  Clock::time_point looked = Clock::now(), next = looked + kBetweenChecks;  // at the clock last, for signals again
  int unseen = 0, passing = 0;  // times asked since the last look, and how many may pass before another one
  std::atomic<bool> stopped{false};
};

Call*& Call::current() {
  thread_local Call* call = nullptr;
  return call;
}

Call::Call() : state_(new State{current(), PyEval_SaveThread()}) { current() = this; }

Call::~Call() {
  current() = state_->outer;
  take_gil(state_->python);
  delete state_;
}

void check_interrupt() {
  Call* const call = Call::current();
  if (!call) return;
  Call::State& state = *call->state_;
  if (state.stopped.load(std::memory_order_relaxed)) throw Interrupted();
  if (std::this_thread::get_id() != state.caller || !state.time_is_up()) return;

  // Run the handlers of signals that came in.
  take_gil(state.python);
  const bool raised = PyErr_CheckSignals() != 0;
  state.python = PyEval_SaveThread();
  state.next = Clock::now() + kBetweenChecks;
  if (!raised) return;
  state.stopped = true;
  throw Interrupted();
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
  m.doc() =
      "The C++ core. Arrays must be C-contiguous and of the types given; what does not fit raises ValueError or "
      "TypeError.\n"
      "\n"
      "Clusterings are passed flat: problem i has the columns `columns[offsets[i]:offsets[i + 1]]` and `clusters[i]` "
      "clusters,\n"
      "and its centres, `clusters[i]` by columns, follow those of problem i - 1. Labels are (members, rows); labels "
      "below zero\n"
      "match nothing. No result depends on the number of threads.";
  bind_rows(m);
  bind_kmeans(m);
  bind_consensus(m);
  m.def("instruction_set", [] { return std::string(cf::kernels().name); }, "Name the instruction set in use.");
  m.def("instruction_sets", &cf::instruction_sets,
        "List the instruction sets that this machine can run, fastest first.");
  m.def("use_instruction_set", &cf::use_instruction_set, "name"_a, "Choose an instruction set, or \"auto\".");
}
