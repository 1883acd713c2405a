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
/// Whether the permutation swaps the last two dimensions and nothing else.
bool swapsLastTwo(ArrayRef<int64_t> dims) {
  int64_t rank = dims.size();
  if (rank < 2 || dims[rank - 1] != rank - 2 || dims[rank - 2] != rank - 1)
    return false;
  return llvm::equal(dims.drop_back(2), llvm::seq<int64_t>(0, rank - 2));
}

/// matmul(permute(x)) reads x transposed.
struct FoldTransposeIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    auto fold = [&](OpOperand &operand, bool transposed,
                    function_ref<void(bool)> setTransposed) {
      auto permute = operand.get().getDefiningOp<PermuteOp>();
      if (!permute || !swapsLastTwo(permute.getDims()))
        return;
      rewriter.modifyOpInPlace(op, [&] {
        operand.set(permute.getOperand());
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
        shapes.push_back(
            cast<RankedTensorType>(&other == &operand
                                       ? expand.getOperand().getType()
                                       : other.get().getType())
                .getShape());
      auto broadcast = broadcastShapes(shapes);
      if (!broadcast || ArrayRef<int64_t>(*broadcast) != shape)
        continue;
      rewriter.modifyOpInPlace(op,
                               [&] { operand.set(expand.getOperand()); });
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
    if (!from || !through || through.getFPMantissaWidth() < from.getFPMantissaWidth() ||
        (!through.isF32() && !through.isF64()))
      return failure();
    rewriter.replaceOp(op, inner.getOperand());
    return success();
  }
};

struct FoldViewsPass : fact::impl::FoldViewsBase<FoldViewsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldTransposeIntoMatmul, FoldExpandIntoPointwise,
                 FoldCastPair>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
