//===- RaiseAttention.cpp - Recognise attention that is written out -------===//

#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fact {
#define GEN_PASS_DEF_RAISEATTENTION
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether an additive mask lets query i see keys 0..i and no others, for
/// every batch and head alike.
bool isCausal(const KnownTensor &mask, int64_t queries, int64_t keys) {
  if (mask.shape.size() < 2 || mask.shape.back() != keys ||
      mask.shape[mask.shape.size() - 2] != queries)
    return false;
  for (auto [i, value] : llvm::enumerate(mask.elements)) {
    int64_t key = i % keys, query = i / keys % queries;
    if (value != (key <= query ? 0.0 : -infinity))
      return false;
  }
  return true;
}

void bake(const KnownTensor &known, PatternRewriter &rewriter) {
  for (Operation *op : known.weights) {
    auto weight = cast<WeightOp>(op);
    rewriter.modifyOpInPlace(weight, [&] { weight.setBaked(true); });
  }
}

/// What stands between q k^T and the softmax.
struct Scores {
  MatmulOp product;
  double scale = 1;
  /// Added to the scaled scores; null when there is none.
  Value mask;
  /// In place of an added mask: a choice between the scores and -inf.
  SelectOp select;
  bool hidesWhenTrue = false;
};

/// Walks from the softmax's operand to the product, collecting one mask
/// outside of the scale and any number of scales inside of it.
FailureOr<Scores> matchScores(Value value) {
  auto isMinusInfinity = [](Value value) {
    return getSplatConstant(value) == -infinity;
  };
  Scores scores;
  while (Operation *op = value.getDefiningOp()) {
    bool mayMask = !scores.mask && !scores.select && scores.scale == 1;
    if (auto product = dyn_cast<MatmulOp>(op)) {
      scores.product = product;
      return scores;
    }
    if (auto mul = dyn_cast<MulOp>(op)) {
      bool left = getSplatConstant(mul.getLhs()).has_value();
      auto factor = getSplatConstant(left ? mul.getLhs() : mul.getRhs());
      if (!factor)
        return failure();
      scores.scale *= *factor;
      value = left ? mul.getRhs() : mul.getLhs();
    } else if (auto div = dyn_cast<DivOp>(op)) {
      auto divisor = getSplatConstant(div.getRhs());
      if (!divisor)
        return failure();
      scores.scale /= *divisor;
      value = div.getLhs();
    } else if (auto select = dyn_cast<SelectOp>(op); select && mayMask) {
      scores.select = select;
      scores.hidesWhenTrue = isMinusInfinity(select.getLhs());
      if (scores.hidesWhenTrue == isMinusInfinity(select.getRhs()))
        return failure();
      value = scores.hidesWhenTrue ? select.getRhs() : select.getLhs();
    } else if (auto add = dyn_cast<AddOp>(op); add && mayMask) {
      // The scores have the full shape; a mask is often data.
      bool leftIsScores = add.getLhs().getType() == add.getType() &&
                          !isa_and_nonnull<GetWeightOp, ConstantOp>(
                              add.getLhs().getDefiningOp());
      value = leftIsScores ? add.getLhs() : add.getRhs();
      scores.mask = leftIsScores ? add.getRhs() : add.getLhs();
    } else {
      return failure();
    }
  }
  return failure();
}

/// The mask as a summand: what was added, or 0 and -inf by the condition.
Value buildMask(const Scores &scores, PatternRewriter &rewriter) {
  SelectOp select = scores.select;
  if (!select)
    return scores.mask;
  Type element = select.getType().getElementType();
  auto scalar = RankedTensorType::get({}, element);
  auto constant = [&](double value) -> Value {
    auto attr = rewriter.getFloatAttr(element, value);
    return ConstantOp::create(rewriter, select.getLoc(), scalar,
                              DenseElementsAttr::get(scalar, Attribute(attr)));
  };
  Value hidden = constant(-infinity), seen = constant(0);
  auto type = RankedTensorType::get(select.getCondition().getType().getShape(),
                                    element);
  return SelectOp::create(rewriter, select.getLoc(), type,
                          select.getCondition(),
                          scores.hidesWhenTrue ? hidden : seen,
                          scores.hidesWhenTrue ? seen : hidden);
}

/// matmul(softmax(scores), v)
struct RaiseWrittenOut : OpRewritePattern<MatmulOp> {
  RaiseWrittenOut(MLIRContext *context, Pass::Statistic &raised)
      : OpRewritePattern(context), raised(raised) {}

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto softmax = op.getLhs().getDefiningOp<SoftmaxOp>();
    if (!softmax || op.getTransposeA() || op.getTransposeB() ||
        op.getType().getRank() != 4 ||
        softmax.getDim() != uint64_t(softmax.getType().getRank() - 1))
      return failure();
    FailureOr<Scores> scores = matchScores(softmax.getOperand());
    if (failed(scores))
      return failure();
    MatmulOp product = scores->product;
    if (product.getTransposeA() || !product.getTransposeB() ||
        product.getType() != softmax.getType())
      return failure();
    Value query = product.getLhs(), key = product.getRhs(), value = op.getRhs();
    // Broadcast batches are not attention's grouped heads.
    auto batch = [](Value tensor) {
      return cast<RankedTensorType>(tensor.getType()).getShape().drop_back(2);
    };
    if (batch(query) != batch(key) || batch(key) != batch(value) ||
        batch(query).size() != 2)
      return failure();
    rewriter.replaceOpWithNewOp<AttentionOp>(
        op, op.getType(), query, key, value, buildMask(*scores, rewriter),
        rewriter.getF64FloatAttr(scores->scale), /*causal=*/UnitAttr());
    ++raised;
    return success();
  }

  Pass::Statistic &raised;
};

/// A mask that is known to be causal becomes a flag.
struct ProveCausal : OpRewritePattern<AttentionOp> {
  ProveCausal(MLIRContext *context, Pass::Statistic &proven)
      : OpRewritePattern(context), proven(proven) {}

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getMask() || op.getCausal())
      return failure();
    FailureOr<KnownTensor> mask = evaluateConstant(op.getMask());
    if (failed(mask) || !isCausal(*mask, op.getQuery().getType().getDimSize(2),
                                  op.getKey().getType().getDimSize(2)))
      return failure();
    bake(*mask, rewriter);
    rewriter.replaceOpWithNewOp<AttentionOp>(
        op, op.getType(), op.getQuery(), op.getKey(), op.getValue(),
        /*mask=*/Value(), op.getScaleAttr(), rewriter.getUnitAttr());
    ++proven;
    return success();
  }

  Pass::Statistic &proven;
};

/// The [batch, kv_heads, T, D] tensor whose heads `value` repeats `group` times
/// each: reshape(expand(reshape(x))).
Value matchRepeatedHeads(Value value) {
  auto outer = value.getDefiningOp<ReshapeOp>();
  auto expand =
      outer ? outer.getOperand().getDefiningOp<ExpandOp>() : ExpandOp();
  auto inner =
      expand ? expand.getOperand().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!inner || outer.getType().getRank() != 4 ||
      inner.getOperand().getType().getRank() != 4)
    return {};
  ArrayRef<int64_t> heads = inner.getOperand().getType().getShape();
  ArrayRef<int64_t> wide = expand.getType().getShape();
  ArrayRef<int64_t> merged = outer.getType().getShape();
  if (wide.size() != 5 ||
      inner.getType().getShape() !=
          ArrayRef<int64_t>({heads[0], heads[1], 1, heads[2], heads[3]}))
    return {};
  int64_t group = wide[2];
  if (wide !=
          ArrayRef<int64_t>({heads[0], heads[1], group, heads[2], heads[3]}) ||
      merged !=
          ArrayRef<int64_t>({heads[0], heads[1] * group, heads[2], heads[3]}))
    return {};
  return inner.getOperand();
}

/// Repeated keys and values are read once for a group of query heads.
struct GroupHeads : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    Value key = matchRepeatedHeads(op.getKey());
    Value value = matchRepeatedHeads(op.getValue());
    if (!key || !value ||
        cast<RankedTensorType>(key.getType()).getDimSize(1) !=
            cast<RankedTensorType>(value.getType()).getDimSize(1))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getKeyMutable().set(key);
      op.getValueMutable().set(value);
    });
    return success();
  }
};

struct RaiseAttentionPass : fact::impl::RaiseAttentionBase<RaiseAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RaiseWrittenOut>(&getContext(), raised);
    patterns.add<ProveCausal>(&getContext(), causal);
    patterns.add<GroupHeads>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
