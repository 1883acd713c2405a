//===- RowFolders.cpp - Folders and canonicalization of ops on rows -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds are exact, but for sums and means, which may be reassociated.
//
//===----------------------------------------------------------------------===//

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/RowDims.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fact;

SmallVector<int64_t>
fact::findRowDims(Value value,
                  llvm::function_ref<bool(ArrayRef<int64_t>)> accepts) {
  constexpr size_t farthest = 64;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  // Values, and which dimension of `value` each of theirs is.
  SmallVector<std::pair<Value, SmallVector<int64_t>>> reached{
      {value, llvm::to_vector(llvm::seq<int64_t>(0, shape.size()))}};
  llvm::DenseSet<Value> seen{value};
  auto reach = [&](Value operand, SmallVector<int64_t> places) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() == int64_t(shape.size()) && seen.insert(operand).second)
      reached.emplace_back(operand, std::move(places));
  };
  for (size_t i = 0; i < reached.size() && i < farthest; ++i) {
    auto [at, places] = reached[i];
    Operation *op = at.getDefiningOp();
    if (isa_and_nonnull<PointwiseOpInterface>(op))
      for (Value operand : op->getOperands())
        reach(operand, places);
    if (auto permute = dyn_cast_or_null<PermuteOp>(op)) {
      SmallVector<int64_t> before(places.size());
      for (auto [to, from] : llvm::enumerate(permute.getDims()))
        before[from] = places[to];
      reach(permute.getOperand(), before);
    }
    if (!isa_and_nonnull<SoftmaxOp, NormOp, ReduceOp>(op))
      continue;
    // The rows are those of all elements.
    auto input = cast<RankedTensorType>(op->getOperand(0).getType());
    bool isAll = input.getRank() == int64_t(places.size());
    for (size_t dim = 0; isAll && dim < places.size(); ++dim)
      isAll = input.getDimSize(dim) == shape[places[dim]];
    if (!isAll)
      continue;
    SmallVector<int64_t> dims;
    for (int64_t dim : cast<RowOpInterface>(op).getRowDims())
      dims.push_back(places[dim]);
    llvm::sort(dims);
    if (accepts(dims))
      return dims;
  }
  return {};
}

OpFoldResult ReduceOp::fold(FoldAdaptor) {
  bool keeps = getOperand().getType() == getType();
  return keeps && getDims().empty() ? OpFoldResult(getOperand())
                                    : OpFoldResult();
}

/// Builds a rank-0 constant.
static Value makeNumber(OpBuilder &builder, Location loc, int64_t number,
                        Type element) {
  Attribute value;
  if (isa<FloatType>(element))
    value = builder.getFloatAttr(element, number);
  else
    value = builder.getIntegerAttr(element, number);
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value));
}

namespace {
/// Removes reduced dimensions of size 1. The sum of one element is that element
/// plus 0.
struct SkipUnitDims : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    ReduceKind kind = op.getKind();
    RankedTensorType operand = op.getOperand().getType();
    if (kind == ReduceKind::argmax || kind == ReduceKind::argmin)
      return failure();
    SmallVector<int64_t> left;
    for (int64_t dim : op.getDims())
      if (operand.getDimSize(dim) != 1)
        left.push_back(dim);
    if (left.size() == op.getDims().size())
      return failure();
    if (!left.empty()) {
      if (!op.getKeep())
        return failure();
      rewriter.modifyOpInPlace(op, [&] { op.setDims(left); });
      return success();
    }
    Value value = rewriter.createOrFold<ReshapeOp>(op.getLoc(), op.getType(),
                                                   op.getOperand());
    auto element = dyn_cast<FloatType>(operand.getElementType());
    if (!element || (kind != ReduceKind::sum && kind != ReduceKind::mean)) {
      rewriter.replaceOp(op, value);
      return success();
    }
    Value zero = makeNumber(rewriter, op.getLoc(), 0, element);
    rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), value, zero);
    return success();
  }
};

/// A reduction of repeated elements reads them once: their maximum, minimum and
/// mean are the element, and their sum is a multiple of it. Repeated rows have
/// one reduction, which is repeated.
struct ReduceOfExpand : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isMultiple(ReduceKind kind, Type element) {
    return kind == ReduceKind::sum && !element.isInteger(1);
  }

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto expand = op.getOperand().getDefiningOp<ExpandOp>();
    if (!expand || expand.getType().getNumElements() <=
                       expand.getOperand().getType().getNumElements())
      return failure();
    ReduceKind kind = op.getKind();
    Type element = op.getOperand().getType().getElementType();
    ArrayRef<int64_t> from = expand.getOperand().getType().getShape();
    SmallVector<int64_t> shape(expand.getType().getShape());
    int64_t count = 1, added = shape.size() - from.size();
    for (auto [dim, size] : llvm::enumerate(shape)) {
      bool isRepeated = int64_t(dim) < added || from[dim - added] == 1;
      if (isRepeated && llvm::is_contained(op.getDims(), dim))
        count *= size;
      if (isRepeated)
        size = 1;
    }
    if (count > 1 && !isMultiple(kind, element) && kind != ReduceKind::mean &&
        kind != ReduceKind::max && kind != ReduceKind::min)
      return failure();
    Location loc = op.getLoc();
    Value once = rewriter.createOrFold<ExpandOp>(
        loc, expand.getType().clone(shape), expand.getOperand());
    Value value =
        ReduceOp::create(rewriter, loc, kind, once, op.getDims(), op.getKeep());
    if (count > 1 && isMultiple(kind, element)) {
      // A 16-bit float does not have every count.
      bool isNarrow =
          isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
      Type type = isNarrow ? Type(rewriter.getF32Type()) : element;
      value = MulOp::create(rewriter, loc, value,
                            makeNumber(rewriter, loc, count, type));
    }
    rewriter.replaceOp(
        op, rewriter.createOrFold<ExpandOp>(loc, op.getType(), value));
    return success();
  }
};

/// A reduction of a reduction of the same kind is one, if it is over adjacent
/// dimensions: others would have to be permuted first. Where a kernel has the
/// rows of the inner one at hand, both stay.
struct MergeReductions : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ReduceOp>();
    ReduceKind kind = op.getKind();
    if (!inner || inner.getKind() != kind || !inner->hasOneUse() ||
        kind == ReduceKind::argmax || kind == ReduceKind::argmin)
      return failure();
    ArrayRef<int64_t> shape = inner.getOperand().getType().getShape();
    int64_t rank = shape.size();
    SmallVector<int64_t> dims(inner.getDims());
    if (!findRowDims(inner.getOperand(), [&](ArrayRef<int64_t> rows) {
           return rows == ArrayRef(dims);
         }).empty())
      return failure();
    // The dimensions of the inner operand that the outer operand has.
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (inner.getKeep() || !llvm::is_contained(inner.getDims(), dim))
        kept.push_back(dim);
    for (int64_t dim : op.getDims())
      if (!llvm::is_contained(dims, kept[dim]))
        dims.push_back(kept[dim]);
    if (dims.empty())
      return failure();
    llvm::sort(dims);
    for (int64_t dim = dims.front(); dim < dims.back(); ++dim)
      if (shape[dim] != 1 && !llvm::is_contained(dims, dim))
        return failure();
    Location loc = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    Value value = ReduceOp::create(rewriter, loc, kind, inner.getOperand(),
                                   dims, inner.getKeep() && op.getKeep());
    rewriter.replaceOp(
        op, rewriter.createOrFold<ReshapeOp>(loc, op.getType(), value));
    return success();
  }
};
} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<SkipUnitDims, ReduceOfExpand, MergeReductions>(context);
}

OpFoldResult ScanOp::fold(FoldAdaptor) {
  return getRowLength() == 1 ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult ArgsortOp::fold(FoldAdaptor) {
  if (getRowLength() != 1 || !getType().getNumElements())
    return {};
  return DenseElementsAttr::get(getType(), int64_t(0));
}

namespace {
/// The first place in descending order is that of the largest element. In
/// ascending order a NaN is last, but argmin finds it first.
struct FindExtreme : OpRewritePattern<ArgsortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgsortOp op,
                                PatternRewriter &rewriter) const override {
    bool isFloat = isa<FloatType>(op.getOperand().getType().getElementType());
    if (op.getType().getDimSize(op.getDim()) != 1 || op.getRowLength() == 1 ||
        (isFloat && !op.getDescending()))
      return failure();
    ReduceKind kind =
        op.getDescending() ? ReduceKind::argmax : ReduceKind::argmin;
    rewriter.replaceOpWithNewOp<ReduceOp>(op, kind, op.getOperand(),
                                          op.getRowDims(), /*keep=*/true);
    return success();
  }
};
} // namespace

void ArgsortOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<FindExtreme>(context);
}
