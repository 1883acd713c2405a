//===- MergeProjections.cpp - One product of those that project one value -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

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

struct MergeProjectionsPass
    : fact::impl::MergeProjectionsBase<MergeProjectionsPass> {
  void runOnOperation() override;

private:
  bool isFunctionOfWeights(Value value);
  std::optional<Projection> getProjection(MatmulOp matmul);
  void merge(MutableArrayRef<Projection> projections);

  llvm::DenseMap<Value, bool> functionsOfWeights;
};
} // namespace

/// Whether the value depends on weights and constants alone.
bool MergeProjectionsPass::isFunctionOfWeights(Value value) {
  auto [known, isNew] = functionsOfWeights.try_emplace(value, false);
  if (!isNew)
    return known->second;
  Operation *op = value.getDefiningOp();
  bool determined =
      op && isa<FactDialect>(op->getDialect()) && !isa<FusedOp>(op) &&
      llvm::all_of(op->getOperands(),
                   [&](Value operand) { return isFunctionOfWeights(operand); });
  return functionsOfWeights[value] = determined;
}

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

std::optional<Projection> MergeProjectionsPass::getProjection(MatmulOp matmul) {
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

void MergeProjectionsPass::merge(MutableArrayRef<Projection> projections) {
  Projection &first = projections.front();
  MatmulOp matmul = first.matmul;
  OpBuilder builder(matmul);
  SmallVector<Location> locations;
  SmallVector<Value> weights, biases;
  for (Projection &projection : projections) {
    locations.push_back(projection.matmul.getLoc());
    weights.push_back(projection.matmul.getRhs());
    biases.push_back(projection.bias);
  }
  Location loc = builder.getFusedLoc(locations);

  Value weight = ConcatOp::create(builder, loc, weights,
                                  /*dim=*/matmul.getTransposeB() ? 0 : 1);
  Value product = MatmulOp::create(
      builder, loc, ValueRange{matmul.getLhs(), weight}, matmul->getAttrs());
  if (first.bias)
    product = AddOp::create(builder, loc, product,
                            ConcatOp::create(builder, loc, biases, /*dim=*/0));

  int64_t start = 0, last = matmul.getType().getRank() - 1;
  for (Projection &projection : projections) {
    Value result = projection.getResult();
    auto sliceType = cast<RankedTensorType>(result.getType());
    auto slice = SliceOp::create(builder, projection.matmul.getLoc(), sliceType,
                                 product, last, start, /*step=*/1);
    start += sliceType.getShape().back();
    result.replaceAllUsesWith(slice);
  }
  for (Projection &projection : projections) {
    if (projection.add)
      projection.add.erase();
    projection.matmul.erase();
  }
  merged += projections.size();
}

void MergeProjectionsPass::runOnOperation() {
  if (getOperation().isExternal())
    return;
  functionsOfWeights.clear();
  // Merged products agree in their left operand, flags, type, and whether they
  // have a bias.
  using Key = std::tuple<Value, Attribute, Type, unsigned>;
  llvm::MapVector<Key, SmallVector<Projection>> groups;
  Block &block = getOperation().getBody().front();
  for (MatmulOp matmul : block.getOps<MatmulOp>())
    if (std::optional<Projection> projection = getProjection(matmul))
      groups[{matmul.getLhs(), matmul->getAttrDictionary(),
              matmul.getType().getElementType(), projection->bias ? 1u : 0u}]
          .push_back(*projection);
  for (auto &[key, projections] : groups)
    if (projections.size() > 1)
      merge(projections);
  // The merged product reads weights that may be defined after the first of the
  // products.
  sortTopologically(&block);
}
