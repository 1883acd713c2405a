//===- MovePermutes.cpp - Keep channels last between convolutions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Analysis/WindowedView.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fact {
#define GEN_PASS_DEF_MOVEPERMUTES
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// [0, r - 1, 1, ..., r - 2]: channels from the last dimension to the second.
bool bringsChannelsFirst(ArrayRef<int64_t> dims) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  if (order.size() < 3)
    return false;
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return dims == ArrayRef(order);
}

/// The permute that defines `value`, if it brings channels first.
PermuteOp getPermute(Value value) {
  auto permute = value.getDefiningOp<PermuteOp>();
  return permute && bringsChannelsFirst(permute.getDims()) ? permute
                                                           : PermuteOp();
}

/// pointwise(permute(x), y) becomes permute(pointwise(x, permute(y))): what was
/// one kernel with two orders still is, and x's product can have it as its
/// epilogue.
struct MovePastPointwise : OpInterfaceRewritePattern<PointwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(PointwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    PermuteOp found;
    for (Value operand : op->getOperands())
      if (PermuteOp permute = getPermute(operand);
          permute && permute.getType().getShape() == type.getShape())
        found = permute;
    if (!found)
      return failure();
    ArrayRef<int64_t> dims = found.getDims();
    // With one dimension beside the channels, the permute of another operand
    // would be one to move, too, and so on.
    bool isOwnInverse = dims == ArrayRef(invertPermutationVector(dims));
    if (isOwnInverse && !llvm::all_of(op->getOperands(), [&](Value operand) {
          return typeOf(operand).getNumElements() != type.getNumElements() ||
                 getPermute(operand);
        }))
      return failure();
    movePermute(rewriter, op, dims);
    return success();
  }
};

struct MovePastSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp permute = getPermute(op.getOperand());
    if (!permute)
      return failure();
    ArrayRef<int64_t> dims = permute.getDims();
    int64_t dim = dims[op.getDim()];
    SmallVector<int64_t> shape(shapeOf(permute.getOperand()));
    shape[dim] = op.getType().getDimSize(op.getDim());
    Value slice =
        SliceOp::create(rewriter, op.getLoc(), op.getType().clone(shape),
                        permute.getOperand(), dim, op.getStart(), op.getStep());
    rewriter.replaceOpWithNewOp<PermuteOp>(op, slice, dims);
    return success();
  }
};

/// Windows of all dimensions behind the channels.
struct MovePastWindows : OpRewritePattern<WindowsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WindowsOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp permute = getPermute(op.getOperand());
    int64_t count = op.getKernel().size();
    if (!permute || op.getDim() != 2 ||
        permute.getType().getRank() != count + 2)
      return failure();
    ArrayRef<int64_t> from = op.getType().getShape();
    SmallVector<int64_t> shape(from);
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    Value windows = WindowsOp::create(
        rewriter, op.getLoc(), op.getType().clone(shape), permute.getOperand(),
        /*dim=*/1, op.getKernel(), op.getStrides(), op.getDilations());
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, from.size()));
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
    rewriter.replaceOpWithNewOp<PermuteOp>(op, windows, order);
    return success();
  }
};

/// concat(permute(x), permute(y), z) becomes permute(concat(x, y, permute(z)))
/// if most elements are permuted: each input is copied into the result once, in
/// whichever order it has. Splats, such as zeros, have every order. What
/// windows are taken of stays as it is: with one dimension beside the channels,
/// either order is a permute that brings channels first.
struct MovePastConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp found;
    int64_t permuted = 0, others = 0;
    for (Value input : op.getInputs()) {
      if (PermuteOp permute = getPermute(input)) {
        found = permute;
        permuted += permute.getType().getNumElements();
      } else if (!isSplat(input)) {
        others += typeOf(input).getNumElements();
      }
    }
    if (!found || permuted <= others || feedsWindows(op))
      return failure();
    ArrayRef<int64_t> dims = found.getDims();
    SmallVector<Value> inputs;
    for (Value input : op.getInputs()) {
      PermuteOp permute = getPermute(input);
      inputs.push_back(permute ? permute.getOperand()
                               : permuteBack(rewriter, input, dims));
    }
    Value concat =
        ConcatOp::create(rewriter, op.getLoc(), inputs, dims[op.getDim()]);
    rewriter.replaceOpWithNewOp<PermuteOp>(op, concat, dims);
    return success();
  }

  static bool isSplat(Value value) {
    DenseElementsAttr dense;
    return matchPattern(value, m_Constant(&dense)) && dense.isSplat();
  }
};

/// A gather of as many dimensions: rows of an image, repeated or dropped.
struct MovePastGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp permute = getPermute(op.getSource());
    if (!permute || shapeOf(op.getIndices()).size() != 1)
      return failure();
    ArrayRef<int64_t> dims = permute.getDims();
    Value gather = GatherOp::create(rewriter, op.getLoc(), permute.getOperand(),
                                    op.getIndices(), dims[op.getDim()]);
    rewriter.replaceOpWithNewOp<PermuteOp>(op, gather, dims);
    return success();
  }
};

/// A gather of pixels, counted row by row: a resized image.
struct MovePastResize : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    auto pixels = op.getSource().getDefiningOp<ReshapeOp>();
    PermuteOp permute = pixels ? getPermute(pixels.getOperand()) : PermuteOp();
    if (!permute || op.getDim() != 2 || pixels.getType().getRank() != 3 ||
        shapeOf(pixels).take_front(2) != shapeOf(permute).take_front(2))
      return failure();
    ArrayRef<int64_t> shape = shapeOf(pixels);
    Value source = ReshapeOp::create(
        rewriter, pixels.getLoc(),
        pixels.getType().clone({shape[0], shape[2], shape[1]}),
        permute.getOperand());
    Value gather = GatherOp::create(rewriter, op.getLoc(), source,
                                    op.getIndices(), /*dim=*/1);
    auto order =
        llvm::to_vector(llvm::seq<int64_t>(0, typeOf(gather).getRank()));
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
    rewriter.replaceOpWithNewOp<PermuteOp>(op, gather, order);
    return success();
  }
};

struct MovePastSoftmax : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp permute = getPermute(op.getOperand());
    if (!permute)
      return failure();
    ArrayRef<int64_t> dims = permute.getDims();
    Value softmax = SoftmaxOp::create(rewriter, op.getLoc(),
                                      permute.getOperand(), dims[op.getDim()]);
    rewriter.replaceOpWithNewOp<PermuteOp>(op, softmax, dims);
    return success();
  }
};

/// The kept dimensions are permuted behind the reduction. The index of an
/// element counts in the order of the reduced dimensions, which has to stay.
struct MovePastReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp permute = getPermute(op.getOperand());
    if (!permute)
      return failure();
    ArrayRef<int64_t> dims = permute.getDims();
    SmallVector<int64_t> reduced;
    for (int64_t dim : op.getDims())
      reduced.push_back(dims[dim]);
    bool locates = op.getArithmetic().locates;
    if (locates && !llvm::is_sorted(reduced))
      return failure();
    llvm::sort(reduced);
    Value result =
        ReduceOp::create(rewriter, op.getLoc(), op.getKind(),
                         permute.getOperand(), reduced, op.getKeep());
    SmallVector<int64_t> order;
    for (int64_t dim : dims) {
      if (op.getKeep())
        order.push_back(dim);
      else if (!llvm::is_contained(reduced, dim))
        order.push_back(dim - llvm::count_if(reduced, [&](int64_t before) {
                          return before < dim;
                        }));
    }
    rewriter.replaceOp(op, permuteTo(rewriter, op.getLoc(), result, order));
    return success();
  }
};

/// reshape(permute(x)) that splits dimensions becomes permute(reshape(x))
/// before another permute, with which it is one: the begin of a pixel shuffle.
struct MovePastSplit : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    PermuteOp permute = getPermute(op.getOperand());
    if (!permute || op.getType().getRank() <= permute.getType().getRank() ||
        !llvm::all_of(op->getUsers(), llvm::IsaPred<PermuteOp>))
      return failure();
    auto groups =
        getReassociationIndicesForReshape(permute.getType(), op.getType());
    if (!groups)
      return failure();
    // The parts of each dimension, in the order of memory.
    SmallVector<int64_t> shape, order;
    for (int64_t dim : invertPermutationVector(permute.getDims()))
      for (int64_t part : (*groups)[dim]) {
        shape.push_back(op.getType().getDimSize(part));
        order.push_back(part);
      }
    Value split = ReshapeOp::create(
        rewriter, op.getLoc(), op.getType().clone(shape), permute.getOperand());
    rewriter.replaceOpWithNewOp<PermuteOp>(op, split,
                                           invertPermutationVector(order));
    return success();
  }
};

/// The end of a pixel shuffle of [n, h..., parts of channels], as the join of
/// (h, part)... behind the remaining channel: channels stay last until after
/// it.
struct MovePastShuffle : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto permute = op.getOperand().getDefiningOp<PermuteOp>();
    int64_t rank = op.getType().getRank();
    if (!permute || rank < 3 || !splitsChannels(permute.getOperand(), rank))
      return failure();
    auto groups =
        getReassociationIndicesForReshape(permute.getType(), op.getType());
    SmallVector<int64_t> dims(permute.getDims());
    if (!groups || (*groups)[0].size() != 1 || (*groups)[1].size() != 1 ||
        dims[0] != 0)
      return failure();
    for (int64_t i = 2; i < rank; ++i)
      if ((*groups)[i].size() > 2 || dims[(*groups)[i].front()] != i - 1)
        return failure();
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
    SmallVector<int64_t> shape(op.getType().getShape());
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
    Value last = permuteTo(rewriter, op.getLoc(), permute.getOperand(), dims);
    Value joined = ReshapeOp::create(rewriter, op.getLoc(),
                                     op.getType().clone(shape), last);
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::rotate(order.begin() + 1, order.end() - 1, order.end());
    rewriter.replaceOpWithNewOp<PermuteOp>(op, joined, order);
    return success();
  }

  /// Whether a value is a tensor of this rank with its last dimension split.
  static bool splitsChannels(Value value, int64_t rank) {
    auto split = value.getDefiningOp<ReshapeOp>();
    return split && typeOf(split.getOperand()).getRank() == rank &&
           split.getType().getRank() > rank &&
           shapeOf(split).take_front(rank - 1) ==
               shapeOf(split.getOperand()).drop_back();
  }
};

/// permute(concat(zeros, x)) that brings channels last becomes
/// concat(zeros, permute(x)), so that windows reach into zeros that nobody
/// writes.
struct MoveBeforeZeros : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> inverse = invertPermutationVector(op.getDims());
    Operation *concat = op.getOperand().getDefiningOp();
    if (!bringsChannelsFirst(inverse) || !ZeroPadding::get(concat) ||
        !feedsWindows(op))
      return failure();
    SmallVector<Value> inputs;
    for (Value input : concat->getOperands())
      inputs.push_back(permuteTo(rewriter, op.getLoc(), input, op.getDims()));
    int64_t dim = inverse[cast<ConcatOp>(concat).getDim()];
    rewriter.replaceOpWithNewOp<ConcatOp>(op, inputs, dim);
    return success();
  }
};

struct MovePermutesPass : fact::impl::MovePermutesBase<MovePermutesPass> {
  void runOnOperation() override {
    // Without windows there is no order that a kernel needs.
    WalkResult found =
        getOperation()->walk([](WindowsOp) { return WalkResult::interrupt(); });
    if (!found.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    populateMovePermutesPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateMovePermutesPatterns(RewritePatternSet &patterns) {
  patterns.add<MovePastPointwise, MovePastSlice, MovePastConcat, MovePastGather,
               MovePastResize, MovePastSoftmax, MovePastReduce, MovePastSplit,
               MovePastShuffle, MovePastWindows, MoveBeforeZeros>(
      patterns.getContext());
  PermuteOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
