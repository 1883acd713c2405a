//===- Groupings.cpp - Groupings of one model beside each other -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Groupings.h"
#include "fact/Dialect/Fact/Fact.h"

using namespace mlir;
using namespace fact;

static SmallVector<FusedOp> getKernels(ModuleOp module) {
  SmallVector<FusedOp> kernels;
  module.walk([&](FusedOp fused) { kernels.push_back(fused); });
  return kernels;
}

/// Whether two kernels compute the same ops.
static bool isSameGroup(FusedOp a, FusedOp b) {
  return a.getRule() == b.getRule() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

bool fact::isSameGrouping(ModuleOp a, ModuleOp b) {
  return llvm::equal(getKernels(a), getKernels(b), isSameGroup);
}

void fact::takeSearches(ModuleOp module, ModuleOp other) {
  SmallVector<FusedOp> known = getKernels(other);
  for (FusedOp fused : getKernels(module)) {
    auto found = llvm::find_if(
        known, [&](FusedOp each) { return isSameGroup(fused, each); });
    if (found == known.end())
      continue;
    fused.setScheduleAttr(found->getScheduleAttr());
    fused.setSpaceAttr(found->getSpaceAttr());
    fused.setStrategyAttr(found->getStrategyAttr());
  }
}
