//===- SplitGates.cpp - Gate and up projections made by one product -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-split-gates"

namespace fact {
#define GEN_PASS_DEF_SPLITGATES
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// The slice of the last dimension that `value` is a pointwise function of.
SliceOp followToSlice(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasOneUse())
      return {};
    if (auto slice = dyn_cast<SliceOp>(op))
      return static_cast<int64_t>(slice.getDim()) ==
                     slice.getType().getRank() - 1
                 ? slice
                 : SliceOp();
    if (!isa<PointwiseOpInterface>(op) || op->getNumOperands() != 1)
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Takes the range of `slice` from another tensor and dimension.
Value sliceAlike(SliceOp slice, Value tensor, int64_t dim, OpBuilder &builder) {
  SmallVector<int64_t> shape(shapeOf(tensor));
  shape[dim] = slice.getType().getShape().back();
  return SliceOp::create(builder, slice.getLoc(),
                         typeOf(tensor).clone(ArrayRef<int64_t>(shape)), tensor,
                         dim, slice.getStart(), slice.getStep());
}

/// act(y[..., :n]) * y[..., n:] with y = x w^T + b becomes act(x w1^T + b1) *
/// (x w2^T + b2).
struct SplitGate : OpRewritePattern<MulOp> {
  SplitGate(MLIRContext *context, Pass::Statistic *split)
      : OpRewritePattern(context), split(split) {}

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    SliceOp slices[] = {followToSlice(op.getLhs()), followToSlice(op.getRhs())};
    if (!slices[0] || !slices[1] || slices[0] == slices[1] ||
        slices[0].getOperand() != slices[1].getOperand())
      return failure();
    Value whole = slices[0].getOperand();
    // With other users, the whole product would be computed twice.
    if (!llvm::all_of(whole.getUsers(), [&](Operation *user) {
          return user == slices[0] || user == slices[1];
        }))
      return failure();
    auto product = whole.getDefiningOp<MatmulOp>();
    Value bias;
    if (auto add = whole.getDefiningOp<AddOp>()) {
      product = add.getLhs().getDefiningOp<MatmulOp>();
      bias = add.getRhs();
      if (!product) {
        product = add.getRhs().getDefiningOp<MatmulOp>();
        bias = add.getLhs();
      }
      if (product &&
          (!product->hasOneUse() || product.getType() != add.getType() ||
           typeOf(bias).getRank() != 1))
        return failure();
    }
    if (!product)
      return failure();
    for (SliceOp slice : slices) {
      rewriter.setInsertionPoint(slice);
      Value rhs = product.getRhs();
      int64_t column =
          typeOf(rhs).getRank() - (product.getTransposeB() ? 2 : 1);
      Value half = MatmulOp::create(
          rewriter, rewriter.getFusedLoc({product.getLoc(), slice.getLoc()}),
          product.getLhs(), sliceAlike(slice, rhs, column, rewriter),
          product.getTransposeA(), product.getTransposeB(), product.getTf32());
      if (bias) {
        Value part = shapeOf(bias).back() == 1
                         ? bias
                         : sliceAlike(slice, bias, 0, rewriter);
        half = AddOp::create(rewriter, whole.getLoc(), half, part);
      }
      rewriter.replaceOp(slice, half);
    }
    if (split)
      ++*split;
    return success();
  }

  Pass::Statistic *split;
};

struct SplitGatesPass : fact::impl::SplitGatesBase<SplitGatesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSplitGatesPatterns(patterns, &split);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateSplitGatesPatterns(RewritePatternSet &patterns,
                                      Pass::Statistic *split) {
  patterns.add<SplitGate>(patterns.getContext(), split);
}
