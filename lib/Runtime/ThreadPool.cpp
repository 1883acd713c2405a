//===- ThreadPool.cpp - Runs the tiles of host kernels --------------------===//

#include "fact/Runtime/ThreadPool.h"
#include <atomic>
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

/// About 20 to 50 microseconds: longer than the gap between two kernels of a
/// model, shorter than anything a user would see in `top`.
constexpr int spinsBeforeSleep = 4000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

int countFromEnvironment(const char *name) {
  const char *text = std::getenv(name);
  if (!text)
    return 0;
  char *end = nullptr;
  long count = std::strtol(text, &end, 10);
  // OMP_NUM_THREADS may be a list, one number for each nesting level.
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
    // Of two first calls at once, one pool stays idle.
    if (instance.compare_exchange_strong(expected, made))
      return *made;
    return *expected;
  }

  bool tryAcquire() { return !taken.exchange(true, std::memory_order_acquire); }
  void release() { taken.store(false, std::memory_order_release); }

  /// Needs a successful tryAcquire.
  void run(int64_t tiles, void (*function)(void *, int64_t), void *argument) {
    body = function;
    context = argument;
    count = tiles;
    chunk = tiles / (16 * static_cast<int64_t>(workers + 1));
    chunk = chunk < 1 ? 1 : chunk;
    next.store(0, std::memory_order_relaxed);
    open.store(true);
    epoch.fetch_add(1);
    if (sleepers.load() > 0) {
      std::lock_guard<std::mutex> lock(mutex);
      wake.notify_all();
    }
    work();
    // A worker counts itself inside before it looks at `open`, so after this
    // store either it is counted here or it sees the job closed.
    open.store(false);
    for (int spins = 0; inside.load() != 0; ++spins) {
      relax();
      if (spins > spinsBeforeSleep)
        std::this_thread::yield();
    }
  }

private:
  explicit Pool(int wanted) {
    for (; workers < wanted; ++workers) {
      try {
        std::thread([this] { serve(); }).detach();
      } catch (const std::system_error &) {
        break; // Fewer threads than asked for: slower, still right.
      }
    }
  }

  void work() {
    for (;;) {
      int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count)
        return;
      int64_t end = begin + chunk < count ? begin + chunk : count;
      for (int64_t i = begin; i < end; ++i)
        body(context, i);
    }
  }

  [[noreturn]] void serve() {
    uint64_t seen = 0;
    for (;;) {
      for (int spins = 0; epoch.load() == seen && spins < spinsBeforeSleep;
           ++spins)
        relax();
      if (epoch.load() == seen) {
        std::unique_lock<std::mutex> lock(mutex);
        sleepers.fetch_add(1);
        wake.wait(lock, [&] { return epoch.load() != seen; });
        sleepers.fetch_sub(1);
      }
      seen = epoch.load();
      inside.fetch_add(1);
      if (open.load())
        work();
      inside.fetch_sub(1);
    }
  }

  static std::atomic<Pool *> instance;

  std::atomic<bool> taken{false};
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};
  std::atomic<uint64_t> epoch{0};
  std::atomic<int> sleepers{0};
  std::mutex mutex;
  std::condition_variable wake;
  int workers = 0;

  // The job: written while it is closed and nobody is inside.
  void (*body)(void *, int64_t) = nullptr;
  void *context = nullptr;
  int64_t count = 0;
  int64_t chunk = 1;
  std::atomic<int64_t> next{0};
};

std::atomic<Pool *> Pool::instance{nullptr};

} // namespace

int threadCount() {
  static const int count = chooseThreadCount();
  return count;
}

void parallelFor(int64_t count, void (*body)(void *, int64_t), void *context) {
  if (count > 1 && threadCount() > 1) {
    Pool &pool = Pool::get();
    if (pool.tryAcquire()) {
      pool.run(count, body, context);
      pool.release();
      return;
    }
  }
  for (int64_t i = 0; i < count; ++i)
    body(context, i);
}

} // namespace runtime
} // namespace fact
