//===- Layouts.cpp - Who moves the elements of a permuted value -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Layouts.h"
#include "fact/Analysis/ReadThrough.h"

using namespace mlir;
using namespace fact;

bool fact::areBetterCopied(StringRef rule, const OpGroup &before,
                           ArrayRef<Operation *> views,
                           const Fusibility &fusibility) {
  if (fusibility.getTarget().getMachine().isHost() ||
      llvm::none_of(before, llvm::IsaPred<ContractionOpInterface>) ||
      llvm::none_of(views, llvm::IsaPred<PermuteOp>) ||
      !llvm::all_of(views, llvm::IsaPred<ViewOpInterface>) ||
      llvm::any_of(views,
                   [](Operation *op) { return isFixed(op->getOperand(0)); }))
    return false;
  return fusibility.areFasterApart(rule, before, views);
}
