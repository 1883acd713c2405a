//===- AbsoluteError.cpp - Where an approximation goes unseen -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/AbsoluteError.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fact;

/// Whether an absolute error of the operand becomes an absolute error of the
/// result that is not much larger.
static bool passesOn(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<ViewOpInterface>(op))
    return true;
  if (auto cast = dyn_cast<CastOp>(op))
    return isa<FloatType>(cast.getType().getElementType());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() != ReduceKind::prod &&
           reduce.getKind() != ReduceKind::argmax &&
           reduce.getKind() != ReduceKind::argmin;
  // A quotient by a constant is a product.
  if (isa<DivOp>(op))
    return use.getOperandNumber() == 0 &&
           op->getOperand(1).getDefiningOp<ConstantOp>();
  if (isa<SelectOp>(op))
    return use.getOperandNumber() > 0;
  if (auto scan = dyn_cast<ScanOp>(op))
    return scan.getKind() != ScanKind::prod;
  if (isa<GatherOp>(op))
    return use.getOperandNumber() == 0;
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return use.getOperandNumber() != 1 &&
           scatter.getKind() != ScatterKind::prod;
  // Slopes of activation functions are at most 1.2.
  return isa<AddOp, SubOp, MulOp, NegOp, AbsOp, ReluOp, MaximumOp, MinimumOp,
             ClampOp, ConcatOp, RotaryOp, SigmoidOp, TanhOp, ErfOp, SiluOp,
             GeluOp, MishOp, SoftplusOp, SinOp, CosOp>(op);
}

bool fact::toleratesAbsoluteError(Value value, bool whereStored) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    for (OpOperand &use : next.getUses()) {
      Operation *user = use.getOwner();
      bool rounds = isa<YieldOp>(user) || isa<ContractionOpInterface>(user);
      bool isExact =
          !whereStored && !isNarrowFloat(getElementTypeOrSelf(next.getType()));
      if (rounds ? isExact : !passesOn(use))
        return false;
      if (!rounds && seen.insert(user->getResult(0)).second)
        work.push_back(user->getResult(0));
    }
  }
  return true;
}
