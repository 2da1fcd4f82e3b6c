// A parallel loop. Indices are handed out one by one, and which thread runs which index never changes a result.
#pragma once
#include <cstdint>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#include "runtime/interrupt.hpp"

namespace cf {

// Call work(index, worker) for each index in [0, count), worker in [0, threads). Threads live for one call, so that
// none is missing after a fork.
template <class Work>
void parallel_for(int64_t count, int threads, const Work& work) {
  if (threads > count) threads = static_cast<int>(count);
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) {
      check_interrupt();
      work(i, 0);
    }
    return;
  }
  std::atomic<int64_t> next{0};
  std::mutex lock;  // guards `error` and `working`
  std::exception_ptr error;
  int working = 0;
  std::condition_variable done;
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
        work(i, worker);
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
  std::vector<std::thread> others;
  try {
    others.reserve(threads - 1);
    for (int worker = 1; worker < threads; ++worker) {
      others.emplace_back(help, worker);
      std::lock_guard<std::mutex> hold(lock);
      ++working;
    }
  } catch (const std::exception&) {
    // The system refused a thread, or memory for one: those that started do the work.
  }
  loop(0);
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
