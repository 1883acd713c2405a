//===- InlineFused.cpp - Replace each fused op by its region --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace fact {
#define GEN_PASS_DEF_INLINEFUSED
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
struct InlineRegion : OpRewritePattern<FusedOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedOp fused,
                                PatternRewriter &rewriter) const override {
    Block &body = fused.getBody().front();
    Operation *yield = body.getTerminator();
    rewriter.inlineBlockBefore(&body, fused, fused.getInputs());
    rewriter.replaceOp(fused, yield->getOperands());
    rewriter.eraseOp(yield);
    return success();
  }
};

struct InlineFusedPass : fact::impl::InlineFusedBase<InlineFusedPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateInlineFusedPatterns(patterns);
    // A walk folds nothing: what was in a region stays as it is.
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

void fact::populateInlineFusedPatterns(RewritePatternSet &patterns) {
  patterns.add<InlineRegion>(patterns.getContext());
}
