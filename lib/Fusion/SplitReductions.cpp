//===- SplitReductions.cpp - Products of which few numbers are left -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SplitReductions.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace fact;

static bool reducesAll(ReduceOp op) {
  return op.getType().getNumElements() == 1;
}

/// The value that is reduced, behind views that nothing else reads where all of
/// their elements are.
static Value getReduced(ReduceOp op) {
  Value value = op.getOperand();
  while (reducesAll(op) && value.hasOneUse() &&
         isa_and_nonnull<ReshapeOp, PermuteOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// Reduces that value itself.
static ReduceOp skipViews(ReduceOp op) {
  Value value = getReduced(op);
  if (value == op.getOperand())
    return op;
  OpBuilder builder(op);
  auto whole = ReduceOp::create(
      builder, op.getLoc(), op.getKind(), value,
      llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank())),
      /*keep=*/false);
  Value result = whole;
  if (whole.getType() != op.getType())
    result = ReshapeOp::create(builder, op.getLoc(), op.getType(), result);
  Operation *view = op.getOperand().getDefiningOp();
  op->replaceAllUsesWith(ValueRange(result));
  op->erase();
  while (view->getResult(0) != value) {
    Operation *next = view->getOperand(0).getDefiningOp();
    view->erase();
    view = next;
  }
  return whole;
}

/// The product that `value` is computed from, and the ops in between; empty
/// unless there is one product, of as many elements.
static OpGroup getProductOf(Value value) {
  OpGroup ops;
  Operation *product = nullptr;
  int64_t count = typeOf(value).getNumElements();
  SmallVector<Value> pending{value};
  for (size_t i = 0; i < pending.size(); ++i) {
    Operation *op = pending[i].getDefiningOp();
    if (!op || ops.contains(op) || typeOf(pending[i]).getNumElements() != count)
      continue;
    if (isa<MatmulOp>(op)) {
      if (product)
        return {};
      product = op;
      ops.insert(op);
    } else if (isa<PointwiseOpInterface, ReshapeOp>(op)) {
      ops.insert(op);
      llvm::append_range(pending, op->getOperands());
    }
  }
  if (!product)
    return {};
  // What does not depend on the product is another kernel's.
  OpGroup after;
  after.insert(product);
  for (size_t i = 0; i < after.size(); ++i)
    for (Operation *user : after[i]->getUsers())
      if (ops.contains(user))
        after.insert(user);
  return after;
}

namespace {
/// A reduction of rows, and one of their results.
struct Split {
  /// The cast before the first one, if any, and the first one.
  OpGroup ofRows;
  /// The second one, and a cast of its result.
  OpGroup ofRest;
  Value result;

  explicit Split(ReduceOp op);
};
} // namespace

/// Sums of 16-bit values stay f32 between the reductions.
Split::Split(ReduceOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto convert = [&](OpGroup &group, Value from, Type element) -> Value {
    if (typeOf(from).getElementType() == element)
      return from;
    auto cast = CastOp::create(builder, typeOf(from).clone(element), from);
    group.insert(cast);
    return cast;
  };
  auto reduce = [&](OpGroup &group, Value from, ArrayRef<int64_t> dims) {
    auto reduced =
        ReduceOp::create(builder, op.getKind(), from, dims, /*keep=*/false);
    group.insert(reduced);
    return reduced;
  };
  Type element = typeOf(op.getOperand()).getElementType();
  Value value =
      convert(ofRows, op.getOperand(),
              op.getArithmetic().chooses ? element : getComputeType(element));
  Value rows = reduce(ofRows, value, op.getDims().back());
  Value rest = reduce(ofRest, rows, op.getDims().drop_back());
  result = convert(ofRest, rest, op.getType().getElementType());
  if (result.getType() != op.getType())
    result = ReshapeOp::create(builder, op.getType(), result);
}

/// Splits a reduction after a product, unless the parts are slower.
static void split(ReduceOp op, const OpGroup &product,
                  const Fusibility &fusibility) {
  StringRef rule = gemmEpilogueRule.name;
  OpGroup whole;
  whole.insert(op);
  std::optional<double> stored = fusibility.predict(rule, product);
  std::optional<double> reduced = fusibility.predictBest(whole);

  Split parts(op);
  ReduceKind kind = op.getKind();
  Value operand = op.getOperand();
  SmallVector<int64_t> dims(op.getDims());
  bool keeps = op.getKeep();
  Location loc = op.getLoc();
  op->replaceAllUsesWith(ValueRange(parts.result));
  op->erase();
  OpGroup together = product;
  together.insert(parts.ofRows.begin(), parts.ofRows.end());
  std::optional<double> first = fusibility.predict(rule, together);
  std::optional<double> second = fusibility.predictBest(parts.ofRest);
  if (first && second &&
      (!stored || !reduced || *first + *second < *stored + *reduced))
    return;

  OpBuilder builder(parts.ofRest.front());
  Value again = ReduceOp::create(builder, loc, kind, operand, dims, keeps);
  parts.result.replaceAllUsesWith(again);
  if (auto reshape = parts.result.getDefiningOp<ReshapeOp>())
    reshape->erase();
  for (OpGroup *group : {&parts.ofRest, &parts.ofRows})
    for (Operation *unused : llvm::reverse(*group))
      unused->erase();
}

void fact::splitReductions(Block &block, const Fusibility &fusibility) {
  for (ReduceOp op : llvm::to_vector(block.getOps<ReduceOp>())) {
    Value value = getReduced(op);
    RankedTensorType type = typeOf(value);
    bool hasViews = value != op.getOperand();
    bool hasRows = hasViews || (op.getDims().size() > 1 &&
                                op.getDims().back() == type.getRank() - 1);
    if (op.getArithmetic().locates || !isa<FloatType>(type.getElementType()) ||
        type.getNumElements() == 0 || type.getRank() < 2 || !hasRows)
      continue;
    OpGroup product = getProductOf(value);
    if (!product.empty())
      split(skipViews(op), product, fusibility);
  }
}
