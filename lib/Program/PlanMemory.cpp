//===- PlanMemory.cpp - Offsets of the buffers of a program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"

namespace fact {
#define GEN_PASS_DEF_PLANMEMORY
#include "fact/Program/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;
using namespace fact::program;

/// Places prepared buffers one after another; returns the total bytes.
static int64_t placePrepared(ModelOp model) {
  int64_t end = 0;
  for (AllocOp alloc : model.getBody().getOps<AllocOp>()) {
    if (alloc.getMemory() != Memory::prepared)
      continue;
    alloc.setOffset(end);
    end += alloc.getBytes();
  }
  return end;
}

/// Places workspace buffers first-fit by decreasing size; returns the total
/// bytes.
static int64_t placeWorkspace(ModelOp model) {
  llvm::MapVector<AllocOp, LiveRange> ranges = getLiveRanges(model);
  SmallVector<AllocOp> order;
  for (AllocOp alloc : model.getBody().getOps<AllocOp>())
    if (alloc.getMemory() == Memory::workspace)
      order.push_back(alloc);
  llvm::sort(order, [](AllocOp a, AllocOp b) {
    return a.getBytes() != b.getBytes() ? a.getBytes() > b.getBytes()
                                        : a->isBeforeInBlock(b);
  });
  int64_t end = 0;
  SmallVector<AllocOp> placed;
  for (AllocOp alloc : order) {
    // Memory of buffers with an overlapping live range, from low to high.
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (AllocOp other : placed)
      if (ranges[alloc].overlaps(ranges[other]))
        taken.emplace_back(*other.getOffset(),
                           *other.getOffset() + other.getBytes());
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [takenBegin, takenEnd] : taken) {
      if (offset + alloc.getBytes() <= takenBegin)
        break;
      offset = std::max(offset, takenEnd);
    }
    alloc.setOffset(offset);
    end = std::max(end, offset + alloc.getBytes());
    placed.push_back(alloc);
  }
  return end;
}

namespace {
struct PlanMemoryPass : fact::impl::PlanMemoryBase<PlanMemoryPass> {
  void runOnOperation() override {
    ModelOp model = getOperation();
    model.setPreparedBytes(placePrepared(model));
    model.setWorkspaceBytes(placeWorkspace(model));
  }
};
} // namespace
