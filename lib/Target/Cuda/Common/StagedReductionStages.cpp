//===- StagedReductionStages.cpp - Reads the reductions of a region -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StagedReduction.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace fact;

/// The softmax of a permuted tensor as a permuted softmax.
static SoftmaxOp liftPermute(SoftmaxOp op) {
  auto permute = op.getOperand().getDefiningOp<PermuteOp>();
  if (!permute)
    return op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto lifted = SoftmaxOp::create(b, permute.getOperand(),
                                  permute.getDims()[op.getDim()]);
  op.replaceAllUsesWith(
      PermuteOp::create(b, lifted, permute.getDims()).getResult());
  op.erase();
  return lifted;
}

/// The reduction of a permuted tensor as that of the tensor itself, so that it
/// is over the dimensions of the pointwise ops around it.
static ReduceOp liftPermute(ReduceOp op) {
  auto permute = op.getOperand().getDefiningOp<PermuteOp>();
  if (!permute)
    return op;
  SmallVector<int64_t> dims, kept;
  for (auto [i, dim] : llvm::enumerate(permute.getDims()))
    (llvm::is_contained(op.getDims(), int64_t(i)) ? dims : kept).push_back(dim);
  // Places are counted in the order of the dimensions.
  if (!llvm::is_sorted(kept) || !llvm::is_sorted(dims))
    return op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto lifted = ReduceOp::create(b, op.getKind(), permute.getOperand(), dims,
                                 /*keep=*/false);
  Value result = lifted;
  if (result.getType() != op.getType())
    result = ReshapeOp::create(b, op.getType(), result);
  op.replaceAllUsesWith(result);
  op.erase();
  return lifted;
}

static Value castTo(ImplicitLocOpBuilder &b, Value value, Type element) {
  if (getTensorType(value).getElementType() == element)
    return value;
  return CastOp::create(b, getTensorType(value).clone(element), value);
}

/// exp(x - max(x)) times the reciprocal of its sum, one per column, in the
/// words of a log-softmax of the same x, which may be beside it: a region
/// computes in f32 what it does not store.
static void writeOut(SoftmaxOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t dim = op.getDim();
  Value x = op.getOperand();
  Value largest = ReduceOp::create(b, ReduceKind::max, x, dim, /*keep=*/true);
  Value weights = ExpOp::create(b, SubOp::create(b, x, largest));
  Value sum = ReduceOp::create(b, ReduceKind::sum, weights, dim, /*keep=*/true);
  Value result = MulOp::create(b, weights, ReciprocalOp::create(b, sum));
  op.replaceAllUsesWith(result);
  op.erase();
}

/// The mean and the variance around it, or the mean of squares, in the
/// dimensions of what a permute before the norm permutes.
static void writeOut(NormOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getType());
  Type element = getComputeType(type.getElementType());
  auto permute = op.getOperand().getDefiningOp<PermuteOp>();
  int64_t rank = type.getRank(), leading = rank - op.getDims();
  SmallVector<int64_t> order =
      permute ? SmallVector<int64_t>(permute.getDims())
              : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> inverse = invertPermutationVector(order);
  auto dims = llvm::to_vector(ArrayRef<int64_t>(order).drop_front(leading));
  llvm::sort(dims);

  Value x =
      castTo(b, permute ? permute.getOperand() : op.getOperand(), element);
  auto mean = [&](Value value) -> Value {
    return ReduceOp::create(b, ReduceKind::mean, value, dims, /*keep=*/true);
  };
  if (op.getKind() == NormKind::layer)
    x = SubOp::create(b, x, mean(x));
  Value eps = ConstantOp::create(
      b, DenseElementsAttr::get(
             RankedTensorType::get({}, element),
             b.getFloatAttr(element, op.getEps().convertToDouble())));
  Value scale =
      RsqrtOp::create(b, AddOp::create(b, mean(MulOp::create(b, x, x)), eps));
  Value result = MulOp::create(b, x, scale);
  // Weights of a row's elements, one dimension for each of the tensor's.
  auto spread = [&](Value weight) -> Value {
    SmallVector<int64_t> shape(leading, 1);
    llvm::append_range(shape, type.getShape().drop_front(leading));
    Value spread =
        ReshapeOp::create(b, getTensorType(weight).clone(shape), weight);
    return castTo(b, PermuteOp::create(b, spread, inverse), element);
  };
  if (Value weight = op.getWeight())
    result = MulOp::create(b, result, spread(weight));
  if (Value bias = op.getBias())
    result = AddOp::create(b, result, spread(bias));
  result = castTo(b, result, type.getElementType());
  if (permute)
    result = PermuteOp::create(b, result, order);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// The reduction of `kind` whose result `value` is, in any shape.
static ReduceOp getReduction(Value value, ReduceKind kind) {
  while (isa_and_nonnull<ReshapeOp, ExpandOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto reduce = value.getDefiningOp<ReduceOp>();
  return reduce && reduce.getKind() == kind ? reduce : ReduceOp();
}

/// The reduction beside which another one can be computed, and how: of x, the
/// mean and the squares of x - mean, or the maximum and exp(x - maximum).
static std::pair<StagedReduction::Joint, ReduceOp> getJoint(ReduceOp op) {
  using Joint = StagedReduction::Joint;
  auto find = [&](Value distance, ReduceKind kind) -> ReduceOp {
    auto sub = distance.getDefiningOp<SubOp>();
    ReduceOp first = sub ? getReduction(sub.getRhs(), kind) : ReduceOp();
    // Other types round what is reduced, or are wider than joint stages.
    return first && first.getOperand() == sub.getLhs() &&
                   first.getDims() == op.getDims() &&
                   getTensorType(op.getOperand()) ==
                       getTensorType(first.getOperand()) &&
                   getComputeType(
                       getTensorType(op.getOperand()).getElementType())
                       .isF32()
               ? first
               : ReduceOp();
  };
  bool isSum = op.getKind() == ReduceKind::sum;
  if (auto exp = op.getOperand().getDefiningOp<ExpOp>(); exp && isSum)
    if (ReduceOp first = find(exp.getOperand(), ReduceKind::max))
      return {Joint::exponentialsBelowMaximum, first};
  auto square = op.getOperand().getDefiningOp<MulOp>();
  if (square && square.getLhs() == square.getRhs() &&
      (isSum || op.getKind() == ReduceKind::mean))
    if (ReduceOp first = find(square.getLhs(), ReduceKind::mean))
      return {Joint::squaresAroundMean, first};
  return {Joint::none, ReduceOp()};
}

/// Adds the reductions of a region, each to the first pass that can compute it.
static void addStages(StagedReduction &reduction) {
  // Passes that come before a value is known.
  llvm::DenseMap<Value, int64_t> before, jointBefore;
  llvm::DenseMap<Operation *, ReduceOp> firsts;
  for (Operation &op : reduction.region->get().getBodyOps()) {
    int64_t pass = 0, jointPass = 0;
    for (Value operand : op.getOperands()) {
      pass = std::max(pass, before.lookup(operand));
      jointPass = std::max(jointPass, jointBefore.lookup(operand));
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      auto [joint, first] = getJoint(reduce);
      if (first) {
        firsts[reduce] = first;
        jointPass = jointBefore.lookup(first.getOperand());
      }
      reduction.stages.push_back({reduce, pass++, jointPass++, joint});
    }
    for (Value result : op.getResults()) {
      before[result] = pass;
      jointBefore[result] = jointPass;
    }
  }
  llvm::sort(reduction.stages, [](const auto &a, const auto &b) {
    return std::tuple(a.pass, a.jointPass) != std::tuple(b.pass, b.jointPass)
               ? std::tuple(a.pass, a.jointPass) <
                     std::tuple(b.pass, b.jointPass)
               : a.op->isBeforeInBlock(b.op);
  });
  for (StagedReduction::Stage &stage : reduction.stages)
    if (ReduceOp first = firsts.lookup(stage.op))
      stage.first = llvm::find_if(reduction.stages,
                                  [&](StagedReduction::Stage other) {
                                    return other.op == first;
                                  }) -
                    reduction.stages.begin();
  // One order for both: stages take turns with shared memory in it.
  bool isSorted =
      llvm::is_sorted(reduction.stages, [](const auto &a, const auto &b) {
        return a.jointPass < b.jointPass;
      });
  if (!isSorted)
    for (StagedReduction::Stage &stage : reduction.stages) {
      stage.jointPass = stage.pass;
      stage.joint = StagedReduction::Joint::none;
    }
}

LogicalResult fact::readStages(StagedReduction &reduction,
                               EmitError emitError) {
  for (Operation &op :
       llvm::make_early_inc_range(reduction.region->get().getBodyOps()))
    if (auto softmax = dyn_cast<SoftmaxOp>(op))
      writeOut(liftPermute(softmax));
    else if (auto norm = dyn_cast<NormOp>(op))
      writeOut(norm);
  FusedOp region = reduction.region->get();
  IRRewriter rewriter(region.getContext());
  DominanceInfo dominance(region);
  eliminateCommonSubExpressions(rewriter, dominance, region);
  for (Operation &op :
       llvm::make_early_inc_range(reduction.region->get().getBodyOps())) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      liftPermute(reduce);
    else if (!isa<PointwiseOpInterface, ViewOpInterface, ConstantOp, GatherOp>(
                 op))
      return emitError() << "'" << op.getName()
                         << "' is not a norm, softmax, reduction, pointwise "
                            "op, gather or view";
  }
  addStages(reduction);
  if (reduction.stages.empty())
    return emitError() << "needs a norm, a softmax or a reduction";
  ReduceOp first = reduction.stages.front().op;
  ArrayRef<int64_t> shape = getTensorType(first.getOperand()).getShape();
  for (StagedReduction::Stage stage : reduction.stages)
    if (getTensorType(stage.op.getOperand()).getShape() != shape ||
        stage.op.getDims() != first.getDims())
      return emitError() << "all reductions must be over the same dimensions "
                            "of tensors of one shape";
  return success();
}
