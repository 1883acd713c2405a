//===- WrittenBytes.h - Which bytes of a buffer were written ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_SUPPORT_WRITTENBYTES_H
#define FACT_SUPPORT_WRITTENBYTES_H

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace fact {
/// Ranges of the bytes of one buffer, each with who wrote it. No two overlap.
template <typename Writer> class WrittenBytes {
public:
  /// The writer of the first range that overlaps [begin, end), or null.
  const Writer *findWriter(int64_t begin, int64_t end) const {
    auto next = ranges.upper_bound(begin);
    if (next != ranges.begin() && std::prev(next)->second.first > begin)
      --next;
    return next != ranges.end() && next->first < end ? &next->second.second
                                                     : nullptr;
  }

  /// Adds [begin, end), of which nothing was written.
  void add(int64_t begin, int64_t end, Writer writer) {
    if (begin < end)
      ranges.emplace(begin, std::pair(end, std::move(writer)));
  }

  /// Whether every byte of [begin, end) was written.
  bool covers(int64_t begin, int64_t end) const {
    auto next = ranges.upper_bound(begin);
    if (next != ranges.begin())
      --next;
    for (; begin < end && next != ranges.end() && next->first <= begin; ++next)
      begin = next->second.first > begin ? next->second.first : begin;
    return begin >= end;
  }

private:
  /// The end and the writer of each range, by its begin.
  std::map<int64_t, std::pair<int64_t, Writer>> ranges;
};
} // namespace fact

#endif // FACT_SUPPORT_WRITTENBYTES_H
