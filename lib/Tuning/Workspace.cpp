//===- Workspace.cpp - The memory of a program's values -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Workspace.h"
#include "fact/Support/FirstFit.h"
#include <algorithm>
#include <map>

namespace fact {
namespace tuning {

using runtime::ValueKind;
namespace {
/// A buffer that is in use for a while in the order of the program, and for
/// another where each launch begins as soon as it can.
struct OverlappedBuffer {
  int64_t bytes = 0;
  TimedBuffer inOrder, early;
  int64_t offset = 0;

  bool overlaps(const OverlappedBuffer &other) const {
    return inOrder.overlaps(other.inOrder) || early.overlaps(other.early);
  }
};
} // namespace

using Times = std::vector<int64_t>;
using Buffers = std::map<uint32_t, OverlappedBuffer>;

static void extend(TimedBuffer &buffer, int64_t time) {
  buffer.first = std::min(buffer.first, time);
  buffer.last = std::max(buffer.last, time);
}

/// The values in workspace, with the times of the steps that use them.
static Buffers timeBuffers(const Bundle &bundle, const Times &inOrder,
                           const Times &early) {
  Buffers buffers;
  for (size_t i = 0; i < bundle.program.size(); ++i)
    for (const std::vector<uint32_t> *list :
         {&bundle.program[i].operands, &bundle.program[i].results})
      for (uint32_t each : *list) {
        uint32_t whole = bundle.wholeOf(each);
        const Value &value = bundle.values[whole];
        if (value.kind != ValueKind::Workspace)
          continue;
        // Values begin at multiples of 256 bytes.
        auto bytes = static_cast<int64_t>((value.bytes + 255) / 256 * 256);
        OverlappedBuffer &buffer =
            buffers
                .try_emplace(whole,
                             OverlappedBuffer{bytes,
                                              {bytes, inOrder[i], inOrder[i]},
                                              {bytes, early[i], early[i]}})
                .first->second;
        extend(buffer.inOrder, inOrder[i]);
        extend(buffer.early, early[i]);
      }
  return buffers;
}

static int64_t place(Buffers &buffers) {
  std::vector<OverlappedBuffer> placed;
  for (const auto &[value, buffer] : buffers)
    placed.push_back(buffer);
  int64_t total = placeFirstFit(placed);
  auto next = placed.begin();
  for (auto &[value, buffer] : buffers)
    buffer = *next++;
  return total;
}

/// Steps one after the other.
static Times inOrder(const Bundle &bundle) {
  Times times(bundle.program.size());
  for (size_t i = 0; i < times.size(); ++i)
    times[i] = static_cast<int64_t>(i);
  return times;
}

/// Each step as soon as those are over whose results it reads.
static Times asSoonAsPossible(const Bundle &bundle) {
  Times times;
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
  Times order = inOrder(bundle);
  Buffers buffers;
  int64_t total = mostOverlappedWorkspace + 1;
  if (bundle.target.cuda) {
    buffers = timeBuffers(bundle, order, asSoonAsPossible(bundle));
    total = place(buffers);
  }
  if (total > mostOverlappedWorkspace) {
    buffers = timeBuffers(bundle, order, order);
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
