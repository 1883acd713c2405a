//===- MemoryPlan.h - The memory of an instance of a model ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_MEMORYPLAN_H
#define FACT_LIB_RUNTIME_MEMORYPLAN_H

#include "fact/Runtime/Program.h"
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fact {
namespace runtime {

/// The operands of a step that its kernel reads packed, and when they are
/// packed.
struct Packing {
  enum { None, EachRun, Once } when = None;
  /// The packed values; the packed memory takes the place of the first.
  std::vector<uint32_t> values;
};

/// `atLoad`: the step runs when a model is created, not on each call.
Packing packingOf(const Program &program, const StepSpec &step, bool atLoad);

/// Scratch memory of one launch.
struct ScratchRange {
  uint64_t offset = 0, bytes = 0;
};

/// The memory that an instance allocates, known from the program alone.
struct MemoryPlan {
  explicit MemoryPlan(const Program &program);

  uint64_t total(const Program &program) const;

  /// Above this in all, launches share scratch memory, one after the other.
  static constexpr uint64_t mostSeparateScratch = uint64_t(32) << 20;
  static constexpr uint64_t scratchAlignment = 256;

  /// Scratch memory of launches.
  uint64_t kernelWorkspace = 0;
  /// Where each step of the program has its own there. Those that need little
  /// have it to themselves, so that they may run at the same time.
  std::vector<ScratchRange> scratch;
  /// Shared by the operands that are packed before each launch.
  uint64_t packScratch = 0;
  /// Positions of the weights from which something was computed at load, or on
  /// whose value the compiler relied, in ascending order.
  std::vector<uint32_t> consumedWeights;
  /// The slots of operands that are packed once, by kernel and values.
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> slots;
  std::vector<uint64_t> slotBytes;

private:
  void placeScratch(const Program &program);
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_MEMORYPLAN_H
