//===- WrittenBytes.h - Which bytes of a buffer were written ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_SUPPORT_WRITTENBYTES_H
#define FACT_SUPPORT_WRITTENBYTES_H

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace fact {
/// Bytes [begin, end) of each row of a buffer, which has rows of `pitch` bytes;
/// of the whole buffer where it is 0. Its writer may also write the `spare`
/// bytes behind it, which nobody reads.
struct ByteRange {
  int64_t begin = 0, end = 0, pitch = 0, spare = 0;
};

/// Ranges of the bytes of one buffer, each with who wrote it. All are of the
/// same rows. No two overlap, nor does a range what is spare of another.
template <typename Writer> class WrittenBytes {
public:
  /// The writer of the first range that overlaps `range`, or null; what is
  /// spare of one counts as well, unless both are spare. Ranges of other rows
  /// count as overlapping.
  const Writer *findWriter(const ByteRange &range) const {
    if (range.pitch != pitch)
      return ranges.empty() ? nullptr : &ranges.begin()->second.second;
    if (const Writer *found = find(ranges, range.begin, range.end))
      return found;
    if (const Writer *found = find(spares, range.begin, range.end))
      return found;
    return range.spare ? find(ranges, range.end, range.end + range.spare)
                       : nullptr;
  }

  /// Adds a range of which nothing was written.
  void add(const ByteRange &range, Writer writer) {
    if (range.begin >= range.end)
      return;
    pitch = range.pitch;
    if (range.spare)
      spares.emplace(range.end, std::pair(range.end + range.spare, writer));
    ranges.emplace(range.begin, std::pair(range.end, std::move(writer)));
  }

  /// Whether every byte of [begin, end) was written; of rows, whether every row
  /// was written completely. Where `rows` are those that were written, only
  /// their bytes have to be.
  bool covers(int64_t begin, int64_t end, const ByteRange &rows = {}) const {
    if (pitch) {
      bool isSame = rows.pitch == pitch;
      begin = isSame ? rows.begin : 0;
      end = isSame ? rows.end : pitch;
    }
    auto next = ranges.upper_bound(begin);
    if (next != ranges.begin())
      --next;
    for (; begin < end && next != ranges.end() && next->first <= begin; ++next)
      begin = next->second.first > begin ? next->second.first : begin;
    return begin >= end;
  }

private:
  /// The end and the writer of each range, by its begin.
  using Ranges = std::map<int64_t, std::pair<int64_t, Writer>>;

  static const Writer *find(const Ranges &ranges, int64_t begin, int64_t end) {
    auto next = ranges.upper_bound(begin);
    if (next != ranges.begin() && std::prev(next)->second.first > begin)
      --next;
    return next != ranges.end() && next->first < end ? &next->second.second
                                                     : nullptr;
  }

  int64_t pitch = 0;
  Ranges ranges, spares;
};
} // namespace fact

#endif // FACT_SUPPORT_WRITTENBYTES_H
