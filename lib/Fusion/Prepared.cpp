//===- Prepared.cpp - Functions of weights, added to `fact.prepare` -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prepared.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fact;

/// The ops that make `value` of a weight or of a result of `fact.prepare`, the
/// last one first; none if it depends on other values.
static std::optional<SmallVector<Operation *>> getViewsOfWeight(Value value) {
  SmallVector<Operation *> ops;
  Operation *op = value.getDefiningOp();
  for (; isa_and_nonnull<ViewOpInterface>(op);
       op = op->getOperand(0).getDefiningOp())
    ops.push_back(op);
  if (!isa_and_nonnull<GetWeightOp, ConstantOp, PrepareOp>(op))
    return std::nullopt;
  if (!isa<PrepareOp>(op))
    ops.push_back(op);
  return ops;
}

/// The block's `fact.prepare`, or one without results at its start.
static PrepareOp getPrepare(Block &block) {
  for (auto prepare : block.getOps<PrepareOp>())
    return prepare;
  OpBuilder builder(block.getParent()->getContext());
  builder.setInsertionPointToStart(&block);
  auto prepare = PrepareOp::create(builder, block.getParentOp()->getLoc(),
                                   ArrayRef<Type>());
  builder.setInsertionPointToStart(&prepare.getBody().emplaceBlock());
  YieldOp::create(builder, prepare.getLoc(), ValueRange());
  return prepare;
}

bool fact::canPrepare(Value value) {
  return getViewsOfWeight(value).has_value();
}

Value fact::prepare(OpBuilder &builder, Value value,
                    llvm::function_ref<Value(Value)> build) {
  std::optional<SmallVector<Operation *>> views = getViewsOfWeight(value);
  if (!views)
    return {};
  PrepareOp old = getPrepare(*builder.getInsertionBlock());
  Operation *yield = old.getBody().front().getTerminator();
  // Within `fact.prepare`, its results are what it yields.
  IRMapping inside;
  inside.map(old.getResults(), yield->getOperands());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(yield);
  for (Operation *op : llvm::reverse(*views))
    builder.clone(*op, inside);
  Value built = build(inside.lookup(value));
  yield->insertOperands(yield->getNumOperands(), built);

  builder.setInsertionPoint(old);
  SmallVector<Type> types(old.getResultTypes());
  types.push_back(built.getType());
  auto prepare = PrepareOp::create(builder, old.getLoc(), types);
  prepare.getBody().takeBody(old.getBody());
  old.replaceAllUsesWith(prepare.getResults().drop_back());
  old.erase();
  return prepare.getResults().back();
}
