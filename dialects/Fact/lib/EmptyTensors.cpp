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

/// The mean of no elements is NaN. The verifier rejects maxima and minima of no
/// elements.
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

/// A matrix product over K = 0 is zero.
Value MatmulOp::buildFromEmpty(OpBuilder &builder) {
  return splat(builder, getLoc(), getType(), 0);
}

/// A gather from an empty dimension gives NaN: every index is out of range.
Value GatherOp::buildFromEmpty(OpBuilder &builder) {
  return splat(builder, getLoc(), getType(), notANumber);
}

/// With nothing to write, the result is the source.
Value ScatterOp::buildFromEmpty(OpBuilder &) { return getSource(); }

/// Without keys, a query attends to nothing and its result is 0. With a head
/// size of 0, all scores are 0, as they are for keys with one zero element.
Value AttentionOp::buildFromEmpty(OpBuilder &builder) {
  if (isEmpty(getValue().getType()))
    return splat(builder, getLoc(), getType(), 0);
  auto zeros = [&](RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = 1;
    return splat(builder, getLoc(), type.clone(ArrayRef<int64_t>(shape)), 0);
  };
  return AttentionOp::create(builder, getLoc(), zeros(getQuery().getType()),
                             zeros(getKey().getType()), getValue(), getMask(),
                             getScaleAttr(), getCausalAttr(), getTf32Attr());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

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
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
    return success();
  }
};

/// Replaces an op that reads an empty tensor but whose result has elements.
struct ReplaceFromEmpty : OpInterfaceRewritePattern<TensorOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(TensorOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (isEmpty(type) || llvm::none_of(op->getOperandTypes(), isEmpty))
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
