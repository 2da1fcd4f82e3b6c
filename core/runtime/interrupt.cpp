#include "runtime/interrupt.hpp"
#include <Python.h>

namespace cf {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks{50};

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
    : outer_(current()), state_(PyEval_SaveThread()), next_(std::chrono::steady_clock::now() + kBetweenChecks) {
  current() = this;
}

Call::~Call() {
  current() = outer_;
  take_gil(state_);
}

void Call::check() {
  if (stopped_.load(std::memory_order_relaxed)) throw Interrupted();
  if (std::this_thread::get_id() != caller_ || std::chrono::steady_clock::now() < next_) return;
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
