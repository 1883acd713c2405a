//===- Threads.cpp - Runs the tiles of a kernel on threads ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Threads.h"
#include <atomic>
#include <random>
#include <thread>
#include <vector>

using namespace fact::test;

#ifdef FACT_TEST_RACES
static std::atomic<int> races{0};
static constexpr int threadCount = 4;

extern "C" {
/// The sanitizer calls it after each report.
void __tsan_on_report(void *) { ++races; }

/// Tests fail by what they count. Equal places are different kernels: each is
/// loaded where the one before it was.
const char *__tsan_default_options() {
  return "exitcode=0:suppress_equal_stacks=0:suppress_equal_addresses=0";
}
}

int fact::test::countRaces() { return races; }
#else
static constexpr int threadCount = 1;

int fact::test::countRaces() { return 0; }
#endif

int fact::test::countThreads() { return threadCount; }

void fact::test::onEachThread(llvm::function_ref<void(int)> body) {
  std::vector<std::thread> threads;
  for (int thread = 1; thread < threadCount; ++thread)
    threads.emplace_back([=] { body(thread); });
  body(0);
  for (std::thread &thread : threads)
    thread.join();
}

void fact::test::forEachTile(uint64_t tiles,
                             llvm::function_ref<void(uint64_t, int)> body) {
  // Drawn, since tiles that conflict may lie at any distance.
  std::minstd_rand random(1);
  std::vector<int> chosen(tiles);
  for (int &thread : chosen)
    thread = random() / 8 % threadCount;
  onEachThread([&](int thread) {
    for (uint64_t tile = 0; tile < tiles; ++tile)
      if (chosen[tile] == thread)
        body(tile, thread);
  });
}
