// Calls from Python that a signal can stop.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace cf {

// Thrown where a call is stopped. Python's error is set.
struct Interrupted {};

// Long work asks every few milliseconds; a clock read in the calling thread, less in others. Throws Interrupted.
void check_interrupt();

// In a loop over rows: if (i % kRowsBetween == 0) check_interrupt();
constexpr int64_t kRowsBetween = 4096, kTilesBetween = kRowsBetween / 16;

// While it lives, the thread does not hold the GIL but takes it now and then to see whether a signal came in. What a
// handler raises (KeyboardInterrupt) stops the calling thread and those that work for it.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static Call*& current();  // the one that this thread works for, or null

 private:
  friend void check_interrupt();
  void check();

  Call* const outer_;  // a signal's handler may call again
  void* state_;        // PyThreadState
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_;
  std::atomic<bool> stopped_{false};
};

}  // namespace cf
