#include "runtime/threads.hpp"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cf {

// Threads live for one call, so that none is missing after a fork.
void run_parallel(int64_t count, int threads, void (*run)(const void* work, int64_t index, int worker),
                  const void* work) {
  if (threads > count) threads = static_cast<int>(count);
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) {
      check_interrupt();
      run(work, i, 0);
    }
    return;
  }
  std::atomic<int64_t> next{0};
  std::mutex lock;  // guards `error` and `working`
  std::exception_ptr error;
  int working = 0;
  std::condition_variable done;

  // The first error ends the loop in all threads.
  const auto guarded = [&](const auto& task) {
    try {
      task();
    } catch (...) {
      std::lock_guard<std::mutex> hold(lock);
      if (!error) error = std::current_exception();
      next = count;
    }
  };
  const auto loop = [&](int worker) {
    guarded([&] {
      for (int64_t i = next++; i < count; i = next++) {
        check_interrupt();
        run(work, i, worker);
      }
    });
  };
  const auto help = [&, call = Call::current()](int worker) {
    Call::current() = call;
    loop(worker);
    std::lock_guard<std::mutex> hold(lock);
    --working;
    done.notify_one();
  };

  // This thread is one of them. Where the system refuses a thread, or memory for one, those that started do the work.
  std::vector<std::thread> others;
  try {
    others.reserve(threads - 1);
    for (int worker = 1; worker < threads; ++worker) {
      others.emplace_back(help, worker);
      std::lock_guard<std::mutex> hold(lock);
      ++working;
    }
  } catch (const std::exception&) {
  }
  loop(0);

  // While others still work, signals are looked for here.
  std::unique_lock<std::mutex> hold(lock);
  while (!done.wait_for(hold, std::chrono::milliseconds(20), [&] { return working == 0; })) {
    hold.unlock();
    guarded(check_interrupt);
    hold.lock();
  }
  hold.unlock();
  for (std::thread& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace cf
