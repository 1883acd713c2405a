//===- HostMeasure.cpp - Fill, compare and time on the processor ----------===//

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

bool compare(const void *result, ElementType resultType, const void *reference,
             ElementType referenceType, uint64_t elements,
             const Tolerance &tolerance, Comparison &comparison) {
  // Blocks are summed in order, so that the same data gives the same figures.
  std::vector<double> squares(blockCount(elements));
  std::vector<uint64_t> finite(blockCount(elements));
  forEachBlock(elements, [&](uint64_t block, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      double value = loadElement(reference, referenceType, i);
      if (!isFinite(value))
        continue;
      squares[block] += value * value;
      ++finite[block];
    }
  });
  double sum = 0;
  uint64_t count = 0;
  for (size_t i = 0; i < squares.size(); ++i) {
    sum += squares[i];
    count += finite[i];
  }
  double rms = count ? std::sqrt(sum / static_cast<double>(count)) : 0;

  std::vector<detail::PartialComparison> partials(blockCount(elements));
  forEachBlock(elements, [&](uint64_t block, uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      detail::compareElement(result, resultType, reference, referenceType, i,
                             tolerance.element, rms, partials[block]);
  });
  comparison = Comparison();
  comparison.elements = elements;
  for (const detail::PartialComparison &partial : partials) {
    comparison.referenceNotFinite += partial.referenceNotFinite;
    comparison.notFinite += partial.notFinite;
    comparison.beyond += partial.beyond;
    if (comparison.firstBad < 0 && partial.firstBad != ~0ull)
      comparison.firstBad = static_cast<int64_t>(partial.firstBad);
    comparison.errorSquares += partial.errorSquares;
    comparison.referenceSquares += partial.referenceSquares;
    comparison.worstElement =
        std::max(comparison.worstElement, partial.worstElement);
  }
  return true;
}

bool allBytesAre(const void *data, int byte, uint64_t bytes, bool &same) {
  const unsigned char *begin = static_cast<const unsigned char *>(data);
  same = std::all_of(begin, begin + bytes, [byte](unsigned char found) {
    return found == static_cast<unsigned char>(byte);
  });
  return true;
}

bool checksum(const void *data, uint64_t bytes, uint64_t &sum) {
  std::atomic<uint64_t> total{0};
  const unsigned char *source = static_cast<const unsigned char *>(data);
  forEachBlock(bytes, [&](uint64_t, uint64_t begin, uint64_t end) {
    uint64_t partial = 0;
    for (uint64_t i = begin; i < end; ++i)
      partial += (i + 1) * 0x9e3779b97f4a7c15ull * (source[i] + 1ull);
    total += partial;
  });
  sum = total;
  return true;
}

/// Twice the last-level cache, within reason: shared caches of servers are
/// larger than what one process gets of them.
static uint64_t flushBytes() {
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache <= 0)
    cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  uint64_t bytes = cache > 0 ? static_cast<uint64_t>(cache) * 2 : 64ull << 20;
  return std::min<uint64_t>(std::max<uint64_t>(bytes, 8ull << 20), 128ull << 20);
}

bool time(int runs, const std::function<bool(void *)> &launch,
          std::vector<double> &microseconds) {
  static std::vector<uint64_t> other(flushBytes() / sizeof(uint64_t), 1);
  std::atomic<uint64_t> sink{0};
  for (int run = 0; run < runs; ++run) {
    forEachBlock(other.size(), [&](uint64_t, uint64_t begin, uint64_t end) {
      uint64_t sum = 0;
      for (uint64_t i = begin; i < end; i += 8)
        sum += other[i];
      sink += sum;
    });
    auto begin = std::chrono::steady_clock::now();
    if (!launch(nullptr))
      return false;
    std::chrono::duration<double, std::micro> elapsed =
        std::chrono::steady_clock::now() - begin;
    microseconds.push_back(elapsed.count());
  }
  return true;
}

} // namespace measure
} // namespace runtime
} // namespace fact
