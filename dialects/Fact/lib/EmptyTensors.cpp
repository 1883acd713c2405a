//===- EmptyTensors.cpp - Tensors without elements ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op whose result has no elements becomes an empty constant. An op with an
// empty operand and a result that has elements becomes the constant that it
// computes, such as 0 for a sum. Targets therefore never see an empty tensor.
//
//===----------------------------------------------------------------------===//

#include "EmptyTensors.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/PatternMatch.h"
#include <limits>

using namespace mlir;
using namespace fact;

static bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

/// Builds a splat constant; NaN becomes 0 in an integer type.
static Value splat(PatternRewriter &rewriter, Location loc,
                   RankedTensorType type, double number) {
  Type element = type.getElementType();
  Attribute value;
  if (isa<FloatType>(element))
    value = rewriter.getFloatAttr(element, number);
  else
    value = rewriter.getIntegerAttr(element, std::isnan(number) ? 0 : number);
  return ConstantOp::create(rewriter, loc, DenseElementsAttr::get(type, value));
}

namespace {
/// Replaces an op whose result has no elements by an empty constant.
struct ReplaceEmptyResult : RewritePattern {
  explicit ReplaceEmptyResult(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<FactDialect>(op->getDialect()) ||
        isa<ConstantOp, GetWeightOp, PrepareOp, FusedOp>(op) ||
        op->getNumResults() != 1 || !isEmpty(op->getResult(0).getType()))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (!type.hasStaticShape())
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
    return success();
  }
};

/// Replaces an op that reads an empty tensor but whose result has elements.
template <typename OpT> struct FromNothing : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (isEmpty(op.getType()) || !op.getType().hasStaticShape() ||
        llvm::none_of(op->getOperandTypes(), isEmpty))
      return failure();
    FailureOr<Value> value = compute(op, rewriter);
    if (failed(value))
      return failure();
    rewriter.replaceOp(op, *value);
    return success();
  }

  FailureOr<Value> compute(OpT op, PatternRewriter &rewriter) const;
};

/// The mean of no elements is NaN. The verifier rejects maxima and minima of no
/// elements.
template <>
FailureOr<Value>
FromNothing<ReduceOp>::compute(ReduceOp op, PatternRewriter &rewriter) const {
  auto number = [&](double value) {
    return splat(rewriter, op.getLoc(), op.getType(), value);
  };
  switch (op.getKind()) {
  case ReduceKind::sum:
    return number(0);
  case ReduceKind::prod:
    return number(1);
  case ReduceKind::mean:
    return number(std::numeric_limits<double>::quiet_NaN());
  default:
    return failure();
  }
}

/// A matrix product over K = 0 is zero.
template <>
FailureOr<Value>
FromNothing<MatmulOp>::compute(MatmulOp op, PatternRewriter &rewriter) const {
  return splat(rewriter, op.getLoc(), op.getType(), 0);
}

/// A gather from an empty dimension gives NaN: every index is out of range.
template <>
FailureOr<Value>
FromNothing<GatherOp>::compute(GatherOp op, PatternRewriter &rewriter) const {
  return splat(rewriter, op.getLoc(), op.getType(),
               std::numeric_limits<double>::quiet_NaN());
}

/// Without keys, a query attends to nothing and its result is 0. With a head
/// size of 0, all scores are 0, as they are for keys with one zero element.
template <>
FailureOr<Value>
FromNothing<AttentionOp>::compute(AttentionOp op,
                                  PatternRewriter &rewriter) const {
  if (isEmpty(op.getValue().getType()))
    return splat(rewriter, op.getLoc(), op.getType(), 0);
  auto zeros = [&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = 1;
    return splat(rewriter, op.getLoc(), type.clone(ArrayRef<int64_t>(shape)),
                 0);
  };
  return AttentionOp::create(
             rewriter, op.getLoc(), op.getType(),
             zeros(op.getQuery().getType()), zeros(op.getKey().getType()),
             op.getValue(), op.getMask(), op.getScaleAttr(), op.getCausalAttr())
      .getResult();
}
} // namespace

void fact::populateEmptyTensorPatterns(RewritePatternSet &patterns) {
  patterns.add<ReplaceEmptyResult, FromNothing<ReduceOp>, FromNothing<MatmulOp>,
               FromNothing<GatherOp>, FromNothing<AttentionOp>>(
      patterns.getContext());
}
