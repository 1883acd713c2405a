//===- FoldViews.cpp - Fold views and casts into their users --------------===//

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fact {
#define GEN_PASS_DEF_FOLDVIEWS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// matmul(permute(x)) reads x transposed, when the permutation moves x's
/// innermost dimension to the rows: the last two are swapped back, and a flag
/// says so.
struct FoldTransposeIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    auto fold = [&](OpOperand &operand, bool transposed,
                    function_ref<void(bool)> setTransposed) {
      auto permute = operand.get().getDefiningOp<PermuteOp>();
      if (!permute)
        return;
      SmallVector<int64_t> dims(permute.getDims());
      size_t rank = dims.size();
      if (dims[rank - 2] != static_cast<int64_t>(rank) - 1)
        return;
      std::swap(dims[rank - 2], dims[rank - 1]);
      SmallVector<int64_t> shape(permute.getType().getShape());
      std::swap(shape[rank - 2], shape[rank - 1]);
      Value swapped = rewriter.createOrFold<PermuteOp>(
          permute.getLoc(), permute.getType().clone(shape),
          permute.getOperand(), dims);
      rewriter.modifyOpInPlace(op, [&] {
        operand.set(swapped);
        setTransposed(!transposed);
      });
      changed = true;
    };
    fold(op.getLhsMutable(), op.getTransposeA(),
         [&](bool set) { op.setTransposeA(set); });
    fold(op.getRhsMutable(), op.getTransposeB(),
         [&](bool set) { op.setTransposeB(set); });
    return success(changed);
  }
};

/// A pointwise op broadcasts by itself.
struct FoldExpandIntoPointwise
    : OpInterfaceRewritePattern<PointwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(PointwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    for (OpOperand &operand : op->getOpOperands()) {
      auto expand = operand.get().getDefiningOp<ExpandOp>();
      if (!expand)
        continue;
      // The other operands must still span the result.
      SmallVector<ArrayRef<int64_t>> shapes;
      for (OpOperand &other : op->getOpOperands())
        shapes.push_back(cast<RankedTensorType>(
                             &other == &operand ? expand.getOperand().getType()
                                                : other.get().getType())
                             .getShape());
      auto broadcast = broadcastShapes(shapes);
      if (!broadcast || ArrayRef<int64_t>(*broadcast) != shape)
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(expand.getOperand()); });
      return success();
    }
    return failure();
  }
};

/// cast(cast(x)) back to x's type, by way of a wider one, is x.
struct FoldCastPair : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<CastOp>();
    if (!inner || inner.getOperand().getType() != op.getType())
      return failure();
    auto from = dyn_cast<FloatType>(op.getType().getElementType());
    auto through = dyn_cast<FloatType>(inner.getType().getElementType());
    if (!from || !through ||
        through.getFPMantissaWidth() < from.getFPMantissaWidth() ||
        (!through.isF32() && !through.isF64()))
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

struct FoldViewsPass : fact::impl::FoldViewsBase<FoldViewsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<FoldTransposeIntoMatmul, FoldExpandIntoPointwise, FoldCastPair>(
            &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
