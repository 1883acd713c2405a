//===- HostMeasure.cpp - Fill, compare and time on the processor ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/Measure.h"
#include "fact/Runtime/ThreadPool.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace fact {
namespace runtime {
namespace measure {

constexpr uint64_t blockElements = 1 << 14;

/// Calls `body(block, begin, end)` for each block of elements.
template <typename Body>
static void forEachBlock(uint64_t elements, Body body) {
  int64_t blocks =
      static_cast<int64_t>((elements + blockElements - 1) / blockElements);
  parallelFor(blocks, [&](int64_t block) {
    uint64_t begin = static_cast<uint64_t>(block) * blockElements;
    body(static_cast<uint64_t>(block), begin,
         std::min(elements, begin + blockElements));
  });
}

static uint64_t blockCount(uint64_t elements) {
  return (elements + blockElements - 1) / blockElements;
}

bool fill(void *data, ElementType type, uint64_t elements, const Fill &how,
          uint64_t seed) {
  forEachBlock(elements, [&](uint64_t, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      storeElement(data, type, i, detail::randomElement(type, how, seed, i));
  });
  return true;
}

/// The scale of errors per row: its rms, or the least scale.
static std::vector<double> rowScales(const void *reference, ElementType type,
                                     const float *doubt, uint64_t elements,
                                     const Tolerance &tolerance) {
  uint64_t all = std::max<uint64_t>(1, elements);
  uint64_t row = tolerance.row ? tolerance.row : all;
  // Blocks are summed in order, so that equal data gives equal results.
  uint64_t part = std::min(row, blockElements);
  uint64_t parts = (row + part - 1) / part;
  uint64_t rows = (elements + row - 1) / row;
  std::vector<double> squares(rows * parts);
  std::vector<uint64_t> finite(rows * parts);
  parallelFor(static_cast<int64_t>(rows * parts), [&](int64_t each) {
    uint64_t index = static_cast<uint64_t>(each);
    uint64_t begin = index / parts * row + index % parts * part;
    uint64_t rowEnd = std::min((index / parts + 1) * row, elements);
    uint64_t end = std::min(begin + part, rowEnd);
    for (uint64_t i = begin; i < end; ++i) {
      double value = loadElement(reference, type, i);
      if (!isFinite(value) || isInfinite(detail::doubtAt(doubt, i)))
        continue;
      squares[index] += value * value;
      ++finite[index];
    }
  });
  std::vector<double> scales(rows);
  for (uint64_t i = 0; i < rows; ++i) {
    double sum = 0;
    uint64_t count = 0;
    for (uint64_t j = i * parts; j < (i + 1) * parts; ++j) {
      sum += squares[j];
      count += finite[j];
    }
    scales[i] =
        std::max(count ? std::sqrt(sum / static_cast<double>(count)) : 0,
                 tolerance.leastScale);
  }
  return scales;
}

bool compare(const void *result, ElementType resultType, const void *reference,
             ElementType referenceType, const float *doubt, uint64_t elements,
             const Tolerance &tolerance, Comparison &comparison) {
  std::vector<double> scales =
      rowScales(reference, referenceType, doubt, elements, tolerance);
  std::vector<detail::PartialComparison> partials(blockCount(elements));
  forEachBlock(elements, [&](uint64_t block, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      detail::compareElement(
          result, resultType, reference, referenceType, doubt, i, tolerance,
          scales[tolerance.row ? i / tolerance.row : 0], partials[block]);
  });
  comparison = Comparison();
  comparison.elements = elements;
  for (const detail::PartialComparison &partial : partials) {
    comparison.undecided += partial.undecided;
    comparison.referenceNotFinite += partial.referenceNotFinite;
    comparison.otherClass += partial.otherClass;
    comparison.beyond += partial.beyond;
    if (comparison.firstBad < 0 && partial.firstBad != ~0ull)
      comparison.firstBad = static_cast<int64_t>(partial.firstBad);
    comparison.errorSquares += partial.errorSquares;
    comparison.referenceSquares += partial.referenceSquares;
    comparison.worstElement =
        std::max(comparison.worstElement, partial.worstElement);
  }
  comparison.setLeastScale(tolerance.leastScale);
  return true;
}

bool allBytesAre(const void *data, int byte, uint64_t bytes, bool &same) {
  const unsigned char *begin = static_cast<const unsigned char *>(data);
  same = std::all_of(begin, begin + bytes, [byte](unsigned char found) {
    return found == static_cast<unsigned char>(byte);
  });
  return true;
}

bool addChecksum(const void *data, ElementType type, uint64_t elements,
                 const Columns &spare, uint64_t *sum, void *) {
  std::atomic<uint64_t> total{0};
  forEachBlock(elements, [&](uint64_t, uint64_t begin, uint64_t end) {
    uint64_t partial = 0;
    for (uint64_t i = begin; i < end; ++i)
      if (!spare.contain(i))
        partial += detail::elementChecksum(data, type, i);
    total += partial;
  });
  *sum += total;
  return true;
}

bool availableBytes(uint64_t &bytes) {
  bytes = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) *
          static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return true;
}

/// Twice the last-level cache, bounded: one process gets only a share of a
/// server's cache.
static uint64_t flushBytes() {
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache <= 0)
    cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  uint64_t bytes = cache > 0 ? static_cast<uint64_t>(cache) * 2 : 64ull << 20;
  return std::min<uint64_t>(std::max<uint64_t>(bytes, 8ull << 20),
                            128ull << 20);
}

Load readLoad() { return Load(); }

bool time(int runs, const TimedRun &timed, std::vector<double> &microseconds) {
  static std::vector<uint64_t> other(flushBytes() / sizeof(uint64_t), 1);
  std::atomic<uint64_t> sink{0};
  for (int run = 0; run < runs; ++run) {
    if (!timed.prepare(run, nullptr))
      return false;
    uint64_t words = timed.coldCache ? other.size() : 0;
    forEachBlock(words, [&](uint64_t, uint64_t begin, uint64_t end) {
      uint64_t sum = 0;
      for (uint64_t i = begin; i < end; i += 8)
        sum += other[i];
      sink += sum;
    });
    auto begin = std::chrono::steady_clock::now();
    if (!timed.launch(run, nullptr))
      return false;
    std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - begin;
    microseconds.push_back(elapsed.count());
    if (!timed.finish(run, nullptr))
      return false;
  }
  return true;
}

} // namespace measure
} // namespace runtime
} // namespace fact
