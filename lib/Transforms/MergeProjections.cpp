//===- MergeProjections.cpp - One product of those that project one value -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Matchers.h"
#include "fact/Transforms/Passes.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

#define DEBUG_TYPE "fact-merge-projections"

namespace fact {
#define GEN_PASS_DEF_MERGEPROJECTIONS
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

namespace {
/// A value times a weight, with an optional bias.
struct Projection {
  MatmulOp matmul;
  AddOp add;
  Value bias;

  Value getResult() {
    return add ? add.getResult() : Value(matmul.getResult());
  }
};
} // namespace

/// Whether all users read these elements through strides and lead to attention.
static bool isReadInPlace(Value value, const StridedView &view) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (auto attention = dyn_cast<AttentionOp>(user))
             return attention.getMask() != value;
           if (auto rotary = dyn_cast<RotaryOp>(user))
             return rotary.getOperand() == value &&
                    isReadInPlace(rotary.getResult(),
                                  StridedView::identity(rotary.getResult()));
           if (!isa<ViewOpInterface>(user))
             return false;
           FailureOr<StridedView> next =
               cast<ViewOpInterface>(user).applyView(view);
           return succeeded(next) && isReadInPlace(user->getResult(0), *next);
         });
}

/// The strides of the projection as a slice of the merged product; they do not
/// depend on the width of the other parts.
static StridedView getSliceView(Value result) {
  StridedView view = StridedView::identity(result);
  int64_t wide = 2 * view.shape.back();
  for (int64_t &stride : MutableArrayRef(view.strides).drop_back())
    stride = stride / view.shape.back() * wide;
  return view;
}

static std::optional<Projection> getProjection(MatmulOp matmul) {
  RankedTensorType type = matmul.getType();
  if (!type.hasStaticShape() || type.getNumElements() == 0 ||
      matmul.getRhs().getType().getRank() != 2 ||
      !isFunctionOfWeights(matmul.getRhs()) ||
      isFunctionOfWeights(matmul.getLhs()))
    return std::nullopt;
  Projection projection{matmul, {}, {}};
  if (matmul->hasOneUse())
    if (auto add = dyn_cast<AddOp>(*matmul->user_begin())) {
      Value bias =
          add.getLhs() == matmul.getResult() ? add.getRhs() : add.getLhs();
      auto biasType = cast<RankedTensorType>(bias.getType());
      if (add.getType() == type && biasType.getRank() == 1 &&
          biasType.getDimSize(0) == type.getShape().back() &&
          isFunctionOfWeights(bias)) {
        projection.add = add;
        projection.bias = bias;
      }
    }
  if (!isReadInPlace(projection.getResult(),
                     getSliceView(projection.getResult())))
    return std::nullopt;
  return projection;
}

/// The products that become one with `matmul`, in their order. Those agree in
/// their left operand, flags, type, and whether they have a bias.
static SmallVector<Projection> getMerged(MatmulOp matmul) {
  SmallVector<Projection> projections;
  std::optional<Projection> own = getProjection(matmul);
  if (!own)
    return projections;
  for (Operation *user : matmul.getLhs().getUsers()) {
    auto other = dyn_cast<MatmulOp>(user);
    if (!other || other->getBlock() != matmul->getBlock() ||
        other.getLhs() != matmul.getLhs() ||
        other->getAttrDictionary() != matmul->getAttrDictionary() ||
        other.getType().getElementType() != matmul.getType().getElementType())
      continue;
    std::optional<Projection> projection = getProjection(other);
    if (projection && !projection->bias == !own->bias)
      projections.push_back(*projection);
  }
  llvm::sort(projections, [](const Projection &a, const Projection &b) {
    return a.matmul->isBeforeInBlock(b.matmul);
  });
  return projections;
}

static void merge(PatternRewriter &rewriter,
                  MutableArrayRef<Projection> projections, ValueRange weights,
                  ValueRange biases) {
  MatmulOp matmul = projections.front().matmul;
  SmallVector<Location> locations;
  for (Projection &projection : projections)
    locations.push_back(projection.matmul.getLoc());
  Location loc = rewriter.getFusedLoc(locations);

  Value weight = ConcatOp::create(rewriter, loc, weights,
                                  /*dim=*/matmul.getTransposeB() ? 0 : 1);
  Value product = MatmulOp::create(
      rewriter, loc, ValueRange{matmul.getLhs(), weight}, matmul->getAttrs());
  if (!biases.empty())
    product = AddOp::create(rewriter, loc, product,
                            ConcatOp::create(rewriter, loc, biases, /*dim=*/0));

  int64_t start = 0, last = matmul.getType().getRank() - 1;
  for (Projection &projection : projections) {
    Value result = projection.getResult();
    auto sliceType = cast<RankedTensorType>(result.getType());
    auto slice = SliceOp::create(rewriter, projection.matmul.getLoc(),
                                 sliceType, product, last, start, /*step=*/1);
    start += sliceType.getShape().back();
    rewriter.replaceAllUsesWith(result, slice);
  }
  for (Projection &projection : projections) {
    if (projection.add)
      rewriter.eraseOp(projection.add);
    rewriter.eraseOp(projection.matmul);
  }
}

namespace {
/// Replaces the first of several projections by one of all.
struct MergeProjection : OpRewritePattern<MatmulOp> {
  MergeProjection(MLIRContext *context, Pass::Statistic *merged)
      : OpRewritePattern(context), merged(merged) {}

  LogicalResult matchAndRewrite(MatmulOp matmul,
                                PatternRewriter &rewriter) const override {
    SmallVector<Projection> projections = getMerged(matmul);
    if (projections.size() < 2 || projections.front().matmul != matmul)
      return failure();
    SmallVector<Value> weights, biases;
    for (Projection &projection : projections) {
      weights.push_back(projection.matmul.getRhs());
      if (projection.bias)
        biases.push_back(projection.bias);
    }
    // Weights may be defined after the first of the products.
    SmallVector<Value> read(weights);
    llvm::append_range(read, biases);
    if (failed(moveValueDefinitions(rewriter, read, matmul)))
      return failure();
    merge(rewriter, projections, weights, biases);
    if (merged)
      *merged += projections.size();
    return success();
  }

  Pass::Statistic *merged;
};

struct MergeProjectionsPass
    : fact::impl::MergeProjectionsBase<MergeProjectionsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMergeProjectionsPatterns(patterns, &merged);
    // Everything else stays as it is and where it is.
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace

void fact::populateMergeProjectionsPatterns(RewritePatternSet &patterns,
                                            Pass::Statistic *merged) {
  patterns.add<MergeProjection>(patterns.getContext(), merged);
}
