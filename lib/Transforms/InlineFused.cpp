//===- InlineFused.cpp - Replace each fused op by its region --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace fact {
#define GEN_PASS_DEF_INLINEFUSED
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct InlineFusedPass : fact::impl::InlineFusedBase<InlineFusedPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](FusedOp fused) {
      Block &body = fused.getBody().front();
      SmallVector<Value> yielded(body.getTerminator()->getOperands());
      rewriter.eraseOp(body.getTerminator());
      rewriter.inlineBlockBefore(&body, fused, fused.getInputs());
      rewriter.replaceOp(fused, yielded);
    });
  }
};
} // namespace
