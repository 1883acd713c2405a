//===- RaiseNorms.cpp - Recognise norms that are written out --------------===//

#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fact {
#define GEN_PASS_DEF_RAISENORMS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// The number of trailing dimensions reduced with `keep`, or 0.
int64_t reducedTrailing(ReduceOp op) {
  int64_t rank = op.getOperand().getType().getRank();
  int64_t count = op.getDims().size();
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (dim != rank - count + static_cast<int64_t>(i))
      return 0;
  return op.getKeep() ? count : 0;
}

/// x * rsqrt(mean(x * x) + eps)
struct RaiseRms : OpRewritePattern<MulOp> {
  RaiseRms(MLIRContext *context, Pass::Statistic &raised)
      : OpRewritePattern(context), raised(raised) {}

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [x, scale] : {std::pair(op.getLhs(), op.getRhs()),
                            std::pair(op.getRhs(), op.getLhs())}) {
      if (x.getType() != op.getType())
        continue;
      auto rsqrt = scale.getDefiningOp<RsqrtOp>();
      auto shifted =
          rsqrt ? rsqrt.getOperand().getDefiningOp<AddOp>() : AddOp();
      if (!shifted)
        continue;
      Value sum = shifted.getLhs(), epsilon = shifted.getRhs();
      if (getSplatConstant(sum))
        std::swap(sum, epsilon);
      std::optional<double> eps = getSplatConstant(epsilon);
      auto mean = sum.getDefiningOp<ReduceOp>();
      if (!eps || !mean || mean.getKind() != ReduceKind::mean)
        continue;
      int64_t dims = reducedTrailing(mean);
      auto square = mean.getOperand().getDefiningOp<MulOp>();
      if (!dims || !square || square.getLhs() != x || square.getRhs() != x)
        continue;
      rewriter.replaceOpWithNewOp<NormOp>(
          op, op.getType(), NormKindAttr::get(op.getContext(), NormKind::rms),
          x,
          /*weight=*/Value(), /*bias=*/Value(), rewriter.getF64FloatAttr(*eps),
          rewriter.getI64IntegerAttr(dims));
      ++raised;
      return success();
    }
    return failure();
  }

  Pass::Statistic &raised;
};

/// norm(x) * weight and norm(x) + bias, where the norm has none yet.
template <typename OpT> struct AbsorbParameter : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  static constexpr bool isWeight = std::is_same_v<OpT, MulOp>;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (auto [normed, parameter] : {std::pair(op.getLhs(), op.getRhs()),
                                     std::pair(op.getRhs(), op.getLhs())}) {
      auto norm = normed.template getDefiningOp<NormOp>();
      if (!norm || !norm->hasOneUse() || norm.getBias() ||
          norm.getType() != op.getType())
        continue;
      if (isWeight && norm.getWeight())
        continue;
      auto type = cast<RankedTensorType>(parameter.getType());
      if (type.getShape() !=
          norm.getType().getShape().take_back(norm.getDims()))
        continue;
      rewriter.replaceOpWithNewOp<NormOp>(
          op, op.getType(), norm.getKindAttr(), norm.getOperand(),
          isWeight ? Value(parameter) : Value(norm.getWeight()),
          isWeight ? Value(norm.getBias()) : Value(parameter),
          norm.getEpsAttr(), norm.getDimsAttr());
      return success();
    }
    return failure();
  }
};

struct RaiseNormsPass : fact::impl::RaiseNormsBase<RaiseNormsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseRms>(&getContext(), raised);
    patterns.add<AbsorbParameter<MulOp>, AbsorbParameter<AddOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
