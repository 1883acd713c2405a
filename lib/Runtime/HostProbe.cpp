//===- HostProbe.cpp - Loads of the processor -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Probe.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace fact {
namespace runtime {
namespace probe {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Vectors stay in registers only if the loop over them is gone.
#if defined(__clang__)
#define FACT_UNROLL _Pragma("unroll")
#else
#define FACT_UNROLL _Pragma("GCC unroll 32")
#endif

// Outer products of LEFT and RIGHT vectors, as in the middle of a GEMM: so many
// sums that the latency of an addition is hidden. fact-tune compiles this file
// with -ffp-contract=fast, so that a product and its sum are one instruction.
// Stores the sum of all elements, and returns the operations of a round.
#define FACT_DEFINE_SUMS(NAME, TARGET, TYPE, BYTES, LEFT, RIGHT)               \
  TARGET static double NAME(int64_t rounds, double &result) {                  \
    typedef TYPE Vector __attribute__((vector_size(BYTES)));                   \
    constexpr int lanes = BYTES / sizeof(TYPE);                                \
    Vector sums[LEFT * RIGHT] = {}, left[LEFT], right[RIGHT];                  \
    for (int i = 0; i < lanes; ++i) {                                          \
      for (int j = 0; j < LEFT; ++j)                                           \
        left[j][i] = TYPE(1000 + mixed(j * lanes + i) % 1000) / 1000;          \
      for (int j = 0; j < RIGHT; ++j)                                          \
        right[j][i] = TYPE(1000 + mixed(~(j * lanes + i)) % 1000) / 1000;      \
    }                                                                          \
    for (int64_t round = 0; round < rounds; ++round)                           \
      for (int repeat = 0; repeat < 64; ++repeat) {                            \
        /* Hides from the compiler that the factors stay the same. */          \
        asm volatile("" : "+m"(left), "+m"(right));                            \
        FACT_UNROLL                                                            \
        for (int i = 0; i < LEFT * RIGHT; ++i)                                 \
          sums[i] += left[i / RIGHT] * right[i % RIGHT];                       \
      }                                                                        \
    result = 0;                                                                \
    FACT_UNROLL                                                                \
    for (int v = 0; v < LEFT * RIGHT; ++v)                                     \
      for (int i = 0; i < lanes; ++i)                                          \
        result += static_cast<double>(sums[v][i]);                             \
    return 2.0 * 64 * LEFT * RIGHT * lanes;                                    \
  }

using Sums = double (*)(int64_t rounds, double &result);

#if defined(__x86_64__)
FACT_DEFINE_SUMS(addBaseline32, , float, 16, 2, 6)
FACT_DEFINE_SUMS(addBaseline64, , double, 16, 2, 6)
FACT_DEFINE_SUMS(addAvx32, __attribute__((target("avx2,fma"))), float, 32, 2, 6)
FACT_DEFINE_SUMS(addAvx64, __attribute__((target("avx2,fma"))), double, 32, 2,
                 6)
FACT_DEFINE_SUMS(addWide32, __attribute__((target("avx512f"))), float, 64, 4, 6)
FACT_DEFINE_SUMS(addWide64, __attribute__((target("avx512f"))), double, 64, 4,
                 6)
#else
FACT_DEFINE_SUMS(addBaseline32, , float, 16, 4, 5)
FACT_DEFINE_SUMS(addBaseline64, , double, 16, 4, 5)
#endif
#undef FACT_DEFINE_SUMS
#undef FACT_UNROLL

static std::vector<Sums> getSums(bool isDouble) {
  std::vector<Sums> all = {isDouble ? addBaseline64 : addBaseline32};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back(isDouble ? addAvx64 : addAvx32);
  if (__builtin_cpu_supports("avx512f"))
    all.push_back(isDouble ? addWide64 : addWide32);
#endif
  return all;
}

/// The fastest on this processor: wider vectors may lower its clock.
static Sums chooseSums(bool isDouble) {
  Sums best = nullptr;
  double bestRate = 0, ignored;
  for (Sums sums : getSums(isDouble)) {
    sums(100, ignored);
    auto begin = Clock::now();
    double work = sums(2000, ignored);
    if (double rate = work / secondsSince(begin); rate > bestRate) {
      best = sums;
      bestRate = rate;
    }
  }
  return best;
}

/// Runs `body(part)` for as many parts as there are threads, on them.
template <typename Body> static void onThreads(int threads, Body body) {
  if (threads == 1)
    body(int64_t(0));
  else
    parallelFor(threads, body);
}

static Load getArithmetic(bool isDouble, int threads) {
  Sums sums = chooseSums(isDouble);
  double ignored;
  Load load;
  // Kernels for the host compute 16-bit products in f32.
  load.figures =
      isDouble ? std::vector<std::string>{"matrix_flops_64"}
               : std::vector<std::string>{"matrix_flops_16", "matrix_flops_32",
                                          "matrix_flops_tf32", "scalar_flops"};
  load.threads = threads;
  load.work = sums(1, ignored) * threads;
  load.run = [=](int64_t rounds) {
    std::vector<double> results(static_cast<size_t>(threads));
    auto begin = Clock::now();
    onThreads(threads, [&](int64_t part) {
      double result;
      sums(rounds, result);
      results[static_cast<size_t>(part)] = result;
    });
    return secondsSince(begin);
  };
  load.verify = [=] {
    double one, many;
    sums(1, one);
    sums(16, many);
    return compareRounds(one, many, 16);
  };
  return load;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
struct Buffers {
  uint64_t words;
  std::unique_ptr<uint64_t[]> from, to;
};
} // namespace

/// A part of the buffers per thread.
static std::pair<uint64_t, uint64_t> getPart(const Buffers &buffers,
                                             int64_t part, int threads) {
  uint64_t size = buffers.words / static_cast<uint64_t>(threads);
  uint64_t begin = size * static_cast<uint64_t>(part);
  return {begin, size};
}

static uint64_t addWords(const uint64_t *words, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i)
    sum += words[i];
  return sum;
}

static Load getReads(const std::shared_ptr<Buffers> &buffers, int threads) {
  Load load;
  load.figures = {"bandwidth"};
  load.threads = threads;
  load.work = static_cast<double>(8 * buffers->words);
  auto sums = std::make_shared<std::vector<uint64_t>>(threads);
  load.run = [=](int64_t rounds) {
    std::fill(sums->begin(), sums->end(), 0);
    auto begin = Clock::now();
    onThreads(threads, [&](int64_t part) {
      auto [first, count] = getPart(*buffers, part, threads);
      for (int64_t round = 0; round < rounds; ++round)
        (*sums)[static_cast<size_t>(part)] +=
            addWords(buffers->from.get() + first, count);
    });
    return secondsSince(begin);
  };
  load.verify = [=] {
    auto add = [&](int64_t rounds) {
      load.run(rounds);
      uint64_t all = 0;
      for (uint64_t sum : *sums)
        all += sum;
      return static_cast<double>(all);
    };
    return compareRounds(add(1), add(3), 3);
  };
  return load;
}

static Load getCopies(const std::shared_ptr<Buffers> &buffers, int threads) {
  Load load;
  load.figures = {"bandwidth"};
  load.threads = threads;
  load.work = static_cast<double>(16 * buffers->words);
  load.run = [=](int64_t rounds) {
    auto begin = Clock::now();
    onThreads(threads, [&](int64_t part) {
      auto [first, count] = getPart(*buffers, part, threads);
      for (int64_t round = 0; round < rounds; ++round)
        std::memcpy(buffers->to.get() + first, buffers->from.get() + first,
                    8 * count);
    });
    return secondsSince(begin);
  };
  load.verify = [=]() -> std::string {
    std::fill_n(buffers->to.get(), buffers->words, 0);
    load.run(1);
    return std::equal(buffers->from.get(), buffers->from.get() + buffers->words,
                      buffers->to.get())
               ? ""
               : "a copy differs from its source";
  };
  return load;
}

/// Four times the last cache and at least 128 MiB, if memory allows.
static uint64_t getDefaultBytes() {
  uint64_t cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache =
      static_cast<uint64_t>(std::max<long>(0, sysconf(_SC_LEVEL3_CACHE_SIZE)));
#endif
  uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(std::max<uint64_t>(128 << 20, 4 * cache), memory / 8);
}

std::vector<Load> getLoads(uint64_t bytes) {
  std::vector<int> counts = {threadCount()};
  if (threadCount() > 1)
    counts.push_back(1);
  auto buffers = std::make_shared<Buffers>();
  // A whole number of cache lines per thread.
  uint64_t unit = 64 * static_cast<uint64_t>(threadCount());
  uint64_t size = bytes ? bytes : getDefaultBytes();
  buffers->words = std::max(unit, size / unit * unit) / 8;
  for (std::unique_ptr<uint64_t[]> *buffer : {&buffers->from, &buffers->to}) {
    buffer->reset(new uint64_t[buffers->words]);
    // By the threads that will use it, for machines with several memories.
    onThreads(threadCount(), [&](int64_t part) {
      auto [first, count] = getPart(*buffers, part, threadCount());
      for (uint64_t i = first; i < first + count; ++i)
        (*buffer)[i] = 1 + i % 1021;
    });
  }
  std::vector<Load> loads;
  for (int threads : counts) {
    loads.push_back(getReads(buffers, threads));
    loads.push_back(getCopies(buffers, threads));
    for (bool isDouble : {false, true})
      loads.push_back(getArithmetic(isDouble, threads));
  }
  return loads;
}

double measureLaunch() {
  double best = 1;
  for (int i = 0; i < 20; ++i) {
    auto begin = Clock::now();
    for (int call = 0; call < 100; ++call)
      parallelFor(threadCount(), [](int64_t) {});
    best = std::min(best, secondsSince(begin) / 100);
  }
  return best;
}

} // namespace probe
} // namespace runtime
} // namespace fact
