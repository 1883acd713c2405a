//===- Predecessors.cpp - Which steps have to follow which ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Predecessors.h"
#include <algorithm>
#include <functional>

namespace fact {
namespace runtime {

namespace {

/// Memory that steps write, each addressed from 0. What they only read (inputs,
/// weights, constants, prepared values) orders nothing; outputs overlap neither
/// inputs nor each other.
enum Region : uint32_t { Workspace, KernelWorkspace, PackScratch, Outputs };

struct Access {
  uint32_t step;
  uint32_t region;
  uint64_t begin, end;
  bool writes;
  /// Which bytes of each row.
  WrittenSpec row = {0, 0, 0};

  /// Whether both have rows that begin at the same places.
  bool hasRowsOf(const Access &other) const {
    return row.pitch != 0 && row.pitch == other.row.pitch &&
           (begin > other.begin ? begin - other.begin : other.begin - begin) %
                   row.pitch ==
               0;
  }
  bool conflictsWith(const Access &other) const {
    if (region != other.region || begin >= other.end || other.begin >= end ||
        !(writes || other.writes))
      return false;
    return !hasRowsOf(other) ||
           (row.begin < other.row.end && other.row.begin < row.end);
  }
  bool covers(const Access &other) const {
    if (region != other.region || begin > other.begin || other.end > end)
      return false;
    return row.pitch == 0 ||
           (hasRowsOf(other) && row.begin <= other.row.begin &&
            other.row.end <= row.end);
  }
};

class Accesses {
public:
  Accesses(const Program &program, const MemoryPlan &plan)
      : program(program), plan(plan) {}

  /// What a step reads and writes.
  std::vector<Access> of(uint32_t step) const {
    const StepSpec &spec = program.program[step];
    std::vector<Access> found;
    for (uint32_t i = 0; i < spec.bufferCount; ++i)
      add(step, i, found);
    const ScratchRange &scratch = plan.scratch[step];
    if (scratch.bytes)
      found.push_back({step, KernelWorkspace, scratch.offset,
                       scratch.offset + scratch.bytes, true});
    if (packingOf(program, spec, /*atLoad=*/false).when == Packing::EachRun)
      found.push_back({step, PackScratch, 0, plan.packScratch, true});
    return found;
  }

private:
  void add(uint32_t step, uint32_t buffer, std::vector<Access> &found) const {
    const StepSpec &user = program.program[step];
    uint32_t value = user.buffers[buffer];
    bool writes = buffer >= user.operandCount;
    const ValueSpec &spec = program.values[value];
    const ValueSpec &whole = program.values[program.wholeOf(value)];
    uint64_t begin = spec.kind == ValueKind::Part ? spec.offset : 0;
    if (whole.kind == ValueKind::Workspace)
      begin += whole.offset;
    else if (whole.kind != ValueKind::Output)
      return;
    uint32_t region =
        whole.kind == ValueKind::Workspace ? Workspace : Outputs + whole.index;
    // A value of which the size is not said may be as large as the region.
    found.push_back({step, region, spec.bytes ? begin : 0,
                     spec.bytes ? begin + spec.bytes : UINT64_MAX, writes});
    const Table<WrittenSpec> &written = program.kernels[user.kernel].written;
    if (writes && buffer - user.operandCount < written.size)
      found.back().row = written[buffer - user.operandCount];
  }

  const Program &program;
  const MemoryPlan &plan;
};

} // namespace

std::vector<std::vector<uint32_t>> findPredecessors(const Program &program,
                                                    const MemoryPlan &plan) {
  uint32_t count = program.program.size;
  std::vector<std::vector<uint32_t>> predecessors(count);
  // All that a step follows, directly or not.
  std::vector<std::vector<bool>> earlier(count);
  // Accesses that a later one may have to follow.
  std::vector<Access> live;
  Accesses accesses(program, plan);
  for (uint32_t step = 0; step < count; ++step) {
    std::vector<Access> own = accesses.of(step);
    std::vector<uint32_t> all;
    for (const Access &access : own)
      for (const Access &other : live)
        if (access.conflictsWith(other))
          all.push_back(other.step);
    // The latest first: the steps that they follow need not be named again.
    std::sort(all.begin(), all.end(), std::greater<>());
    earlier[step].resize(step);
    for (uint32_t other : all) {
      if (earlier[step][other])
        continue;
      predecessors[step].push_back(other);
      earlier[step][other] = true;
      for (uint32_t i = 0; i < other; ++i)
        if (earlier[other][i])
          earlier[step][i] = true;
    }
    // What follows an access that is overwritten follows its writer.
    for (const Access &access : own)
      if (access.writes)
        live.erase(std::remove_if(live.begin(), live.end(),
                                  [&](const Access &other) {
                                    return access.covers(other);
                                  }),
                   live.end());
    live.insert(live.end(), own.begin(), own.end());
  }
  return predecessors;
}

} // namespace runtime
} // namespace fact
