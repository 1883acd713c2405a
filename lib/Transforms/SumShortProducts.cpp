//===- SumShortProducts.cpp - Products of few terms as sums ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fact {
#define GEN_PASS_DEF_SUMSHORTPRODUCTS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

/// Terms up to which a kernel that stores its results at the memory's speed
/// reads the factors from its cache in that time: eight loads for one store.
static constexpr int64_t mostTerms = 8;

namespace {
struct SumTerms : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getK() == 0 || op.getK() > mostTerms || op.getM() <= mostTerms ||
        op.getN() <= mostTerms || readsWindows(op.getLhs()) ||
        readsWindows(op.getRhs()))
      return failure();
    Location loc = op.getLoc();
    Value lhs = op.getLhs(), rhs = op.getRhs();
    if (op.getTransposeA())
      lhs = transposed(rewriter, loc, lhs);
    if (op.getTransposeB())
      rhs = transposed(rewriter, loc, rhs);
    Value sum;
    for (int64_t k = 0; k < op.getK(); ++k) {
      Value column =
          sliceOf(rewriter, loc, lhs, typeOf(lhs).getRank() - 1, k, 1);
      Value row = sliceOf(rewriter, loc, rhs, typeOf(rhs).getRank() - 2, k, 1);
      Value term = MulOp::create(rewriter, loc, widen(rewriter, loc, column),
                                 widen(rewriter, loc, row));
      sum = sum ? AddOp::create(rewriter, loc, sum, term) : term;
    }
    if (sum.getType() != op.getType())
      sum = CastOp::create(rewriter, loc, op.getType(), sum);
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  static bool readsWindows(Value factor) {
    while (auto view = factor.getDefiningOp<ViewOpInterface>()) {
      if (isa<WindowsOp>(view))
        return true;
      factor = view->getOperand(0);
    }
    return false;
  }
};

struct SumShortProductsPass
    : fact::impl::SumShortProductsBase<SumShortProductsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSumShortProductsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateSumShortProductsPatterns(RewritePatternSet &patterns) {
  patterns.add<SumTerms>(patterns.getContext());
}
