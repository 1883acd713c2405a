//===- RowExponentials.cpp - Sums of exponentials of rows -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/RowExponentials.h"
#include "fact/Analysis/ConstantEvaluation.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace fact;

/// Looks through casts to f32, which change no value that a kernel computes.
static Value skipCasts(Value value, llvm::SetVector<Operation *> &ops) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    Value operand = cast.getOperand();
    if (!getElementTypeOrSelf(value.getType()).isF32() ||
        !isa<FloatType>(getElementTypeOrSelf(operand.getType())) ||
        getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth() > 32)
      break;
    ops.insert(cast);
    value = operand;
  }
  return value;
}

/// The maximum that select(abs(maximum) == inf, 0, maximum) guards.
static Value skipGuard(Value value, llvm::SetVector<Operation *> &ops) {
  auto select = value.getDefiningOp<SelectOp>();
  if (!select || getSplatConstant(select.getLhs()) != 0.0)
    return {};
  auto compare = select.getCondition().getDefiningOp<CompareOp>();
  if (!compare || compare.getPredicate() != Predicate::eq ||
      getSplatConstant(compare.getRhs()) != double(INFINITY))
    return {};
  auto abs = compare.getLhs().getDefiningOp<AbsOp>();
  if (!abs || abs.getOperand() != select.getRhs())
    return {};
  ops.insert(select);
  ops.insert(compare);
  ops.insert(abs);
  return select.getRhs();
}

std::optional<RowExponentials> RowExponentials::get(ReduceOp sum) {
  if (sum.getKind() != ReduceKind::sum)
    return std::nullopt;
  // From the sum on.
  llvm::SetVector<Operation *> ops;
  ops.insert(sum);
  auto exp = skipCasts(sum.getOperand(), ops).getDefiningOp<ExpOp>();
  if (!exp)
    return std::nullopt;
  ops.insert(exp);
  auto sub = skipCasts(exp.getOperand(), ops).getDefiningOp<SubOp>();
  if (!sub)
    return std::nullopt;
  ops.insert(sub);
  RowExponentials found;
  found.sum = sum;
  Value shift = skipCasts(sub.getRhs(), ops);
  if (Value guarded = skipGuard(shift, ops)) {
    found.isGuarded = true;
    shift = skipCasts(guarded, ops);
  }
  found.maximum = shift.getDefiningOp<ReduceOp>();
  if (!found.maximum || found.maximum.getKind() != ReduceKind::max ||
      !found.maximum.getKeep() || found.maximum.getDims() != sum.getDims())
    return std::nullopt;
  ops.insert(found.maximum);
  found.value = skipCasts(found.maximum.getOperand(), ops);
  if (skipCasts(sub.getLhs(), ops) != found.value)
    return std::nullopt;
  found.ops = ops.takeVector();
  llvm::sort(found.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return found;
}
