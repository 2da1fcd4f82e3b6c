// Calls from Python that Ctrl-C, or any signal whose handler raises, can stop.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

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
  void check();
  bool time_is_up();

  Call* const outer_;  // a signal's handler may itself call the core
  void* state_;        // PyThreadState
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point looked_, next_;  // last at the clock, and for signals again
  int unseen_ = 0, passing_ = 0;  // times asked since the last look, and how many may pass before another one
  std::atomic<bool> stopped_{false};
};

}  // namespace cf
