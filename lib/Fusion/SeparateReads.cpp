//===- SeparateReads.cpp - Views for each kernel that reads through -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SeparateReads.h"
#include "fact/Analysis/ReadThrough.h"
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

/// Whether the kernel of `user` reads through `op`, which it uses.
static bool readsThrough(Operation *user, Operation *op) {
  if (isa<PermuteOp>(op)) {
    auto reduce = dyn_cast<ReduceOp>(user);
    return reduce && ReducedOperand::get(reduce).value != reduce.getOperand();
  }
  return SplatPadding::get(op) && makesWindows(user);
}

void fact::separateReads(Block &block) {
  // From the last op on: the copies are users of the padding before them.
  for (Operation &op : llvm::reverse(block)) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getUses())
      if (use.getOwner()->getBlock() == &block &&
          readsThrough(use.getOwner(), &op))
        uses.push_back(&use);
    // One of the readers keeps the original.
    if (uses.size() == size_t(llvm::range_size(op.getUses())) && !uses.empty())
      uses.pop_back();
    for (OpOperand *use : uses) {
      Operation *copy = op.clone();
      block.getOperations().insert(Block::iterator(use->getOwner()), copy);
      use->set(copy->getResult(0));
    }
  }
}
