//===- SeparatePadding.cpp - Padding for each of its windows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SeparatePadding.h"
#include "fact/Analysis/WindowedView.h"

using namespace mlir;
using namespace fact;

/// Whether an op is windows, or padding of which nothing else is made.
static bool makesWindows(Operation *op) {
  if (isa<WindowsOp>(op))
    return true;
  return SplatPadding::get(op) && op->hasOneUse() &&
         makesWindows(*op->user_begin());
}

void fact::separatePadding(Block &block) {
  // From the last op on: the copies are users of the padding before them.
  for (Operation &op : llvm::reverse(block)) {
    if (!SplatPadding::get(&op))
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getUses())
      if (use.getOwner()->getBlock() == &block && makesWindows(use.getOwner()))
        uses.push_back(&use);
    // The last user keeps the original.
    if (uses.size() == size_t(llvm::range_size(op.getUses())) && !uses.empty())
      uses.pop_back();
    for (OpOperand *use : uses) {
      Operation *copy = op.clone();
      block.getOperations().insert(Block::iterator(use->getOwner()), copy);
      use->set(copy->getResult(0));
    }
  }
}
