//===- PlanMemory.cpp - Offsets of the buffers of a program ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"
#include "fact/Support/FirstFit.h"

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

/// Places workspace buffers; returns the total bytes.
static int64_t placeWorkspace(ModelOp model) {
  llvm::MapVector<AllocOp, LiveRange> ranges = getLiveRanges(model);
  SmallVector<AllocOp> allocs;
  std::vector<TimedBuffer> buffers;
  for (AllocOp alloc : model.getBody().getOps<AllocOp>()) {
    if (alloc.getMemory() != Memory::workspace)
      continue;
    LiveRange range = ranges[alloc];
    allocs.push_back(alloc);
    buffers.push_back({int64_t(alloc.getBytes()), range.first, range.last});
  }
  int64_t total = placeFirstFit(buffers);
  for (auto [alloc, buffer] : llvm::zip_equal(allocs, buffers))
    alloc.setOffset(buffer.offset);
  return total;
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
