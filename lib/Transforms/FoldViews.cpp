//===- FoldViews.cpp - Fold views into their users ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Dialect/Fact/RowPlaces.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-fold-views"

namespace fact {
#define GEN_PASS_DEF_FOLDVIEWS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// matmul(permute(x)) becomes matmul(x) with a transpose flag, if the
/// permutation moves the innermost dimension of x to the rows. The remaining
/// permutation has the last two dimensions swapped back. A permute that windows
/// are taken of is stored in any case, and is read as it is.
struct FoldTransposeIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    auto fold = [&](OpOperand &operand, bool transposed,
                    function_ref<void(bool)> setTransposed) {
      auto permute = operand.get().getDefiningOp<PermuteOp>();
      if (!permute || feedsWindows(permute))
        return;
      SmallVector<int64_t> dims(permute.getDims());
      size_t rank = dims.size();
      if (dims[rank - 2] != static_cast<int64_t>(rank) - 1)
        return;
      std::swap(dims[rank - 2], dims[rank - 1]);
      Value swapped =
          permuteTo(rewriter, permute.getLoc(), permute.getOperand(), dims);
      rewriter.modifyOpInPlace(op, [&] {
        operand.set(swapped);
        setTransposed(!transposed);
      });
      changed = true;
    };
    fold(op.getLhsMutable(), op.getTransposeA(),
         [&](bool set) { op.setTransposeA(set); });
    fold(op.getRhsMutable(), op.getTransposeB(),
         [&](bool set) { op.setTransposeB(set); });
    return success(changed);
  }
};

/// The rows of a product of images with channels first are pixels, which lie
/// together: [n, h, w, c], a permute of [n, c, h, w], becomes [n, h * w, c], so
/// that it is a matrix for each image.
struct MergeRowsOfMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto permute = op.getLhs().getDefiningOp<PermuteOp>();
    if (!permute || op.getTransposeA() || feedsWindows(permute) ||
        shapeOf(op.getRhs()).size() != 2)
      return failure();
    ArrayRef<int64_t> dims = permute.getDims();
    int64_t last = dims.size() - 2, first = last;
    while (first > 0 && dims[first - 1] + 1 == dims[first])
      --first;
    // Contiguous terms need no matrix for each image.
    if (first == last || dims.back() + 1 == int64_t(dims.size()))
      return failure();
    ArrayRef<int64_t> source = shapeOf(permute.getOperand());
    SmallVector<int64_t> shape(source.take_front(dims[first]));
    shape.push_back(
        llvm::product_of(source.slice(dims[first], last - first + 1)));
    llvm::append_range(shape, source.drop_front(dims[last] + 1));
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < int64_t(dims.size()); ++i)
      if (i <= first || i > last)
        order.push_back(dims[i] > dims[first] ? dims[i] - (last - first)
                                              : dims[i]);
    Location loc = op.getLoc();
    Value merged = ReshapeOp::create(
        rewriter, loc, permute.getType().clone(shape), permute.getOperand());
    Value product = MatmulOp::create(
        rewriter, loc, permuteTo(rewriter, loc, merged, order), op.getRhs(),
        /*transpose_a=*/false, op.getTransposeB(), op.getTf32());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), product);
    return success();
  }
};

/// The product whose results an op transposes, if nobody else reads them and
/// its factors have the same batches: a matrix that is shared by all batches
/// stays on its side.
MatmulOp findTransposedMatmul(PermuteOp op) {
  auto matmul = op.getOperand().getDefiningOp<MatmulOp>();
  if (!matmul || !matmul->hasOneUse() || matmul.getType().getRank() < 3 ||
      shapeOf(matmul.getLhs()).drop_back(2) !=
          shapeOf(matmul.getRhs()).drop_back(2))
    return {};
  SmallVector<int64_t> dims(op.getDims());
  size_t rank = dims.size();
  std::swap(dims[rank - 2], dims[rank - 1]);
  return llvm::equal(dims, llvm::seq<int64_t>(0, rank)) ? matmul : MatmulOp();
}

/// permute(matmul(a, b)) that swaps the last two dimensions is matmul(b^T,
/// a^T).
struct FoldTransposeOfMatmul : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PermuteOp op,
                                PatternRewriter &rewriter) const override {
    MatmulOp matmul = findTransposedMatmul(op);
    if (!matmul)
      return failure();
    Location loc = rewriter.getFusedLoc({matmul.getLoc(), op.getLoc()});
    rewriter.replaceOp(
        op, MatmulOp::create(rewriter, loc, matmul.getRhs(), matmul.getLhs(),
                             !matmul.getTransposeB(), !matmul.getTransposeA(),
                             matmul.getTf32()));
    return success();
  }
};

/// Between two products, a permute moves past functions and biases: the first
/// product has them as its epilogue, and the second reads its factor by
/// strides. Scales stay, which attention looks for. A transpose belongs to the
/// first product, so that the second reads contiguous rows.
struct MovePermuteToMatmul : OpInterfaceRewritePattern<PointwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(PointwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    // A product of wider numbers is told by the casts before it.
    if (isa<CastOp>(op))
      return failure();
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    PermuteOp found;
    for (Value operand : op->getOperands()) {
      auto permute = operand.getDefiningOp<PermuteOp>();
      if (permute && permute->hasOneUse() && !found &&
          shapeOf(operand) == shape)
        found = permute;
      else if (!isa<AddOp>(op) || !isBias(operand, shape))
        return failure();
    }
    if (!found || findTransposedMatmul(found) ||
        !comesFromMatmul(found.getOperand()) ||
        !leadsToMatmul(op->getResult(0)))
      return failure();
    SmallVector<int64_t> dims(found.getDims());
    movePermute(rewriter, op, dims);
    return success();
  }

  static bool isBias(Value value, ArrayRef<int64_t> shape) {
    int64_t elements = typeOf(value).getNumElements();
    return elements > 1 && elements < llvm::product_of(shape) &&
           isFunctionOfWeights(value);
  }

  /// Through reshapes, and pointwise ops that the permute has moved past.
  static bool comesFromMatmul(Value value) {
    while (value.hasOneUse() && value.getDefiningOp()) {
      Operation *op = value.getDefiningOp();
      if (isa<MatmulOp>(op))
        return true;
      if (!isa<ReshapeOp, PointwiseOpInterface>(op))
        return false;
      value = *llvm::max_element(op->getOperands(), [](Value a, Value b) {
        return typeOf(a).getNumElements() < typeOf(b).getNumElements();
      });
    }
    return false;
  }

  static bool leadsToMatmul(Value value) {
    while (value.hasOneUse()) {
      Operation *user = *value.user_begin();
      if (isa<MatmulOp>(user))
        return true;
      if (!isa<PointwiseOpInterface>(user))
        return false;
      value = user->getResult(0);
    }
    return false;
  }
};

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// The operand of the explicit broadcast, if there is one: a pointwise op can
/// read it directly, because it broadcasts implicitly.
Value skipBroadcast(Value value) {
  if (auto expand = value.getDefiningOp<ExpandOp>())
    return expand.getOperand();
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return {};
  ArrayRef<int64_t> from = shapeOf(reshape.getOperand());
  ArrayRef<int64_t> to = shapeOf(value);
  bool addsLeading =
      from.size() < to.size() && to.take_back(from.size()) == from &&
      llvm::all_of(
          to.drop_back(from.size()), [](int64_t size) { return size == 1; });
  return addsLeading ? Value(reshape.getOperand()) : Value();
}

/// Removes explicit broadcasts of operands of a pointwise op, as long as the
/// other operands span the result.
struct FoldBroadcastIntoPointwise
    : OpInterfaceRewritePattern<PointwiseOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(PointwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    for (OpOperand &operand : op->getOpOperands()) {
      Value narrow = skipBroadcast(operand.get());
      if (!narrow)
        continue;
      SmallVector<ArrayRef<int64_t>> shapes;
      for (OpOperand &other : op->getOpOperands())
        shapes.push_back(shapeOf(&other == &operand ? narrow : other.get()));
      auto broadcast = broadcastShapes(shapes);
      if (!broadcast || ArrayRef<int64_t>(*broadcast) != shape)
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(narrow); });
      return success();
    }
    return failure();
  }
};

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Widens what was gathered instead of all that it is gathered from: the
/// source of a gather is in memory, and would be copied for the wider type.
struct WidenAfterGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    Value source = op.getSource();
    auto reshape = source.getDefiningOp<ReshapeOp>();
    auto cast =
        (reshape ? reshape.getOperand() : source).getDefiningOp<CastOp>();
    if (!cast)
      return failure();
    auto from = dyn_cast<FloatType>(typeOf(cast.getOperand()).getElementType());
    auto to = dyn_cast<FloatType>(typeOf(cast).getElementType());
    if (!from || !to || from.getWidth() >= to.getWidth())
      return failure();
    Value narrow = cast.getOperand();
    if (reshape)
      narrow = reshapeTo(rewriter, reshape.getLoc(), narrow, shapeOf(source));
    auto gathered = GatherOp::create(rewriter, op.getLoc(), narrow,
                                     op.getIndices(), op.getDim());
    setRowSize(gathered, getRowSize(op));
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), gathered);
    return success();
  }
};

struct FoldViewsPass : fact::impl::FoldViewsBase<FoldViewsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFoldViewsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateFoldViewsPatterns(RewritePatternSet &patterns) {
  patterns
      .add<FoldTransposeIntoMatmul, FoldTransposeOfMatmul,
           FoldBroadcastIntoPointwise, MovePermuteToMatmul, WidenAfterGather>(
          patterns.getContext());
  patterns.add<MergeRowsOfMatmul>(patterns.getContext(), /*benefit=*/2);
}
