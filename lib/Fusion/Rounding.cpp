//===- Rounding.cpp - 16-bit values that kernels do not round -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rounding.h"
#include "fact/Dialect/Fact/Types.h"

using namespace mlir;
using namespace fact;

bool fact::isWideningOf16Bits(CastOp cast) {
  Type from = cast.getOperand().getType().getElementType();
  Type to = cast.getType().getElementType();
  return isNarrowFloat(from) && isa<FloatType>(to) && !isNarrowFloat(to);
}

static bool readsUnrounded(Operation *op, const OpGroup &group) {
  SmallVector<Operation *> ops{op};
  constexpr size_t farthest = 16;
  for (size_t i = 0; i < ops.size() && i < farthest; ++i) {
    auto cast = dyn_cast<CastOp>(ops[i]);
    if (cast && !isWideningOf16Bits(cast))
      continue;
    for (Value operand : ops[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || group.contains(producer))
        continue;
      if (cast && isa<ContractionOpInterface>(producer))
        return true;
      if (isa<PointwiseOpInterface>(producer))
        ops.push_back(producer);
    }
  }
  return false;
}

static bool reducesUnrounded(Operation *op, const OpGroup &group) {
  if (!isa<ReduceOp>(op))
    return false;
  auto cast = op->getOperand(0).getDefiningOp<CastOp>();
  if (!cast || !isWideningOf16Bits(cast))
    return false;
  Operation *producer = cast.getOperand().getDefiningOp();
  while (isa_and_nonnull<ViewOpInterface>(producer) && group.contains(producer))
    producer = producer->getOperand(0).getDefiningOp();
  // Casts round.
  return producer && group.contains(producer) && !isa<CastOp>(producer);
}

bool fact::isForbidden(const OpGroup &group, FusionLimit limit) {
  return limit == FusionLimit::productsUnrounded &&
         llvm::any_of(group, [&](Operation *op) {
           return readsUnrounded(op, group) || reducesUnrounded(op, group);
         });
}
