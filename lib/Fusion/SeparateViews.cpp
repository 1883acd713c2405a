//===- SeparateViews.cpp - Views for each of their reductions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SeparateViews.h"
#include "fact/Analysis/ReadThrough.h"

using namespace mlir;
using namespace fact;

/// Whether an op is a reduction that reads through the permute before it.
static bool readsThrough(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && ReducedOperand::get(reduce).value != reduce.getOperand();
}

void fact::separateViews(Block &block) {
  for (auto permute : llvm::make_early_inc_range(block.getOps<PermuteOp>())) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : permute->getUses())
      if (use.getOwner()->getBlock() == &block && readsThrough(use.getOwner()))
        uses.push_back(&use);
    // One of the readers keeps the original.
    if (uses.size() == size_t(llvm::range_size(permute->getUses())) &&
        !uses.empty())
      uses.pop_back();
    for (OpOperand *use : uses) {
      Operation *copy = permute->clone();
      block.getOperations().insert(Block::iterator(use->getOwner()), copy);
      use->set(copy->getResult(0));
    }
  }
}
