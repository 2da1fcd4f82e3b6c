// Parallel loops, and calls from Python that Ctrl-C, or any signal whose handler raises, can stop.
#pragma once
#include <cstdint>

namespace cf {

// Thrown to leave a stopped call. Python's error is already set.
struct Interrupted {};

// Throw Interrupted if the call was stopped. Long loops must ask every few milliseconds. The calling thread then looks
// at the clock, unless it asks so often that most times may pass without.
void check_interrupt();

// In a loop over rows: if (i % kRowsBetween == 0) check_interrupt();
constexpr int64_t kRowsBetween = 4096, kTilesBetween = kRowsBetween / 16;

// Releases the GIL for its lifetime, and takes it back now and then to see whether a signal came in. What the signal's
// handler raises (KeyboardInterrupt) stops the calling thread and its helpers.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static Call*& current();  // the call that this thread works for, or null

 private:
  friend void check_interrupt();
  struct State;  // in bindings/module.cpp, which has Python
  State* const state_;
};

void run_parallel(int64_t count, int threads, void (*run)(const void* work, int64_t index, int worker),
                  const void* work);

// Call work(index, worker) for each index in [0, count), worker in [0, threads). Indices are handed out one by one, and
// which thread runs which index never changes a result.
template <class Work>
void parallel_for(int64_t count, int threads, const Work& work) {
  const auto run = [](const void* work, int64_t index, int worker) {
    (*static_cast<const Work*>(work))(index, worker);
  };
  run_parallel(count, threads, run, &work);
}

}  // namespace cf
