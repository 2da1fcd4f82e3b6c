// Calls from Python that Ctrl-C, or any signal whose handler raises, can stop.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace cf {

// Thrown to leave a stopped call. Python's error is already set.
struct Interrupted {};

// Throw Interrupted if the call was stopped. Long loops must ask every few milliseconds: it costs the calling thread
// a look at the clock, and other threads less.
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

  Call* const outer_;  // a signal's handler may itself call the core
  void* state_;        // PyThreadState
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_;
  std::atomic<bool> stopped_{false};
};

}  // namespace cf
