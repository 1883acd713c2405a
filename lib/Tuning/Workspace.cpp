//===- Workspace.cpp - The memory of a program's values -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Workspace.h"
#include "fact/Support/FirstFit.h"
#include <algorithm>
#include <map>

namespace fact {
namespace tuning {

using runtime::ValueKind;
using Buffers = std::map<uint32_t, TimedBuffer>;

/// The values in workspace, in use from the earliest to the latest of their
/// steps by `times`.
static Buffers timeBuffers(const Bundle &bundle,
                           const std::vector<int64_t> &times) {
  Buffers buffers;
  for (size_t i = 0; i < bundle.program.size(); ++i)
    for (const std::vector<uint32_t> *list :
         {&bundle.program[i].operands, &bundle.program[i].results})
      for (uint32_t each : *list) {
        uint32_t whole = bundle.wholeOf(each);
        const Value &value = bundle.values[whole];
        if (value.kind != ValueKind::Workspace)
          continue;
        TimedBuffer &buffer =
            buffers
                .try_emplace(whole,
                             TimedBuffer{static_cast<int64_t>(value.bytes),
                                         times[i], times[i]})
                .first->second;
        buffer.first = std::min(buffer.first, times[i]);
        buffer.last = std::max(buffer.last, times[i]);
      }
  return buffers;
}

static int64_t place(Buffers &buffers) {
  std::vector<TimedBuffer> placed;
  for (const auto &[value, buffer] : buffers)
    placed.push_back(buffer);
  int64_t total = placeFirstFit(placed);
  auto next = placed.begin();
  for (auto &[value, buffer] : buffers)
    buffer = *next++;
  return total;
}

/// Steps one after the other.
static std::vector<int64_t> inOrder(const Bundle &bundle) {
  std::vector<int64_t> times(bundle.program.size());
  for (size_t i = 0; i < times.size(); ++i)
    times[i] = static_cast<int64_t>(i);
  return times;
}

/// Each step as soon as those are over whose results it reads.
static std::vector<int64_t> asSoonAsPossible(const Bundle &bundle) {
  std::vector<int64_t> times;
  std::map<uint32_t, int64_t> ready;
  for (const Step &step : bundle.program) {
    int64_t time = 0;
    for (uint32_t operand : step.operands) {
      auto written = ready.find(bundle.wholeOf(operand));
      if (written != ready.end())
        time = std::max(time, written->second);
    }
    for (uint32_t result : step.results) {
      int64_t &when = ready[bundle.wholeOf(result)];
      when = std::max(when, time + 1);
    }
    times.push_back(time);
  }
  return times;
}

void planWorkspace(Bundle &bundle) {
  Buffers buffers;
  int64_t total = mostOverlappedWorkspace + 1;
  if (bundle.target.cuda) {
    buffers = timeBuffers(bundle, asSoonAsPossible(bundle));
    total = place(buffers);
  }
  if (total > mostOverlappedWorkspace) {
    buffers = timeBuffers(bundle, inOrder(bundle));
    total = place(buffers);
  }
  bundle.workspaceBytes = static_cast<uint64_t>(total);
  // Values that no step uses any more have no memory.
  for (Value &value : bundle.values)
    if (value.kind == ValueKind::Workspace)
      value.offset = 0;
  for (const auto &[value, buffer] : buffers)
    bundle.values[value].offset = static_cast<uint64_t>(buffer.offset);
}

} // namespace tuning
} // namespace fact
