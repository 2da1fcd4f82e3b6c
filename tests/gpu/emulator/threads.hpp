// The threads of a CUDA block on the CPU: each has a stack of its own and runs until it waits for others or ends.
// What a GPU would hang on or not notice ends the launch with a message instead.

#pragma once

#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

struct Index {
  unsigned x, y, z;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

namespace emulator {

constexpr int kLanes = 32;
constexpr int kMostThreads = 1024;
constexpr std::size_t kStackBytes = 128 << 10;
constexpr std::size_t kSharedBytes = 256 << 10;

// What the lanes of a warp do together, once all have come: it reads and writes the operands of the lanes given as
// bits.
using Together = void (*)(void* const* operands, unsigned lanes);

enum class State { kReady, kAtBarrier, kInWarp, kDone };

struct Thread {
  jmp_buf at;
  ucontext_t first;
  bool started;
  State state;
  int line;  // of its barrier
  unsigned mask;
  Together together;
};

struct Warp {
  unsigned alive, waiting;
  void* operands[kLanes];
};

static Thread threads[kMostThreads];
static Warp warps[kMostThreads / kLanes];
static int alive, at_barrier, current;
static jmp_buf scheduler, launcher;
static const char* kernel_name;
static void (*enter)(const void* call);
static const void* kernel_call;
static char message[400];
static unsigned char *stacks, *shared_end, *shared;

[[noreturn, gnu::format(printf, 1, 2)]] inline void fail(const char* format, ...) {
  char what[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(what, sizeof what, format, values);
  va_end(values);
  std::snprintf(message, sizeof message, "%s, block (%u, %u), thread %d: %s", kernel_name, blockIdx.x, blockIdx.y,
                current, what);
  _longjmp(launcher, 1);
}

[[gnu::noinline]] inline void wait() {
  if (!_setjmp(threads[current].at)) _longjmp(scheduler, 1);
}

// Lets the lanes go that wait for the same as this thread, if no other is missing.
inline void try_together(int thread) {
  Warp& warp = warps[thread / kLanes];
  Thread* own = threads + thread / kLanes * kLanes;
  const Thread& given = threads[thread];
  const unsigned lanes = given.mask & warp.alive;
  if ((warp.waiting & lanes) != lanes) return;
  for (unsigned left = lanes; left; left &= left - 1) {
    const Thread& other = own[__builtin_ctz(left)];
    if (other.mask != given.mask || other.together != given.together) return;
  }
  given.together(warp.operands, lanes);
  warp.waiting &= ~lanes;
  for (unsigned left = lanes; left; left &= left - 1) own[__builtin_ctz(left)].state = State::kReady;
}

inline void try_barrier() {
  if (!alive || at_barrier < alive) return;
  int line = 0;
  for (unsigned i = 0; i < blockDim.x; ++i) {
    Thread& thread = threads[i];
    if (thread.state != State::kAtBarrier) continue;
    if (line && thread.line != line) fail("threads wait at two barriers, in lines %d and %d", line, thread.line);
    line = thread.line;
    thread.state = State::kReady;
  }
  at_barrier = 0;
}

[[gnu::noinline]] inline void wait_at_barrier(int line) {
  Thread& self = threads[current];
  self.state = State::kAtBarrier;
  self.line = line;
  ++at_barrier;
  try_barrier();
  if (self.state != State::kReady) wait();
}

[[gnu::noinline]] inline void wait_for_warp(unsigned mask, Together together, void* operand) {
  Thread& self = threads[current];
  Warp& warp = warps[current / kLanes];
  const int lane = current % kLanes;
  if (!(mask >> lane & 1)) fail("lane %d is not in its own mask %#x", lane, mask);
  self.state = State::kInWarp;
  self.mask = mask;
  self.together = together;
  warp.operands[lane] = operand;
  warp.waiting |= 1u << lane;
  try_together(current);
  if (self.state != State::kReady) wait();
}

inline void end_thread() {
  threads[current].state = State::kDone;
  --alive;
  Warp& warp = warps[current / kLanes];
  warp.alive &= ~(1u << current % kLanes);
  for (unsigned left = warp.waiting; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (warp.waiting >> lane & 1) try_together(current / kLanes * kLanes + lane);
  }
  try_barrier();
}

inline void live() {
  for (;;) {
    enter(kernel_call);
    end_thread();
    wait();
  }
}

[[gnu::noinline]] inline void resume(int i) {
  Thread& thread = threads[i];
  current = i;
  threadIdx.x = i;
  if (_setjmp(scheduler)) return;
  if (thread.started) _longjmp(thread.at, 1);
  thread.started = true;
  getcontext(&thread.first);
  thread.first.uc_stack.ss_sp = stacks + i * kStackBytes;
  thread.first.uc_stack.ss_size = kStackBytes;
  makecontext(&thread.first, live, 0);
  setcontext(&thread.first);
}

[[noreturn]] inline void fail_stuck() {
  int first = -1, other = -1;
  for (unsigned i = 0; i < blockDim.x; ++i) {
    if (threads[i].state == State::kDone) continue;
    if (first < 0)
      first = i;
    else if (threads[i].state != threads[first].state || threads[i].mask != threads[first].mask)
      other = other < 0 ? i : other;
  }
  const auto describe = [](int i, char* out, std::size_t size) {
    const Thread& thread = threads[i];
    if (thread.state == State::kAtBarrier)
      std::snprintf(out, size, "thread %d waits at the barrier in line %d", i, thread.line);
    else
      std::snprintf(out, size, "thread %d waits for lanes %#x of its warp", i, thread.mask);
  };
  char one[80], two[80] = "for others that do not come";
  describe(first, one, sizeof one);
  if (other >= 0) describe(other, two, sizeof two);
  fail("no thread can go on: %s, %s", one, two);
}

// Every second block runs its threads from the last to the first: a missing barrier shows in one order or the other.
inline void run_block() {
  const int count = blockDim.x;
  std::memset(shared, 0xa5, shared_end - shared);
  alive = count;
  at_barrier = 0;
  for (int i = 0; i < count; ++i) threads[i].state = State::kReady, threads[i].mask = 0;
  for (int w = 0; w * kLanes < count; ++w) {
    warps[w].alive = count - w * kLanes >= kLanes ? ~0u : (1u << (count - w * kLanes)) - 1;
    warps[w].waiting = 0;
  }
  const bool backward = (blockIdx.x + blockIdx.y) % 2;
  while (alive) {
    bool moved = false;
    for (int i = 0; i < count; ++i) {
      const int next = backward ? count - 1 - i : i;
      if (threads[next].state != State::kReady) continue;
      resume(next);
      moved = true;
    }
    if (!moved) fail_stuck();
  }
}

inline void on_fault(int signal) {
  if (signal == SIGFPE) fail("division by zero");
  if (signal == SIGILL) fail("a misaligned access, or an index beyond the end of an array");
  fail("it reads or writes beyond its memory");
}

// While a kernel runs, its faults are ours.
class Faults {
 public:
  Faults() {
    stack_t own = {};
    own.ss_sp = stack_;
    own.ss_size = sizeof stack_;
    sigaltstack(&own, &stack_before_);
    struct sigaction action = {};
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (int i = 0; i < kSignals; ++i) sigaction(signals_[i], &action, before_ + i);
  }
  ~Faults() {
    for (int i = 0; i < kSignals; ++i) sigaction(signals_[i], before_ + i, nullptr);
    sigaltstack(&stack_before_, nullptr);
  }

 private:
  static constexpr int kSignals = 4;
  static constexpr int signals_[kSignals] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  struct sigaction before_[kSignals];
  stack_t stack_before_;
  alignas(16) unsigned char stack_[64 << 10];
};

// Memory that ends where none can be read or written.
inline unsigned char* map_guarded(std::size_t bytes) {
  const std::size_t page = sysconf(_SC_PAGESIZE);
  void* found = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  mprotect(static_cast<unsigned char*>(found) + bytes, page, PROT_NONE);
  return static_cast<unsigned char*>(found);
}

inline const char* run_grid(unsigned shared_bytes) {
  if (!stacks) {
    stacks = map_guarded(kMostThreads * kStackBytes);
    shared_end = map_guarded(kSharedBytes) + kSharedBytes;
  }
  shared = shared_end - (shared_bytes + 15) / 16 * 16;
  Faults faults;
  if (_setjmp(launcher)) {
    for (Thread& thread : threads) thread.started = false;
    return message;
  }
  for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block();
  return nullptr;
}

}  // namespace emulator
