//===- Extents.cpp - The sizes of a region's problem ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Family.h"

using namespace mlir;
using namespace fact;

static int64_t getElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Whether something other than a contraction reads the value.
static bool isReadElsewhere(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<ViewOpInterface>(user) ? isReadElsewhere(user->getResult(0))
                                      : !isa<ContractionOpInterface>(user);
  });
}

int64_t fact::countTensors(FusedOp fused, int64_t unit) {
  double elements = 0;
  for (BlockArgument argument : fused.getBody().getArguments())
    if (isReadElsewhere(argument))
      elements += double(std::min(getElements(argument), unit));
  for (Value result : fused.getResults())
    elements += double(std::min(getElements(result), unit));
  return std::llround(elements / double(std::max<int64_t>(unit, 1)));
}

ProblemExtents fact::getAnchorExtents(FusedOp fused) {
  for (Operation &op : fused.getBodyOps())
    if (auto contraction = dyn_cast<ContractionOpInterface>(op)) {
      ProblemExtents extents = contraction.getProblemExtents();
      extents["tensors"] = countTensors(fused, getElements(op.getResult(0)));
      return extents;
    }
  for (Operation &op : fused.getBodyOps())
    if (auto rows = dyn_cast<RowOpInterface>(op)) {
      int64_t elements = getElements(op.getOperand(0));
      int64_t columns = rows.getRowLength();
      return {{"rows", elements / std::max<int64_t>(columns, 1)},
              {"columns", columns},
              {"tensors", countTensors(fused, elements)}};
    }
  int64_t elements = 0;
  for (Value result : fused.getResults())
    elements = std::max(elements, getElements(result));
  return {{"elements", elements}, {"tensors", countTensors(fused, elements)}};
}
