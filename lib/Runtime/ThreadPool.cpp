//===- ThreadPool.cpp - Runs the tiles of host kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/ThreadPool.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <thread>

namespace fact {
namespace runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// Longer than the gap between two kernels of a model, too short to show up in
/// `top`.
constexpr double spinNanoseconds = 50e3;

/// A call shorter than this gains nothing from a second thread: a handover
/// costs about a microsecond while workers spin, and several if one has to wake
/// up.
constexpr double worthSharing = 5e3;
constexpr double worthWaking = 30e3;

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` is a no-op on cores with one thread.
  asm volatile("isb" ::: "memory");
#endif
}

/// Spins until `done()`, or for as long as a worker may. Returns whether it is
/// done.
template <typename Done> bool spin(Done done) {
  Clock::time_point begin = Clock::now();
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      relax();
    }
    if (since(begin) > spinNanoseconds)
      return false;
  }
}

int countFromEnvironment(const char *name) {
  const char *text = std::getenv(name);
  if (!text)
    return 0;
  char *end = nullptr;
  long count = std::strtol(text, &end, 10);
  // OMP_NUM_THREADS may be a list, one number per nesting level.
  bool number = end != text && (*end == '\0' || *end == ',');
  return number && count > 0 && count <= 4096 ? static_cast<int>(count) : 0;
}

int chooseThreadCount() {
  if (int count = countFromEnvironment("FACT_NUM_THREADS"))
    return count;
  if (int count = countFromEnvironment("OMP_NUM_THREADS"))
    return count;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    return CPU_COUNT(&allowed);
  unsigned hardware = std::thread::hardware_concurrency();
  return hardware ? static_cast<int>(hardware) : 1;
}

class Pool {
public:
  /// Never destroyed: workers may outlive static destructors. A forked child
  /// has no workers, so it makes a pool of its own.
  static Pool &get() {
    if (Pool *pool = instance.load(std::memory_order_acquire))
      return *pool;
    static std::once_flag once;
    std::call_once(once, [] {
      pthread_atfork(nullptr, nullptr, [] { instance.store(nullptr); });
    });
    Pool *made = new Pool(threadCount() - 1);
    Pool *expected = nullptr;
    // If two threads race to create the pool, one of the pools stays idle.
    if (instance.compare_exchange_strong(expected, made))
      return *made;
    return *expected;
  }

  bool tryAcquire() { return !taken.exchange(true, std::memory_order_acquire); }
  void release() { taken.store(false, std::memory_order_release); }
  bool allAwake() const { return sleepers.load() == 0; }

  /// The work that the caller itself has done.
  struct Share {
    int64_t indices;
    double nanoseconds;
  };

  /// Requires a successful tryAcquire.
  Share run(int64_t tiles, void (*function)(void *, int64_t, int),
            void *argument) {
    body = function;
    context = argument;
    count = tiles;
    chunk = tiles / (16 * static_cast<int64_t>(workers + 1));
    chunk = chunk < 1 ? 1 : chunk;
    next.store(0, std::memory_order_relaxed);
    open.store(true);
    epoch.fetch_add(1);
    if (!allAwake()) {
      std::lock_guard<std::mutex> lock(mutex);
      wake.notify_all();
    }
    Clock::time_point begin = Clock::now();
    Share share{work(0), 0};
    share.nanoseconds = since(begin);
    // A worker counts itself before it reads `open`. After this store, it
    // either is counted here or sees the job closed.
    open.store(false);
    while (!spin([&] { return inside.load() == 0; }))
      std::this_thread::yield();
    return share;
  }

private:
  explicit Pool(int wanted) {
    for (; workers < wanted; ++workers) {
      try {
        std::thread([this, number = workers + 1] { serve(number); }).detach();
      } catch (const std::system_error &) {
        break; // Fewer threads: slower, still correct.
      }
    }
  }

  int64_t work(int thread) {
    int64_t done = 0;
    for (;;) {
      int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count)
        return done;
      int64_t end = begin + chunk < count ? begin + chunk : count;
      for (int64_t i = begin; i < end; ++i)
        body(context, i, thread);
      done += end - begin;
    }
  }

  [[noreturn]] void serve(int thread) {
    uint64_t seen = 0;
    for (;;) {
      if (!spin([&] { return epoch.load() != seen; })) {
        std::unique_lock<std::mutex> lock(mutex);
        sleepers.fetch_add(1);
        wake.wait(lock, [&] { return epoch.load() != seen; });
        sleepers.fetch_sub(1);
      }
      seen = epoch.load();
      inside.fetch_add(1);
      if (open.load())
        work(thread);
      inside.fetch_sub(1);
    }
  }

  static std::atomic<Pool *> instance;

  // Variables that threads wait on have a cache line of their own.
  alignas(64) std::atomic<uint64_t> epoch{0};
  alignas(64) std::atomic<int> inside{0};
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<bool> taken{false};
  std::atomic<bool> open{false};
  std::atomic<int> sleepers{0};
  std::mutex mutex;
  std::condition_variable wake;
  int workers = 0;

  // The job: written while it is closed and no worker is inside.
  void (*body)(void *, int64_t, int) = nullptr;
  void *context = nullptr;
  int64_t count = 0;
  int64_t chunk = 1;
};

std::atomic<Pool *> Pool::instance{nullptr};

} // namespace

int threadCount() {
  static const int count = chooseThreadCount();
  return count;
}

/// Short times count at once; a long one may be due to another process.
static void learn(CallCost *cost, double nanoseconds, int64_t indices) {
  if (!cost || indices <= 0)
    return;
  double each = nanoseconds / static_cast<double>(indices);
  cost->nanoseconds = cost->nanoseconds < 0 || each < cost->nanoseconds
                          ? each
                          : 0.75 * cost->nanoseconds + 0.25 * each;
}

static bool isWorth(const CallCost &cost, int64_t count, const Pool &pool) {
  double expected = cost.nanoseconds * static_cast<double>(count);
  return expected < 0 ||
         expected > (pool.allAwake() ? worthSharing : worthWaking);
}

void parallelFor(int64_t count, void (*body)(void *, int64_t, int),
                 void *context, CallCost *cost) {
  auto runAlone = [&] {
    for (int64_t i = 0; i < count; ++i)
      body(context, i, 0);
  };
  if (count <= 1 || threadCount() == 1)
    return runAlone();
  Pool &pool = Pool::get();
  if ((!cost || isWorth(*cost, count, pool)) && pool.tryAcquire()) {
    Pool::Share share = pool.run(count, body, context);
    pool.release();
    learn(cost, share.nanoseconds, share.indices);
    return;
  }
  Clock::time_point begin = Clock::now();
  runAlone();
  learn(cost, since(begin), count);
}

} // namespace runtime
} // namespace fact
