//===- Rounding.cpp - Where kernels round ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Rounding.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fact;

bool fact::isExact(Operation *op) {
  if (auto row = dyn_cast<RowOpInterface>(op))
    return row.getArithmetic().chooses;
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return scatter.getKind() != ScatterKind::sum &&
           scatter.getKind() != ScatterKind::prod;
  return isa<ViewOpInterface>(op) ||
         isa<CastOp, ConstantOp, ConcatOp, GatherOp, SelectOp, NegOp, AbsOp,
             ReluOp, MaximumOp, MinimumOp, ClampOp, SignOp, FloorOp, CeilOp,
             RoundOp>(op);
}

bool fact::isNarrowing(CastOp cast) {
  return isNarrowFloat(getElementTypeOrSelf(cast.getType())) &&
         !isNarrowFloat(getElementTypeOrSelf(cast.getOperand().getType()));
}

/// The rounded values that an element is chosen among.
static llvm::SetVector<Value>
getSources(Value value, llvm::function_ref<bool(Operation *)> inside) {
  llvm::SetVector<Value> seen, sources;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    Operation *op = seen[i].getDefiningOp();
    if (!op || !inside(op) || !isa<FloatType>(getElementTypeOrSelf(seen[i])))
      continue;
    if (isExact(op))
      seen.insert(op->operand_begin(), op->operand_end());
    else
      sources.insert(seen[i]);
  }
  return sources;
}

bool fact::comparesWithItself(Operation *op,
                              llvm::function_ref<bool(Operation *)> inside) {
  if (!isa<CompareOp>(op))
    return false;
  // NaN is asked for by `x != x`.
  if (op->getOperand(0) == op->getOperand(1))
    return false;
  llvm::SetVector<Value> lhs = getSources(op->getOperand(0), inside);
  llvm::SetVector<Value> rhs = getSources(op->getOperand(1), inside);
  return llvm::any_of(lhs, [&](Value source) { return rhs.contains(source); });
}
