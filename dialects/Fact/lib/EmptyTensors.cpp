//===- EmptyTensors.cpp - Tensors without elements ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor without elements is a constant, and so is what an op makes of one
// where its own result has elements: a sum of nothing is 0. No target sees
// either: kernels compute something from something.
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

/// One number everywhere; NaN is 0 in integers.
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
/// Whatever computes nothing is nothing.
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

/// An op that reads nothing, and gives something.
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

/// There is no mean; the verifier refuses an extreme of nothing.
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

/// Sums of no products.
template <>
FailureOr<Value>
FromNothing<MatmulOp>::compute(MatmulOp op, PatternRewriter &rewriter) const {
  return splat(rewriter, op.getLoc(), op.getType(), 0);
}

/// Every index is outside.
template <>
FailureOr<Value>
FromNothing<GatherOp>::compute(GatherOp op, PatternRewriter &rewriter) const {
  return splat(rewriter, op.getLoc(), op.getType(),
               std::numeric_limits<double>::quiet_NaN());
}

/// Without keys a query sees none, and gives 0. Keys of no elements all score
/// 0, as keys of one zero do.
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
