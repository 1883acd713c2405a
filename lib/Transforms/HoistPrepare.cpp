//===- HoistPrepare.cpp - Functions of weights run at load ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace fact {
#define GEN_PASS_DEF_HOISTPREPARE
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;

/// Whether windows are multiplied by the op's result.
static bool isFilter(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<MulOp>(user) &&
           llvm::any_of(user->getOperands(), [](Value operand) {
             return operand.getDefiningOp<WindowsOp>() != nullptr;
           });
  });
}

/// Whether an op computes indices of gathers, and nothing else, from smaller
/// tensors: a kernel that gathers reads those from its caches.
static bool spreadsIndices(Operation *op) {
  if (!isa<PointwiseOpInterface>(op) || op->use_empty())
    return false;
  auto size = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getNumElements();
  };
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) {
                        return size(operand) < size(op->getResult(0));
                      }) &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           auto gather = dyn_cast<GatherOp>(use.getOwner());
           return gather && use.get() == gather.getIndices() &&
                  use.get() != gather.getSource();
         });
}

/// Puts the ops of a `fact.prepare` back into the function.
static void inlinePrepared(Block &block) {
  for (auto prepare : llvm::make_early_inc_range(block.getOps<PrepareOp>())) {
    Block &body = prepare.getBody().front();
    Operation *yield = body.getTerminator();
    prepare.replaceAllUsesWith(yield->getOperands());
    yield->erase();
    block.getOperations().splice(prepare->getIterator(), body.getOperations());
    prepare.erase();
  }
}

namespace {
struct HoistPreparePass : fact::impl::HoistPrepareBase<HoistPreparePass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    inlinePrepared(block);
    // All ops that depend on weights and constants alone, in order.
    llvm::SetVector<Operation *> known;
    bool dependsOnWeight = false;
    for (Operation &op : block) {
      if (!isa<FactDialect>(op.getDialect()) || isa<FusedOp, PrepareOp>(op) ||
          spreadsIndices(&op))
        continue;
      if (llvm::all_of(op.getOperands(), [&](Value operand) {
            Operation *producer = operand.getDefiningOp();
            return producer && known.contains(producer);
          }))
        known.insert(&op);
    }
    // Sources cost nothing and stay, and so do views of them that strides can
    // describe; not filters of windows whose channels are apart.
    auto isFree = [&](Operation *op) {
      FailureOr<StridedView> view = StridedView::get(op->getResult(0));
      return succeeded(view) &&
             isa_and_nonnull<GetWeightOp, ConstantOp>(
                 view->base.getDefiningOp()) &&
             (view->shape.empty() || view->shape.back() == 1 ||
              view->strides.back() == 1 || !isFilter(op));
    };
    SmallVector<Value> results;
    for (Operation *op : known) {
      if (isFree(op))
        continue;
      dependsOnWeight = true;
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !known.contains(user);
            }))
          results.push_back(result);
    }
    if (!dependsOnWeight || results.empty())
      return;

    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(&block);
    auto prepare = PrepareOp::create(builder, getOperation().getLoc(),
                                     ValueRange(results).getTypes());
    builder.setInsertionPointToStart(&prepare.getBody().emplaceBlock());
    IRMapping mapping;
    for (Operation *op : known)
      builder.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value result : results)
      yielded.push_back(mapping.lookup(result));
    YieldOp::create(builder, prepare.getLoc(), yielded);
    for (auto [from, to] : llvm::zip_equal(results, prepare.getResults()))
      from.replaceUsesWithIf(
          to, [&](OpOperand &use) { return !known.contains(use.getOwner()); });
    SmallVector<Operation *> cloned;
    for (Operation &op : prepare.getBody().front().without_terminator())
      cloned.push_back(&op);
    auto eraseUnused = [](ArrayRef<Operation *> ops) {
      for (Operation *op : llvm::reverse(ops))
        if (op->use_empty())
          op->erase();
    };
    eraseUnused(known.getArrayRef());
    eraseUnused(cloned);
  }
};
} // namespace
