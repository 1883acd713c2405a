//===- Layouts.cpp - Who moves the elements of a permuted value -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Layouts.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Kernel/Rules.h"

using namespace mlir;
using namespace fact;

/// The ops from the readers of `op` to the first permute, which may move the
/// elements back; none if there is no permute or another reader before it.
static SmallVector<Operation *> getOpsToPermute(Operation *op) {
  SmallVector<Operation *> ops;
  while (op->getNumResults() == 1 && op->hasOneUse()) {
    op = *op->user_begin();
    if (!isa<PointwiseOpInterface, ViewOpInterface>(op))
      break;
    ops.push_back(op);
    if (isa<PermuteOp>(op))
      return ops;
  }
  return {};
}

/// Whether no kernel reads permuted rows as fast as one that reads a copy. A
/// kernel that reads them may also move the elements back; after a copy, what
/// reads the rows may need a second one.
static bool areFasterFromCopies(const OpGroup &rows,
                                ArrayRef<Operation *> views,
                                const Fusibility &fusibility) {
  OpGroup together = rows, alone;
  together.insert(views.begin(), views.end());
  alone.insert(views.begin(), views.end());
  std::optional<double> one = fusibility.predictBest(together);
  SmallVector<Operation *> back = getOpsToPermute(rows.front());
  together.insert(back.begin(), back.end());
  if (std::optional<double> whole = fusibility.predictBest(together))
    one = one ? std::min(*one, *whole) : *whole;
  std::optional<double> first = fusibility.predictBest(rows);
  std::optional<double> copy = fusibility.predict(pointwiseRule.name, alone);
  return one && first && copy && *one > *first + 2 * *copy;
}

bool fact::areBetterCopied(StringRef rule, const OpGroup &before,
                           ArrayRef<Operation *> views,
                           const Fusibility &fusibility) {
  if (fusibility.getTarget().getMachine().isHost() ||
      llvm::none_of(before,
                    llvm::IsaPred<ContractionOpInterface, RowOpInterface>) ||
      llvm::none_of(views, llvm::IsaPred<PermuteOp>) ||
      !llvm::all_of(views, llvm::IsaPred<ViewOpInterface>) ||
      llvm::any_of(views,
                   [](Operation *op) { return isFixed(op->getOperand(0)); }))
    return false;
  if (llvm::any_of(before, llvm::IsaPred<ContractionOpInterface>))
    return fusibility.areFasterApart(rule, before, views);
  return areFasterFromCopies(before, views, fusibility);
}
