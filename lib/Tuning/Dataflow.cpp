//===- Dataflow.cpp - What the steps of a program read and write ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/WrittenBytes.h"
#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Files.h"
#include <map>

namespace fact {
namespace tuning {

using runtime::ValueKind;

namespace {

/// The live range of a value: from the first step that writes it or a part of
/// it to the last one that reads any of it.
struct Lifetime {
  size_t first = 0, last = 0;
  WrittenBytes<size_t> written = {};
};

class Dataflow {
public:
  explicit Dataflow(const Bundle &bundle) : bundle(bundle) {}

  void check() {
    for (size_t i = 0; i < bundle.prepare.size(); ++i)
      follow(bundle.prepare[i], "prepare", i);
    for (size_t i = 0; i < bundle.program.size(); ++i)
      follow(bundle.program[i], "program", i);
    for (const auto &[value, life] : lifetimes)
      requireWhole(value, life);
    for (auto a = lifetimes.begin(); a != lifetimes.end(); ++a)
      for (auto b = std::next(a); b != lifetimes.end(); ++b)
        requireApart(a->first, a->second, b->first, b->second);
  }

private:
  [[noreturn]] static void fail(const std::string &what) {
    throw Failure("bundle.json: " + what + "; compile the model again");
  }

  void follow(const Step &step, const std::string &list, size_t position) {
    std::string where = "$." + list + "[" + std::to_string(position) + "]: ";
    const Kernel &kernel = bundle.kernels[step.kernel];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      uint32_t value = step.operands[i];
      Range range = rangeOf(value, kernel.operands[i]);
      ValueKind kind = bundle.values[range.whole].kind;
      if (kind == ValueKind::Input || kind == ValueKind::Weight ||
          kind == ValueKind::Constant)
        continue;
      auto known = lifetimes.find(range.whole);
      if (known == lifetimes.end() ||
          !known->second.written.covers(range.begin, range.end,
                                        partOf(range, kernel.operands[i].part)))
        fail(where + "reads value " + std::to_string(value) +
             ", which no earlier step writes");
      known->second.last = position;
    }
    for (size_t i = 0; i < step.results.size(); ++i) {
      uint32_t value = step.results[i];
      Range range = rangeOf(value, kernel.results[i]);
      Lifetime &life =
          lifetimes.emplace(range.whole, Lifetime{position, position})
              .first->second;
      ByteRange written = partOf(range, kernel.results[i].part);
      written.spare = static_cast<int64_t>(kernel.results[i].part.spare);
      if (life.written.findWriter(written))
        fail(where + "writes value " + std::to_string(value) +
             ", which an earlier step writes too");
      life.written.add(written, position);
    }
  }

  /// Bytes of a value that is not a part of another.
  struct Range {
    uint32_t whole;
    int64_t begin, end;
  };

  /// The bytes that a tensor takes in a value.
  Range rangeOf(uint32_t value, const Tensor &tensor) const {
    uint32_t whole = bundle.wholeOf(value);
    uint64_t begin = whole == value ? 0 : bundle.values[value].offset;
    return {whole, static_cast<int64_t>(begin),
            static_cast<int64_t>(begin + tensor.bytes())};
  }

  /// What a kernel reads or writes of the bytes of a tensor.
  static ByteRange partOf(const Range &range, const Part &part) {
    if (part.pitch == 0)
      return {range.begin, range.end};
    return {range.begin + static_cast<int64_t>(part.begin),
            range.begin + static_cast<int64_t>(part.end),
            static_cast<int64_t>(part.pitch)};
  }

  /// Outputs that are written in parts are written completely.
  void requireWhole(uint32_t position, const Lifetime &life) const {
    const Value &value = bundle.values[position];
    if (value.kind == ValueKind::Output &&
        !life.written.covers(0, static_cast<int64_t>(value.bytes)))
      fail("$.program writes only parts of output '" +
           bundle.outputs[value.index].name + "'");
  }

  void requireApart(uint32_t a, const Lifetime &lifeA, uint32_t b,
                    const Lifetime &lifeB) {
    const Value &first = bundle.values[a], &second = bundle.values[b];
    if (first.kind != second.kind)
      return;
    bool overlaps = first.offset < second.offset + second.bytes &&
                    second.offset < first.offset + first.bytes;
    if (first.kind == ValueKind::Output)
      overlaps = first.index == second.index;
    else if (first.kind == ValueKind::Workspace)
      // Prepared values live forever; workspace is free after its last reader.
      overlaps =
          overlaps && lifeA.first <= lifeB.last && lifeB.first <= lifeA.last;
    if (overlaps)
      fail("values " + std::to_string(a) + " and " + std::to_string(b) +
           " share memory while both are needed");
  }

  const Bundle &bundle;
  std::map<uint32_t, Lifetime> lifetimes;
};

} // namespace

void checkDataflow(const Bundle &bundle) { Dataflow(bundle).check(); }

} // namespace tuning
} // namespace fact
