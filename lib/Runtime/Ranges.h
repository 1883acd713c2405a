//===- Ranges.h - Searches ranges of memory for overlaps --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_RANGES_H
#define FACT_LIB_RUNTIME_RANGES_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace fact {
namespace runtime {

/// The memory of one tensor.
struct Range {
  const char *begin = nullptr, *end = nullptr;

  Range() = default;
  Range(const char *data, uint64_t bytes) : begin(data), end(data + bytes) {}

  bool overlaps(const Range &other) const {
    return begin != end && other.begin != other.end && begin < other.end &&
           other.begin < end;
  }
};

/// Ranges that may overlap each other. A search takes logarithmic time, so that
/// each call can compare its outputs with all weights.
class Ranges {
public:
  explicit Ranges(std::vector<Range> all = {}) : sorted(std::move(all)) {
    sorted.erase(std::remove_if(sorted.begin(), sorted.end(),
                                [](const Range &range) {
                                  return range.begin == range.end;
                                }),
                 sorted.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    // Ends do not decrease, so the last range that begins before a point tells
    // how far any of them reaches.
    for (size_t i = 1; i < sorted.size(); ++i)
      sorted[i].end = std::max(sorted[i].end, sorted[i - 1].end);
  }

  bool overlap(const Range &range) const {
    auto after = std::lower_bound(
        sorted.begin(), sorted.end(), range.end,
        [](const Range &each, const char *end) { return each.begin < end; });
    return range.begin != range.end && after != sorted.begin() &&
           range.begin < std::prev(after)->end;
  }

private:
  std::vector<Range> sorted;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_RANGES_H
