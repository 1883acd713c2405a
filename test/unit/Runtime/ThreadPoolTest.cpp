//===- ThreadPoolTest.cpp -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/ThreadPool.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace fact::runtime;

namespace {

TEST(ThreadPool, EveryIndexOnce) {
  for (int64_t count : {0, 1, 2, 3, 7, 64, 1000, 100000}) {
    std::vector<std::atomic<int>> seen(count);
    parallelFor(count, [&](int64_t i) { ++seen[i]; });
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(seen[i], 1) << i << " of " << count;
  }
}

TEST(ThreadPool, ManyShortCalls) {
  std::atomic<int64_t> sum{0};
  for (int call = 0; call < 20000; ++call)
    parallelFor(4, [&](int64_t i) { sum += i; });
  EXPECT_EQ(sum, 20000 * 6);
}

TEST(ThreadPool, WorkersWakeAfterSleeping) {
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> count{0};
    parallelFor(64, [&](int64_t) { ++count; });
    ASSERT_EQ(count, 64);
  }
}

TEST(ThreadPool, ConcurrentAndNestedCallers) {
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int call = 0; call < 200; ++call)
        parallelFor(
            8, [&](int64_t) { parallelFor(4, [&](int64_t) { ++total; }); });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(total, 4 * 200 * 8 * 4);
}

TEST(ThreadPool, ThreadsHaveNumbersOfTheirOwn) {
  std::vector<std::atomic<int>> inside(static_cast<size_t>(threadCount()));
  std::atomic<bool> good{true};
  parallelForThreads(2000, [&](int64_t, int thread) {
    if (thread < 0 || thread >= threadCount() || inside[thread]++ != 0)
      good = false;
    else
      --inside[thread];
  });
  EXPECT_TRUE(good);
}

TEST(ThreadPool, ShortCallsStayOnTheCaller) {
  // An index takes nanoseconds; once that is known, nobody else is asked.
  CallCost cost;
  std::atomic<int> others{0};
  auto body = [&](int64_t, int thread) { others += thread != 0; };
  for (int call = 0; call < 100; ++call)
    parallelForThreads(8, body, &cost);
  EXPECT_GE(cost.nanoseconds, 0);
  EXPECT_LT(cost.nanoseconds, 500);
  others = 0;
  parallelForThreads(8, body, &cost);
  EXPECT_EQ(others, 0);
}

TEST(ThreadPool, LongCallsAreShared) {
  if (threadCount() == 1)
    GTEST_SKIP() << "one thread";
  CallCost cost;
  std::atomic<int> others{0};
  auto body = [&](int64_t, int thread) {
    others += thread != 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  for (int call = 0; call < 3; ++call)
    parallelForThreads(64, body, &cost);
  EXPECT_GT(cost.nanoseconds, 0.9e6);
  EXPECT_GT(others, 0);
}

TEST(ThreadPool, WorksInAForkedChild) {
  parallelFor(8, [](int64_t) {});
  pid_t child = fork();
  if (child == 0) {
    std::atomic<int> count{0};
    parallelFor(100, [&](int64_t) { ++count; });
    _exit(count == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

} // namespace
