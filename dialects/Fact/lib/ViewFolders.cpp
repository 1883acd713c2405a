//===- ViewFolders.cpp - Folders and canonicalization of views ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fact;

/// A view of a splat is a splat of the view's type.
static OpFoldResult foldSplatView(Attribute operand, RankedTensorType type) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
  return dense && dense.isSplat() ? OpFoldResult(dense.resizeSplat(type))
                                  : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (auto constant = dyn_cast_or_null<DenseElementsAttr>(adaptor.getOperand()))
    return constant.reshape(getType());
  // reshape(reshape(x)) is one reshape.
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  if (llvm::equal(getDims(), llvm::seq<int64_t>(0, getType().getRank())))
    return getOperand();
  return foldSplatView(adaptor.getOperand(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  return foldSplatView(adaptor.getOperand(), getType());
}

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  // expand(expand(x)) is one broadcast.
  if (auto inner = getOperand().getDefiningOp<ExpandOp>()) {
    setOperand(inner.getOperand());
    return getResult();
  }
  return {};
}

OpFoldResult WindowsOp::fold(FoldAdaptor adaptor) {
  return foldSplatView(adaptor.getOperand(), getType());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? OpFoldResult(getInputs().front())
                                 : OpFoldResult();
}

namespace {
/// permute(permute(x)) is one permute. A permute that moves only dimensions of
/// size 1 is a reshape.
struct SimplifyPermute : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op,
                                PatternRewriter &rewriter) const override {
    if (auto inner = op.getOperand().getDefiningOp<PermuteOp>()) {
      SmallVector<int64_t> dims;
      for (int64_t dim : op.getDims())
        dims.push_back(inner.getDims()[dim]);
      rewriter.replaceOpWithNewOp<PermuteOp>(op, inner.getOperand(), dims);
      return success();
    }
    ArrayRef<int64_t> shape = op.getOperand().getType().getShape();
    SmallVector<int64_t> moved;
    for (int64_t dim : op.getDims())
      if (shape[dim] != 1)
        moved.push_back(dim);
    if (!llvm::is_sorted(moved))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
    return success();
  }
};

/// slice(slice(x)) along one dimension is one slice. A slice within one operand
/// of a concatenation is a slice of that operand; one of several whole operands
/// is their concatenation, as where a loop writes element after element.
struct SimplifySlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto replace = [&](Value operand, int64_t start, int64_t step) {
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), operand,
                                           op.getDim(), start, step);
      return success();
    };
    int64_t dim = op.getDim(), start = op.getStart(), step = op.getStep();
    if (auto inner = op.getOperand().getDefiningOp<SliceOp>();
        inner && inner.getDim() == op.getDim())
      return replace(inner.getOperand(),
                     inner.getStart() + start * inner.getStep(),
                     step * inner.getStep());
    auto concat = op.getOperand().getDefiningOp<ConcatOp>();
    int64_t count = op.getType().getDimSize(dim);
    if (!concat || concat.getDim() != op.getDim() || !count)
      return failure();
    int64_t last = start + (count - 1) * step, covered = 0;
    SmallVector<Value> whole;
    for (Value input : concat.getInputs()) {
      int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
      if (start >= 0 && last < size)
        return replace(input, start, step);
      if (start <= 0 && last >= size - 1) {
        whole.push_back(input);
        covered += size;
      }
      start -= size;
      last -= size;
    }
    if (step != 1 || covered != count || !concat->hasOneUse())
      return failure();
    rewriter.replaceOpWithNewOp<ConcatOp>(op, whole, dim);
    return success();
  }
};

/// A broadcast that only adds dimensions of size 1 is a reshape. A broadcast of
/// a reshape that only adds leading dimensions of size 1 reads the operand of
/// the reshape.
struct SimplifyExpand : OpRewritePattern<ExpandOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ExpandOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType from = op.getOperand().getType();
    if (from.getNumElements() == op.getType().getNumElements()) {
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getOperand());
      return success();
    }
    auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
    if (!reshape)
      return failure();
    ArrayRef<int64_t> inner = reshape.getOperand().getType().getShape();
    ArrayRef<int64_t> outer = reshape.getType().getShape();
    if (inner.size() >= outer.size() ||
        outer.take_back(inner.size()) != inner ||
        !llvm::all_of(outer.drop_back(inner.size()),
                      [](int64_t size) { return size == 1; }))
      return failure();
    rewriter.replaceOpWithNewOp<ExpandOp>(op, op.getType(),
                                          reshape.getOperand());
    return success();
  }
};

/// Splices nested concatenations, drops empty operands, and merges adjacent
/// slices of one tensor.
struct SimplifyConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    int64_t dim = op.getDim();
    auto sizeOf = [&](Value value) {
      return cast<RankedTensorType>(value.getType()).getDimSize(dim);
    };
    SmallVector<Value> inputs;
    bool changed = false;
    for (Value input : op.getInputs()) {
      auto concat = input.getDefiningOp<ConcatOp>();
      if (concat && concat.getDim() == op.getDim()) {
        llvm::append_range(inputs, concat.getInputs());
        changed = true;
      } else if (sizeOf(input) == 0 && op.getInputs().size() > 1) {
        changed = true;
      } else {
        inputs.push_back(input);
      }
    }
    if (inputs.empty())
      inputs.push_back(op.getInputs().front());
    SmallVector<Value> merged;
    for (Value input : inputs) {
      auto next = input.getDefiningOp<SliceOp>();
      auto previous =
          merged.empty() ? SliceOp() : merged.back().getDefiningOp<SliceOp>();
      if (!next || !previous || !follows(previous, next, dim)) {
        merged.push_back(input);
        continue;
      }
      SmallVector<int64_t> shape(next.getType().getShape());
      shape[dim] += sizeOf(previous);
      merged.back() = rewriter.createOrFold<SliceOp>(
          rewriter.getFusedLoc({previous.getLoc(), next.getLoc()}),
          next.getType().clone(ArrayRef<int64_t>(shape)), next.getOperand(),
          next.getDim(), previous.getStart(), next.getStep());
      changed = true;
    }
    if (!changed)
      return failure();
    if (merged.size() == 1)
      rewriter.replaceOp(op, merged.front());
    else
      rewriter.replaceOpWithNewOp<ConcatOp>(op, merged, dim);
    return success();
  }

  static bool follows(SliceOp previous, SliceOp next, int64_t dim) {
    return previous.getOperand() == next.getOperand() &&
           previous.getDim() == next.getDim() &&
           static_cast<int64_t>(next.getDim()) == dim &&
           previous.getStep() == next.getStep() &&
           next.getStart() ==
               previous.getStart() +
                   previous.getType().getDimSize(dim) * previous.getStep();
  }
};

/// Whether `from` and `to` differ in their leading dimensions only: the last
/// `kept` ones are equal.
static bool mergesLeading(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                          size_t kept) {
  return from.size() > kept && to.size() > kept &&
         from.take_back(kept) == to.take_back(kept);
}

/// A product of tensors whose leading dimensions were merged for it, and are
/// split again in its result, is the product of the tensors themselves.
struct KeepLeadingDims : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto matmul = op.getOperand().getDefiningOp<MatmulOp>();
    if (!matmul || !matmul->hasOneUse())
      return failure();
    auto lhs = matmul.getLhs().getDefiningOp<ReshapeOp>();
    if (!lhs)
      return failure();
    ArrayRef<int64_t> result = op.getType().getShape();
    Value a = lhs.getOperand(), b = matmul.getRhs();
    ArrayRef<int64_t> shape = lhs.getOperand().getType().getShape();
    if (matmul.getType().getRank() == 2 && !matmul.getTransposeA()) {
      // [batch..., rows, K] as [rows, K], times a matrix.
      if (!mergesLeading(shape, lhs.getType().getShape(), 1) ||
          result.size() != shape.size() ||
          result.drop_back() != shape.drop_back() ||
          result.back() != matmul.getN())
        return failure();
    } else {
      // [batch..., rows, K] as [batch, rows, K], on both sides.
      auto rhs = b.getDefiningOp<ReshapeOp>();
      if (!rhs || !mergesLeading(shape, lhs.getType().getShape(), 2) ||
          !mergesLeading(rhs.getOperand().getType().getShape(),
                         rhs.getType().getShape(), 2) ||
          lhs.getType().getShape().drop_back(2) !=
              rhs.getType().getShape().drop_back(2) ||
          shape.drop_back(2) !=
              rhs.getOperand().getType().getShape().drop_back(2) ||
          result.size() != shape.size() ||
          result.drop_back(2) != shape.drop_back(2) ||
          result.take_back(2) != matmul.getType().getShape().take_back(2))
        return failure();
      b = rhs.getOperand();
    }
    Location loc = rewriter.getFusedLoc({matmul.getLoc(), op.getLoc()});
    rewriter.replaceOp(
        op, MatmulOp::create(rewriter, loc, a, b, matmul.getTransposeA(),
                             matmul.getTransposeB(), matmul.getTf32()));
    return success();
  }
};
} // namespace

namespace {
/// Windows that do not overlap are blocks: a reshape and a permute. Those that
/// are reduced have a kernel as they are.
struct SplitIntoBlocks : OpRewritePattern<WindowsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowsOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::any_of(op->getUsers(), [](Operation *user) {
          return isa<ReduceOp, PointwiseOpInterface>(user);
        }))
      return failure();
    int64_t dim = op.getDim(), count = op.getKernel().size();
    Value value = op.getOperand();
    SmallVector<int64_t> shape(op.getOperand().getType().getShape());
    SmallVector<int64_t> split(ArrayRef(shape).take_front(dim));
    for (int64_t i = 0; i < count; ++i) {
      int64_t kernel = op.getKernel()[i], stride = op.getStrides()[i];
      if (kernel > 1 && (kernel != stride || op.getDilations()[i] != 1))
        return failure();
      split.append({op.getType().getDimSize(dim + i), kernel});
    }
    llvm::append_range(split, ArrayRef(shape).drop_front(dim + count));
    for (int64_t i = 0; i < count; ++i) {
      int64_t kernel = op.getKernel()[i];
      shape[dim + i] = split[dim + 2 * i] * kernel;
      int64_t step = kernel == 1 ? op.getStrides()[i] : 1;
      value =
          rewriter.createOrFold<SliceOp>(op.getLoc(), op.getType().clone(shape),
                                         value, dim + i, /*start=*/0, step);
    }
    value = rewriter.createOrFold<ReshapeOp>(op.getLoc(),
                                             op.getType().clone(split), value);
    // [a..., (o, k)..., b...] to [a..., o..., k..., b...].
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
    for (int64_t i = 0; i < count; ++i) {
      order[dim + i] = dim + 2 * i;
      order[dim + count + i] = dim + 2 * i + 1;
    }
    rewriter.replaceOpWithNewOp<PermuteOp>(op, value, order);
    return success();
  }
};
} // namespace

void WindowsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<SplitIntoBlocks>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<KeepLeadingDims>(context);
}

void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<SimplifyPermute>(context);
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<SimplifySlice>(context);
}

void ExpandOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<SimplifyExpand>(context);
}

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<SimplifyConcat>(context);
}
