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
static Value splat(OpBuilder &builder, Location loc, RankedTensorType type,
                   double number) {
  Type element = type.getElementType();
  Attribute value;
  if (isa<FloatType>(element))
    value = builder.getFloatAttr(element, number);
  else
    value = builder.getIntegerAttr(element, std::isnan(number) ? 0 : number);
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
}

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Results of operands without elements
//===----------------------------------------------------------------------===//

/// There is no mean; the verifier refuses an extreme of nothing.
Value ReduceOp::buildFromEmpty(OpBuilder &builder) {
  switch (getKind()) {
  case ReduceKind::sum:
    return splat(builder, getLoc(), getType(), 0);
  case ReduceKind::prod:
    return splat(builder, getLoc(), getType(), 1);
  case ReduceKind::mean:
    return splat(builder, getLoc(), getType(), notANumber);
  default:
    return {};
  }
}

/// Sums of no products.
Value MatmulOp::buildFromEmpty(OpBuilder &builder) {
  return splat(builder, getLoc(), getType(), 0);
}

/// Every index is outside.
Value GatherOp::buildFromEmpty(OpBuilder &builder) {
  return splat(builder, getLoc(), getType(), notANumber);
}

/// Without keys a query sees none, and gives 0. Keys of no elements all score
/// 0, as keys of one zero do.
Value AttentionOp::buildFromEmpty(OpBuilder &builder) {
  if (isEmpty(getValue().getType()))
    return splat(builder, getLoc(), getType(), 0);
  auto zeros = [&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = 1;
    return splat(builder, getLoc(), type.clone(ArrayRef<int64_t>(shape)), 0);
  };
  return AttentionOp::create(builder, getLoc(), getType(),
                             zeros(getQuery().getType()),
                             zeros(getKey().getType()), getValue(), getMask(),
                             getScaleAttr(), getCausalAttr());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// A result without elements is a constant.
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

/// So is a result with elements that is computed from none.
struct ReplaceFromEmpty : OpInterfaceRewritePattern<TensorOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(TensorOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (isEmpty(type) || !type.hasStaticShape() ||
        llvm::none_of(op->getOperandTypes(), isEmpty))
      return failure();
    Value value = op.buildFromEmpty(rewriter);
    if (!value)
      return failure();
    rewriter.replaceOp(op, value);
    return success();
  }
};
} // namespace

void fact::populateEmptyTensorPatterns(RewritePatternSet &patterns) {
  patterns.add<ReplaceEmptyResult, ReplaceFromEmpty>(patterns.getContext());
}
