//===- FoldNorms.cpp - Norms folded into the products that read them ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A norm scales each row by one number, which commutes with a product, and
// each column by another, which the weights can carry. What is left of it is
// one or two numbers per row.
//
//===----------------------------------------------------------------------===//

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

#define DEBUG_TYPE "fact-fold-norms"

namespace fact {
#define GEN_PASS_DEF_FOLDNORMS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

/// Beyond, a row with one different element could be taken for a row of equal
/// ones.
static constexpr int64_t longestRow = 1 << 16;

namespace {
/// What a norm knows of each row, with the normalized dimension of size 1.
struct RowStatistics {
  /// None for an RMS norm.
  Value mean;
  Value reciprocalDeviation;
};
} // namespace

/// Whether the folded form is as exact as the norm itself, whatever the rows
/// are: docs/precision.md has the errors that decide.
static bool isExactEnough(NormOp norm) {
  Type element = norm.getType().getElementType();
  // The mean is subtracted after the product. That cancels what a product in
  // f32 does not know exactly of rows far from zero: harmless only beside the
  // rounding of a 16-bit result. A weight times the scale may leave the range
  // of f16.
  return element.isBF16() ||
         (norm.getKind() == NormKind::rms && element.isF32());
}

/// The products that read a norm, if nothing else does and their weights are
/// known at load.
static FailureOr<SmallVector<MatmulOp>> getReaders(NormOp norm) {
  SmallVector<MatmulOp> readers;
  for (OpOperand &use : norm->getUses()) {
    auto matmul = dyn_cast<MatmulOp>(use.getOwner());
    if (!matmul || use.getOperandNumber() != 0 || matmul.getTransposeA() ||
        typeOf(matmul.getRhs()).getRank() != 2 ||
        !isFunctionOfWeights(matmul.getRhs()))
      return failure();
    readers.push_back(matmul);
  }
  if (readers.empty())
    return failure();
  return readers;
}

static bool canFold(NormOp norm) {
  auto isKnownAtLoad = [](Value value) {
    return !value || isFunctionOfWeights(value);
  };
  return norm.getDims() == 1 && norm.getType().getRank() > 1 &&
         norm.getType().getShape().back() <= longestRow &&
         norm.getType().hasStaticShape() &&
         norm.getType().getNumElements() > 0 && isExactEnough(norm) &&
         !isFunctionOfWeights(norm.getOperand()) &&
         isKnownAtLoad(norm.getWeight()) && isKnownAtLoad(norm.getBias()) &&
         succeeded(getReaders(norm));
}

/// 0 in place of the reciprocal deviation of a row whose elements are equal:
/// its normalized elements are 0, and what a product in f32 does not know of
/// their sum would be multiplied by up to 1/sqrt(eps). Elements of bf16 that
/// are not all equal deviate by more than 2^-9 of the mean over the root of
/// their number.
static Value withoutEqualRows(OpBuilder &builder, Location loc, Value mean,
                              Value variance, Value reciprocal) {
  Type element = typeOf(mean).getElementType();
  Value least =
      MulOp::create(builder, loc, MulOp::create(builder, loc, mean, mean),
                    makeScalar(builder, loc, std::ldexp(1.0, -38), element));
  Value isEqual =
      CompareOp::create(builder, loc, Predicate::lt, variance, least);
  return SelectOp::create(builder, loc, isEqual,
                          makeScalar(builder, loc, 0.0, element), reciprocal);
}

static RowStatistics buildStatistics(OpBuilder &builder, NormOp norm) {
  Location loc = norm.getLoc();
  Value rows = widen(builder, loc, norm.getOperand());
  int64_t last = typeOf(rows).getRank() - 1;
  auto mean = [&](Value value) -> Value {
    return ReduceOp::create(builder, loc, ReduceKind::mean, value, last,
                            /*keep=*/true);
  };
  RowStatistics statistics;
  if (norm.getKind() == NormKind::layer) {
    statistics.mean = mean(rows);
    rows = SubOp::create(builder, loc, rows, statistics.mean);
  }
  Value variance = mean(MulOp::create(builder, loc, rows, rows));
  Value eps = makeScalar(builder, loc, norm.getEps().convertToDouble(),
                         typeOf(rows).getElementType());
  Value reciprocal =
      RsqrtOp::create(builder, loc, AddOp::create(builder, loc, variance, eps));
  statistics.reciprocalDeviation =
      statistics.mean ? withoutEqualRows(builder, loc, statistics.mean,
                                         variance, reciprocal)
                      : reciprocal;
  return statistics;
}

/// A vector per input of a product, as its weights read it.
static Value alongInputs(OpBuilder &builder, MatmulOp matmul, Value vector) {
  Location loc = matmul.getLoc();
  vector = widen(builder, loc, vector);
  return matmul.getTransposeB()
             ? vector
             : reshapeTo(builder, loc, vector, {shapeOf(vector)[0], 1});
}

/// The sum over a product's inputs, per output.
static Value sumOverInputs(OpBuilder &builder, MatmulOp matmul, Value weights) {
  return ReduceOp::create(builder, matmul.getLoc(), ReduceKind::sum, weights,
                          int64_t(matmul.getTransposeB() ? 1 : 0),
                          /*keep=*/false);
}

/// The bias that is added to a product and to nothing else, if it is known at
/// load.
static AddOp getBiasAdd(MatmulOp matmul, Value &bias) {
  if (!matmul->hasOneUse())
    return {};
  auto add = dyn_cast<AddOp>(*matmul->user_begin());
  if (!add || add.getType() != matmul.getType())
    return {};
  bias = add.getLhs() == matmul.getResult() ? add.getRhs() : add.getLhs();
  if (typeOf(bias).getRank() != 1 ||
      shapeOf(bias)[0] != matmul.getType().getShape().back() ||
      !isFunctionOfWeights(bias))
    return {};
  return add;
}

static Value castTo(OpBuilder &builder, Location loc, Value value,
                    Type element) {
  return builder.createOrFold<CastOp>(loc, typeOf(value).clone(element), value);
}

static void foldInto(PatternRewriter &rewriter, NormOp norm,
                     const RowStatistics &statistics, MatmulOp matmul) {
  Location loc = matmul.getLoc();
  Value bias;
  AddOp add = getBiasAdd(matmul, bias);
  Operation *replaced = add ? add : matmul.getOperation();
  // A bias may be defined between the product and its sum.
  rewriter.setInsertionPoint(replaced);
  Type element = matmul.getType().getElementType();
  Value unscaled = widen(rewriter, loc, matmul.getRhs());

  Value weights = matmul.getRhs();
  if (Value scale = norm.getWeight())
    weights = castTo(rewriter, loc,
                     MulOp::create(rewriter, loc, unscaled,
                                   alongInputs(rewriter, matmul, scale)),
                     element);
  Value result = widen(rewriter, loc,
                       MatmulOp::create(rewriter, loc,
                                        ValueRange{norm.getOperand(), weights},
                                        matmul->getAttrs()));
  if (statistics.mean) {
    // Of the rounded weights: what the product adds for the mean is subtracted
    // exactly.
    Value sums = sumOverInputs(rewriter, matmul, widen(rewriter, loc, weights));
    result = SubOp::create(rewriter, loc, result,
                           MulOp::create(rewriter, loc, statistics.mean, sums));
  }
  result = MulOp::create(rewriter, loc, result, statistics.reciprocalDeviation);

  Value summand = add ? widen(rewriter, loc, bias) : Value();
  if (Value shift = norm.getBias()) {
    Value sums =
        sumOverInputs(rewriter, matmul,
                      MulOp::create(rewriter, loc, unscaled,
                                    alongInputs(rewriter, matmul, shift)));
    summand = summand ? AddOp::create(rewriter, loc, sums, summand) : sums;
  }
  if (summand)
    result = AddOp::create(rewriter, loc, result, summand);
  rewriter.replaceOp(replaced, castTo(rewriter, loc, result, element));
  if (add)
    rewriter.eraseOp(matmul);
}

namespace {
/// Applies a norm after the products that read it, and to their weights.
struct FoldNorm : OpRewritePattern<NormOp> {
  FoldNorm(MLIRContext *context, Pass::Statistic *folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(NormOp norm,
                                PatternRewriter &rewriter) const override {
    if (isa<FusedOp, PrepareOp>(norm->getParentOp()) || !canFold(norm))
      return failure();
    RowStatistics statistics = buildStatistics(rewriter, norm);
    SmallVector<MatmulOp> readers = *getReaders(norm);
    for (MatmulOp matmul : readers)
      foldInto(rewriter, norm, statistics, matmul);
    rewriter.eraseOp(norm);
    if (folded)
      ++*folded;
    return success();
  }

  Pass::Statistic *folded;
};

struct FoldNormsPass : fact::impl::FoldNormsBase<FoldNormsPass> {
  void runOnOperation() override;
};
} // namespace

/// Puts the ops of a kernel back into the block.
static void inlineKernel(FusedOp fused) {
  Block &body = fused.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), fused.getInputs()))
    argument.replaceAllUsesWith(input);
  fused.replaceAllUsesWith(yield->getOperands());
  yield->erase();
  fused->getBlock()->getOperations().splice(fused->getIterator(),
                                            body.getOperations());
  fused.erase();
}

/// The kernels with products that read a value; none if another op does.
static SmallVector<FusedOp> getKernelsOfProducts(Value value) {
  SmallVector<FusedOp> kernels;
  for (Operation *user : value.getUsers()) {
    auto fused = dyn_cast<FusedOp>(user);
    if (!fused || fused.getBody().getOps<MatmulOp>().empty())
      return {};
    if (!llvm::is_contained(kernels, fused))
      kernels.push_back(fused);
  }
  return kernels;
}

/// Opens the kernels of norms that only products read, and those of the
/// products. All other kernels stay as they are.
static void inlineKernels(Block &block) {
  llvm::SetVector<FusedOp> opened;
  for (FusedOp fused : block.getOps<FusedOp>())
    for (auto [result, yielded] : llvm::zip_equal(
             fused.getResults(),
             fused.getBody().front().getTerminator()->getOperands()))
      if (auto norm = yielded.getDefiningOp<NormOp>();
          norm && isExactEnough(norm)) {
        SmallVector<FusedOp> readers = getKernelsOfProducts(result);
        if (readers.empty())
          continue;
        opened.insert(fused);
        opened.insert(readers.begin(), readers.end());
      }
  if (opened.empty())
    return;
  // What runs at load is grouped again too: `fact-hoist-prepare` adds to it.
  for (PrepareOp prepare : block.getOps<PrepareOp>())
    for (FusedOp fused : prepare.getBody().getOps<FusedOp>())
      opened.insert(fused);
  for (FusedOp fused : opened)
    inlineKernel(fused);
}

void FoldNormsPass::runOnOperation() {
  if (getOperation().isExternal())
    return;
  inlineKernels(getOperation().getBody().front());
  RewritePatternSet patterns(&getContext());
  populateFoldNormsPatterns(patterns, &folded);
  // Everything else stays as it is and where it is.
  GreedyRewriteConfig config;
  config.enableFolding(false)
      .enableConstantCSE(false)
      .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(
          applyPatternsGreedily(getOperation(), std::move(patterns), config)))
    signalPassFailure();
}

void fact::populateFoldNormsPatterns(RewritePatternSet &patterns,
                                     Pass::Statistic *folded) {
  patterns.add<FoldNorm>(patterns.getContext(), folded);
}
