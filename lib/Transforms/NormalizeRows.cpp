//===- NormalizeRows.cpp - Softmax and reductions over trailing dims ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/RowDims.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "fact-normalize-rows"

namespace fact {
#define GEN_PASS_DEF_NORMALIZEROWS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// A softmax of rows of one element: 1, or NaN where x - x is. It runs here,
/// and not as a canonicalization, so that attention to one key is recognized.
struct SoftmaxOfOne : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRowLength() != 1)
      return failure();
    Value zero = SubOp::create(rewriter, op.getLoc(), op.getType(),
                               op.getOperand(), op.getOperand());
    rewriter.replaceOpWithNewOp<ExpOp>(op, op.getType(), zero);
    return success();
  }
};

struct SoftmaxOverLast : OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    int64_t dim = op.getDim(), last = op.getType().getRank() - 1;
    if (dim == last || op.getRowLength() == 1)
      return failure();
    // The other dimensions stay in order, so that kernels can merge them.
    SmallVector<int64_t> order;
    for (int64_t i = 0; i <= last; ++i)
      if (i != dim)
        order.push_back(i);
    order.push_back(dim);
    Value rows =
        PermuteOp::create(rewriter, op.getLoc(), op.getOperand(), order);
    Value softmax = SoftmaxOp::create(rewriter, op.getLoc(), rows, last);
    rewriter.replaceOpWithNewOp<PermuteOp>(op, softmax,
                                           invertPermutationVector(order));
    return success();
  }
};

struct ReduceOverTrailing : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    // Windows are reduced where they are.
    if (getReducedWindows(op))
      return failure();
    int64_t rank = op.getOperand().getType().getRank();
    int64_t reduced = op.getDims().size();
    SmallVector<int64_t> order, trailing;
    for (int64_t i = 0; i < rank; ++i)
      if (!llvm::is_contained(op.getDims(), i))
        order.push_back(i);
    llvm::append_range(order, op.getDims());
    for (int64_t i = rank - reduced; i < rank; ++i)
      trailing.push_back(i);
    if (op.getDims() == ArrayRef<int64_t>(trailing))
      return failure();
    Value rows =
        PermuteOp::create(rewriter, op.getLoc(), op.getOperand(), order);
    Value reduce = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), rows,
                                    trailing, /*keep=*/false);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), reduce);
    return success();
  }
};

/// A sum over all of what a row op computed, rows first: one kernel has the
/// rows at hand, and stores a number for each in place of all elements.
struct ReduceRowsFirst : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> rows = findRows(op);
    if (rows.empty())
      return failure();
    RankedTensorType type = op.getOperand().getType();
    Value x = op.getOperand();
    // Numbers of rows are not rounded to 16 bits.
    Type element = getComputeType(type.getElementType());
    if (element != type.getElementType())
      x = CastOp::create(rewriter, op.getLoc(), type.clone(element), x);
    Value perRow = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), x,
                                    rows, /*keep=*/false);
    // The other dimensions, as they are counted without those of the rows.
    SmallVector<int64_t> others;
    for (int64_t dim : op.getDims())
      if (!llvm::is_contained(rows, dim))
        others.push_back(
            dim - llvm::count_if(rows, [&](int64_t row) { return row < dim; }));
    Value all = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), perRow,
                                 others, /*keep=*/false);
    if (element != type.getElementType())
      all = CastOp::create(
          rewriter, op.getLoc(),
          cast<RankedTensorType>(all.getType()).clone(type.getElementType()),
          all);
    if (all.getType() == op.getType())
      rewriter.replaceOp(op, all);
    else
      rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), all);
    return success();
  }

private:
  /// The dimensions of rows that are some of those that `op` reduces, and not
  /// all.
  static SmallVector<int64_t> findRows(ReduceOp op) {
    if (op.getArithmetic().locates || getReducedWindows(op) ||
        !isa<FloatType>(op.getOperand().getType().getElementType()))
      return {};
    return findRowDims(op.getOperand(), [&](ArrayRef<int64_t> dims) {
      return dims.size() < op.getDims().size() &&
             llvm::all_of(
                 dims,
                 [&](int64_t dim) {
                   return llvm::is_contained(op.getDims(), dim);
                 });
    });
  }
};

struct NormalizeRowsPass : fact::impl::NormalizeRowsBase<NormalizeRowsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateNormalizeRowsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateNormalizeRowsPatterns(RewritePatternSet &patterns) {
  patterns
      .add<SoftmaxOfOne, SoftmaxOverLast, ReduceRowsFirst, ReduceOverTrailing>(
          patterns.getContext());
}
