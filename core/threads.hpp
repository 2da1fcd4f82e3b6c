// Indices 0..count-1 handed to threads one by one. Which thread runs which index never changes a result.
#pragma once
#include <cstdint>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cf {

// work(index, worker), worker in [0, threads). Threads live for one call: nothing survives a fork.
template <class Work>
void parallel_for(int64_t count, int threads, const Work& work) {
  if (threads > count) threads = static_cast<int>(count);
  if (threads <= 1) {
    for (int64_t i = 0; i < count; ++i) work(i, 0);
    return;
  }
  std::atomic<int64_t> next{0};
  std::exception_ptr error;
  std::mutex error_lock;
  auto loop = [&](int worker) {
    try {
      for (int64_t i = next++; i < count; i = next++) work(i, worker);
    } catch (...) {
      std::lock_guard<std::mutex> hold(error_lock);
      error = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  try {
    for (int worker = 1; worker < threads; ++worker) others.emplace_back(loop, worker);
  } catch (const std::exception&) {
    // No thread or no memory for one: those that started do the work.
  }
  loop(0);
  for (std::thread& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace cf
