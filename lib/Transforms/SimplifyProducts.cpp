//===- SimplifyProducts.cpp - Products that need fewer operations ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewrites are equal over the reals, and have error bounds of the same
// order as the product that they replace: a few units of roundoff times the
// product of the absolute values of its factors.
//
//===----------------------------------------------------------------------===//

#include "Diagonals.h"
#include "Matchers.h"
#include "SumsOfProducts.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <cmath>

#define DEBUG_TYPE "fact-simplify-products"

namespace fact {
#define GEN_PASS_DEF_SIMPLIFYPRODUCTS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
//===----------------------------------------------------------------------===//
// Factors with structure
//===----------------------------------------------------------------------===//

/// diag(v) b is b with rows multiplied by v; a diag(v) is a with columns
/// multiplied by v. Zeros of the factor are not multiplied, so that an infinity
/// stays in its row.
struct ScaleByDiagonal : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool onLeft = isDiagonal(op.getLhs());
    if (!onLeft && !isDiagonal(op.getRhs()))
      return failure();
    Value diagonal =
        buildDiagonal(rewriter, loc, onLeft ? op.getLhs() : op.getRhs());
    Value scaled = onLeft ? op.getRhs() : op.getLhs();
    if (onLeft ? op.getTransposeB() : op.getTransposeA())
      scaled = transposed(rewriter, loc, scaled);
    SmallVector<int64_t> shape(shapeOf(diagonal));
    if (!shape.empty())
      shape.insert(onLeft ? shape.end() : shape.end() - 1, 1);
    Value product = MulOp::create(rewriter, loc, scaled,
                                  reshapeTo(rewriter, loc, diagonal, shape));
    rewriter.replaceOp(
        op, expandTo(rewriter, loc, product, op.getType().getShape()));
    return success();
  }
};

/// A factor whose elements are one number: sums of rows or columns of the other
/// factor, times the number.
struct SumBySplat : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getType().getElementType();
    std::optional<double> number = getSplatConstant(op.getRhs());
    bool sumsLhs = number.has_value();
    if (!sumsLhs)
      number = getSplatConstant(op.getLhs());
    if (!number || !std::isfinite(*number) ||
        op.getType().getNumElements() == 0 || op.getK() == 0)
      return failure();
    Value factor = sumsLhs ? op.getLhs() : op.getRhs();
    bool isLast = sumsLhs ? !op.getTransposeA() : op.getTransposeB();
    int64_t dim = typeOf(factor).getRank() - (isLast ? 1 : 2);
    Value sum = ReduceOp::create(rewriter, loc, ReduceKind::sum, factor,
                                 ArrayRef<int64_t>(dim), /*keep=*/true);
    if (*number != 1)
      sum = MulOp::create(rewriter, loc, sum,
                          makeScalar(rewriter, loc, *number, element));
    SmallVector<int64_t> shape(shapeOf(sum));
    shape[shape.size() - 2] = sumsLhs ? op.getM() : 1;
    shape[shape.size() - 1] = sumsLhs ? 1 : op.getN();
    rewriter.replaceOp(op, expandTo(rewriter, loc,
                                    reshapeTo(rewriter, loc, sum, shape),
                                    op.getType().getShape()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

struct Matrix {
  Value value;
  bool isTransposed;

  ArrayRef<int64_t> getBatch() const { return shapeOf(value).drop_back(2); }
  int64_t getRows() const { return shapeOf(value).take_back(2)[isTransposed]; }
  int64_t getColumns() const {
    return shapeOf(value).take_back(2)[!isTransposed];
  }
};

/// The multiplications of a product of two factors on each call: none if both
/// depend on weights alone.
double countOperations(ArrayRef<ArrayRef<int64_t>> batches, double rows,
                       double terms, double columns, bool isPrepared) {
  if (isPrepared)
    return 0;
  auto batch = broadcastShapes(batches);
  return rows * terms * columns * llvm::product_of(*batch);
}

/// (a b) c becomes a (b c), and a (b c) becomes (a b) c, if that has at most a
/// quarter of the operations. Both round one product of two factors to the
/// element type, which is an error of one unit of roundoff times |a| |b| |c|;
/// the sums add as many units as they have terms, at most, in either order.
/// f16 is left alone: its range is so short that the other order may overflow.
struct ReassociateProduct : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The product behind multiplications by single numbers, which are collected.
  static MatmulOp getInner(Value value, SmallVectorImpl<Operation *> &scales) {
    while (value.hasOneUse()) {
      Operation *op = value.getDefiningOp();
      if (auto matmul = dyn_cast_or_null<MatmulOp>(op))
        return matmul;
      if (!isa_and_nonnull<MulOp, DivOp>(op) ||
          typeOf(op->getOperand(1)).getRank() != 0)
        return {};
      scales.push_back(op);
      value = op->getOperand(0);
    }
    return {};
  }

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    return success(!op.getType().getElementType().isF16() &&
                   (succeeded(reassociate(op, /*onLeft=*/true, rewriter)) ||
                    succeeded(reassociate(op, /*onLeft=*/false, rewriter))));
  }

  LogicalResult reassociate(MatmulOp op, bool onLeft,
                            PatternRewriter &rewriter) const {
    SmallVector<Operation *> scales;
    MatmulOp inner = getInner(onLeft ? op.getLhs() : op.getRhs(), scales);
    if (!inner || inner.getTf32() != op.getTf32())
      return failure();
    // The three factors from left to right.
    Matrix a{inner.getLhs(), inner.getTransposeA()};
    Matrix b{inner.getRhs(), inner.getTransposeB()};
    if (onLeft ? op.getTransposeA() : op.getTransposeB()) {
      std::swap(a, b);
      a.isTransposed = !a.isTransposed;
      b.isTransposed = !b.isTransposed;
    }
    Matrix c{op.getRhs(), op.getTransposeB()};
    if (!onLeft) {
      c = b;
      b = a;
      a = {op.getLhs(), op.getTransposeA()};
    }
    double m = a.getRows(), k = b.getRows(), n = b.getColumns(),
           p = c.getColumns();
    bool isA = isFunctionOfWeights(a.value), isB = isFunctionOfWeights(b.value),
         isC = isFunctionOfWeights(c.value);
    ArrayRef<int64_t> ofA = a.getBatch(), ofB = b.getBatch(),
                      ofC = c.getBatch();
    bool isPrepared = isA && isB && isC;
    double left = countOperations({ofA, ofB}, m, k, n, isA && isB) +
                  countOperations({ofA, ofB, ofC}, m, n, p, isPrepared);
    double right = countOperations({ofB, ofC}, k, n, p, isB && isC) +
                   countOperations({ofA, ofB, ofC}, m, k, p, isPrepared);
    double before = onLeft ? left : right, after = onLeft ? right : left;
    if (after == 0 || before < 4 * after)
      return failure();

    Location loc = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    auto multiply = [&](Matrix lhs, Matrix rhs) -> Value {
      return MatmulOp::create(rewriter, loc, lhs.value, rhs.value,
                              lhs.isTransposed, rhs.isTransposed, op.getTf32());
    };
    Value product = onLeft ? multiply(a, {multiply(b, c), false})
                           : multiply({multiply(a, b), false}, c);
    for (Operation *scale : llvm::reverse(scales)) {
      IRMapping mapping;
      mapping.map(scale->getOperand(0), product);
      Operation *clone = rewriter.clone(*scale, mapping);
      clone->getResult(0).setType(cast<RankedTensorType>(product.getType()));
      product = clone->getResult(0);
    }
    rewriter.replaceOp(op, product);
    return success();
  }
};

struct SimplifyProductsPass
    : fact::impl::SimplifyProductsBase<SimplifyProductsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSimplifyProductsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void fact::populateSimplifyProductsPatterns(RewritePatternSet &patterns) {
  patterns.add<ScaleByDiagonal, SumBySplat, ReassociateProduct>(
      patterns.getContext());
  populateSumsOfProductsPatterns(patterns);
}
