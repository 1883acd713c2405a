//===- FirstFit.h - Places of buffers in one memory -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_SUPPORT_FIRSTFIT_H
#define FACT_SUPPORT_FIRSTFIT_H

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace fact {
/// A buffer that is in use from step `first` to step `last`.
struct TimedBuffer {
  int64_t bytes;
  int64_t first, last;
  /// Set by `placeFirstFit`.
  int64_t offset = 0;

  bool overlaps(const TimedBuffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Gives buffers that are in use at the same time memory of their own: the
/// largest first, equal ones in their order, each at the lowest free offset.
/// Returns the total bytes.
template <typename Buffer> int64_t placeFirstFit(std::vector<Buffer> &buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-buffers[a].bytes, a) < std::pair(-buffers[b].bytes, b);
  });
  int64_t total = 0;
  for (auto next = order.begin(); next != order.end(); ++next) {
    Buffer &buffer = buffers[*next];
    // Memory of buffers with an overlapping live range, from low to high.
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (auto placed = order.begin(); placed != next; ++placed) {
      const Buffer &other = buffers[*placed];
      if (buffer.overlaps(other))
        taken.emplace_back(other.offset, other.offset + other.bytes);
    }
    std::sort(taken.begin(), taken.end());
    for (auto [begin, end] : taken) {
      if (buffer.offset + buffer.bytes <= begin)
        break;
      buffer.offset = std::max(buffer.offset, end);
    }
    total = std::max(total, buffer.offset + buffer.bytes);
  }
  return total;
}
} // namespace fact

#endif // FACT_SUPPORT_FIRSTFIT_H
