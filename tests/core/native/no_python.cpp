// Calls that nothing can stop, for programs without Python.
#include "runtime/threads.hpp"

namespace cf {

Call*& Call::current() {
  thread_local Call* call = nullptr;
  return call;
}

void check_interrupt() {}

}  // namespace cf
