//===- Recomputation.cpp - Values computed for each of their readers ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Recomputation.h"

using namespace mlir;
using namespace fact;

static int64_t countElements(Operation *op) {
  int64_t most = 0;
  for (Type type : op->getResultTypes())
    most = std::max(most, cast<RankedTensorType>(type).getNumElements());
  return most;
}

/// Whether an op of `readers` computes more elements from a value than it has,
/// directly or from what has as few.
static bool isBroadcast(Value value, const OpGroup &readers) {
  int64_t few = cast<RankedTensorType>(value.getType()).getNumElements();
  llvm::SmallSetVector<Value, 8> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (!readers.contains(user) ||
          !isa<PointwiseOpInterface, ViewOpInterface>(user))
        continue;
      if (isa<PointwiseOpInterface>(user) && countElements(user) >= 2 * few)
        return true;
      values.insert(user->getResult(0));
    }
  return false;
}

bool fact::recomputesTooMuch(StringRef rule, const OpGroup &before,
                             Operation *op, const Fusibility &fusibility) {
  if (!isa<PointwiseOpInterface>(op))
    return false;
  bool isProducer = isBroadcast(op->getResult(0), before);
  // A kernel with a row op computes what follows it once per row.
  OpGroup alone;
  alone.insert(op);
  bool isReader = llvm::none_of(before, llvm::IsaPred<RowOpInterface>) &&
                  llvm::any_of(op->getOperands(), [&](Value operand) {
                    Operation *producer = operand.getDefiningOp();
                    return producer && before.contains(producer) &&
                           isa<PointwiseOpInterface>(producer) &&
                           isBroadcast(operand, alone);
                  });
  return (isProducer || isReader) &&
         fusibility.areFasterApart(rule, before, op);
}
