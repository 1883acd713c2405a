//===- FactFolders.cpp - Folders and canonicalization ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds are exact. x + 0.0 is not folded, since it is 0.0 for x = -0.0, but
// x + -0.0 and x - 0.0 are. A narrowing cast rounds and is only folded if its
// operand is a constant.
//
//===----------------------------------------------------------------------===//

#include "EmptyTensors.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Pointwise
//===----------------------------------------------------------------------===//

/// Whether `attr` is a splat of `wanted`; for 0, the signs must match too.
static bool isSplat(Attribute attr, double wanted) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!dense || !dense.isSplat())
    return false;
  if (auto type = dyn_cast<FloatType>(dense.getElementType())) {
    APFloat value(wanted);
    bool inexact;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &inexact);
    return dense.getSplatValue<APFloat>().bitwiseIsEqual(value);
  }
  return !dense.getElementType().isInteger(1) && !std::signbit(wanted) &&
         dense.getSplatValue<APInt>() == static_cast<uint64_t>(wanted);
}

/// The constant that defines a tensor of equal elements, or null.
static DenseElementsAttr getSplat(Value tensor) {
  auto constant = tensor.getDefiningOp<ConstantOp>();
  auto value = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  return value && value.isSplat() ? value : DenseElementsAttr();
}

/// Folds to `lhs` if `rhs` is the neutral element.
template <typename OpT>
static OpFoldResult foldNeutral(OpT op, Attribute rhs, double neutral) {
  bool keeps = op.getLhs().getType() == op.getType();
  return keeps && isSplat(rhs, neutral) ? OpFoldResult(op.getLhs())
                                        : OpFoldResult();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  bool isFloat = isa<FloatType>(getType().getElementType());
  // x + 0.0 + 0.0 is x + 0.0.
  auto inner = getLhs().getDefiningOp<AddOp>();
  if (inner && inner.getType() == getType() && isSplat(adaptor.getRhs(), 0.0) &&
      isSplat(getSplat(inner.getRhs()), 0.0))
    return inner.getResult();
  return foldNeutral(*this, adaptor.getRhs(), isFloat ? -0.0 : 0.0);
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor.getRhs(), 0.0);
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor.getRhs(), 1.0);
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return foldNeutral(*this, adaptor.getRhs(), 1.0);
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  auto result = [&](Value value) {
    return value.getType() == getType() ? OpFoldResult(value) : OpFoldResult();
  };
  if (getLhs() == getRhs())
    return result(getLhs());
  auto condition = dyn_cast_or_null<DenseElementsAttr>(adaptor.getCondition());
  if (!condition || !condition.isSplat())
    return {};
  return result(condition.getSplatValue<bool>() ? getLhs() : getRhs());
}

/// Whether every value of type `from` can be represented in `to`.
static bool isExact(Type from, Type to) {
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (from == to || from.isInteger(1))
    return true;
  if (fromFloat && toFloat)
    return fromFloat.getWidth() < toFloat.getWidth();
  if (!fromFloat && !toFloat)
    return from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth() &&
           !to.isInteger(1);
  return !fromFloat &&
         from.getIntOrFloatBitWidth() <= toFloat.getFPMantissaWidth();
}

/// cast(cast(x)), where the inner cast is exact: folds to one cast, or to x.
OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<CastOp>();
  if (!inner)
    return {};
  Type from = inner.getOperand().getType().getElementType();
  Type through = inner.getType().getElementType();
  if (!isExact(from, through))
    return {};
  if (inner.getOperand().getType() == getType())
    return inner.getOperand();
  // Casts among floats, or among integers: the single cast rounds once, to the
  // same value.
  if (isa<FloatType>(from) == isa<FloatType>(through) &&
      isa<FloatType>(from) == isa<FloatType>(getType().getElementType()) &&
      !getType().getElementType().isInteger(1)) {
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

namespace {
/// Folds a pointwise op whose operands are splats, by evaluating its scalar
/// definition. A result that would be rounded to 16 bits is not folded, because
/// a kernel would not round it.
struct FoldSplats : OpInterfaceRewritePattern<PointwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  static Type computeType(Type element, bool isDouble) {
    if (!isa<FloatType>(element))
      return element;
    return isDouble ? Float64Type::get(element.getContext())
                    : Type(Float32Type::get(element.getContext()));
  }

  static TypedAttr convert(Attribute number, Type type, bool &exact) {
    if (auto integer = dyn_cast<IntegerAttr>(number))
      return integer;
    auto floating = cast<FloatAttr>(number);
    APFloat value = floating.getValue();
    bool inexact;
    value.convert(cast<FloatType>(type).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &inexact);
    exact = !inexact;
    return FloatAttr::get(type, value);
  }

  /// Evaluates the ops of `block`, whose leaves are constants.
  static Attribute evaluate(Block &block, Value result) {
    DenseMap<Value, Attribute> known;
    for (Operation &op : block) {
      Attribute constant;
      if (matchPattern(&op, m_Constant(&constant))) {
        known[op.getResult(0)] = constant;
        continue;
      }
      SmallVector<Attribute> operands;
      for (Value operand : op.getOperands())
        operands.push_back(known.lookup(operand));
      SmallVector<OpFoldResult> results;
      if (llvm::is_contained(operands, Attribute()) ||
          failed(op.fold(operands, results)) || results.size() != 1)
        return {};
      known[op.getResult(0)] = isa<Attribute>(results[0])
                                   ? cast<Attribute>(results[0])
                                   : known.lookup(cast<Value>(results[0]));
    }
    return known.lookup(result);
  }

  LogicalResult matchAndRewrite(PointwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<DenseElementsAttr> constants;
    bool isDouble = type.getElementType().isF64();
    for (Value operand : op->getOperands()) {
      DenseElementsAttr value = getSplat(operand);
      if (!value)
        return failure();
      isDouble |= value.getElementType().isF64();
      constants.push_back(value);
    }
    if (constants.empty())
      return failure();
    Block block;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointToEnd(&block);
    SmallVector<Value> arguments;
    bool exact = true;
    for (DenseElementsAttr value : constants)
      arguments.push_back(arith::ConstantOp::create(
          builder, op.getLoc(),
          convert(value.getSplatValue<Attribute>(),
                  computeType(value.getElementType(), isDouble), exact)));
    Value scalar = op.buildScalar(builder, op.getLoc(), arguments);
    Attribute number = evaluate(block, scalar);
    if (!number)
      return failure();
    TypedAttr result = convert(number, type.getElementType(), exact);
    if (!exact || result.getType() != type.getElementType())
      return failure();
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, type, DenseElementsAttr::get(type, Attribute(result)));
    return success();
  }
};

/// Rounds a constant to a narrower float, as the cast does.
struct FoldNarrowedSplat : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr value = getSplat(op.getOperand());
    auto to = dyn_cast<FloatType>(op.getType().getElementType());
    if (!value || !to || !isa<FloatType>(value.getElementType()))
      return failure();
    APFloat number = value.getSplatValue<APFloat>();
    bool inexact;
    number.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &inexact);
    rewriter.replaceOpWithNewOp<ConstantOp>(
        op, op.getType(), DenseElementsAttr::get(op.getType(), number));
    return success();
  }
};

/// A gather by a splat names the same slice again and again.
struct FoldGatherBySplat : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr indices = getSplat(op.getIndices());
    RankedTensorType source = op.getSource().getType();
    int64_t dim = op.getDim();
    if (!indices)
      return failure();
    int64_t index = indices.getSplatValue<APInt>().getSExtValue();
    if (index < 0 || index >= source.getDimSize(dim))
      return failure();
    SmallVector<int64_t> shape(source.getShape());
    shape[dim] = 1;
    Value slice =
        SliceOp::create(rewriter, op.getLoc(), source.clone(shape),
                        op.getSource(), dim, index, /*step=*/int64_t(1));
    // One dimension of size 1 for each dimension of the indices.
    shape.erase(shape.begin() + dim);
    shape.insert(shape.begin() + dim, op.getIndices().getType().getRank(), 1);
    Value reshaped =
        ReshapeOp::create(rewriter, op.getLoc(), source.clone(shape), slice);
    rewriter.replaceOpWithNewOp<ExpandOp>(op, op.getType(), reshaped);
    return success();
  }
};

/// A gather by consecutive indices, such as positions in an embedding, is a
/// slice.
struct FoldGatherByRange : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    DenseIntElementsAttr indices;
    RankedTensorType source = op.getSource().getType();
    int64_t dim = op.getDim(),
            count = op.getIndices().getType().getNumElements();
    if (!matchPattern(op.getIndices(), m_Constant(&indices)) || count == 0)
      return failure();
    int64_t first = (*indices.value_begin<APInt>()).getSExtValue();
    if (first < 0 || count > source.getDimSize(dim) - first)
      return failure();
    for (auto [i, index] : llvm::enumerate(indices.getValues<APInt>()))
      if (index.getSExtValue() != first + int64_t(i))
        return failure();
    SmallVector<int64_t> shape(source.getShape());
    shape[dim] = count;
    Value slice =
        SliceOp::create(rewriter, op.getLoc(), source.clone(shape),
                        op.getSource(), dim, first, /*step=*/int64_t(1));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
    return success();
  }
};

/// A gather from a splat only depends on which indices are in range.
struct FoldGatherFromSplat : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr source = getSplat(op.getSource());
    if (!source)
      return failure();
    RankedTensorType indices = op.getIndices().getType();
    Type element = source.getElementType();
    SmallVector<int64_t> shape(indices.getShape());
    shape.append(source.getType().getRank() - 1 - op.getDim(), 1);
    Value places = ReshapeOp::create(rewriter, op.getLoc(),
                                     indices.clone(shape), op.getIndices());
    auto scalar = [&](Attribute value, Type type) -> Value {
      return ConstantOp::create(
          rewriter, op.getLoc(),
          DenseElementsAttr::get(RankedTensorType::get({}, type), value));
    };
    auto compare = [&](Predicate predicate, int64_t bound) -> Value {
      Value limit =
          scalar(rewriter.getIntegerAttr(indices.getElementType(), bound),
                 indices.getElementType());
      return CompareOp::create(rewriter, op.getLoc(),
                               indices.clone(shape, rewriter.getI1Type()),
                               predicate, places, limit);
    };
    Attribute outside = rewriter.getZeroAttr(element);
    if (auto type = dyn_cast<FloatType>(element))
      outside = FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics()));
    Value isFirst = compare(Predicate::ge, 0);
    Value isLast =
        compare(Predicate::lt, source.getType().getDimSize(op.getDim()));
    RankedTensorType type = indices.clone(shape, element);
    Value missing = scalar(outside, element);
    Value inRange = SelectOp::create(
        rewriter, op.getLoc(), type, isLast,
        scalar(source.getSplatValue<Attribute>(), element), missing);
    Value value = SelectOp::create(rewriter, op.getLoc(), type, isFirst,
                                   inRange, missing);
    rewriter.replaceOpWithNewOp<ExpandOp>(op, op.getType(), value);
    return success();
  }
};
} // namespace

void FactDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  patterns.add<FoldSplats, FoldNarrowedSplat, FoldGatherBySplat,
               FoldGatherByRange, FoldGatherFromSplat>(getContext());
  populateEmptyTensorPatterns(patterns);
}
