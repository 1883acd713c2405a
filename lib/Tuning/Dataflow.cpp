//===- Dataflow.cpp - What the steps of a program read and write ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Bundle.h"
#include "fact/Tuning/Files.h"
#include <map>

namespace fact {
namespace tuning {

using runtime::ValueKind;

namespace {

/// The live range of a value: from the step that writes it to the last one that
/// reads it.
struct Lifetime {
  size_t first = 0, last = 0;
};

class Dataflow {
public:
  explicit Dataflow(const Bundle &bundle) : bundle(bundle) {}

  void check() {
    for (size_t i = 0; i < bundle.prepare.size(); ++i)
      follow(bundle.prepare[i], "prepare", i);
    for (size_t i = 0; i < bundle.program.size(); ++i)
      follow(bundle.program[i], "program", i);
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
    for (uint32_t value : step.operands) {
      ValueKind kind = bundle.values[value].kind;
      if (kind == ValueKind::Input || kind == ValueKind::Weight ||
          kind == ValueKind::Constant)
        continue;
      auto written = lifetimes.find(value);
      if (written == lifetimes.end())
        fail(where + "reads value " + std::to_string(value) +
             ", which no earlier step writes");
      written->second.last = position;
    }
    for (uint32_t value : step.results)
      if (!lifetimes.emplace(value, Lifetime{position, position}).second)
        fail(where + "writes value " + std::to_string(value) +
             ", which an earlier step writes too");
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
