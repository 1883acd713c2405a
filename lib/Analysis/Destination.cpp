//===- Destination.cpp - Where the results of a region land ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Destination.h"

using namespace mlir;
using namespace fact;

static bool isStripped(Value value) {
  return !isa_and_nonnull<ReshapeOp, PermuteOp>(value.getDefiningOp());
}

SmallVector<Destination> fact::getDestinations(Value yielded) {
  SmallVector<Destination> destinations;
  for (Value value = yielded;; value = value.getDefiningOp()->getOperand(0)) {
    FailureOr<StridedView> view = StridedView::getDestination(value, yielded);
    if (failed(view))
      return destinations;
    destinations.push_back({value, *view});
    if (isStripped(value))
      return destinations;
  }
}

FailureOr<Destination> fact::getDestination(Value yielded,
                                            EmitError emitError) {
  Destination last = getDestinations(yielded).back();
  if (!isStripped(last.value))
    return emitError() << "the views after the last op put the elements of "
                       << last.value.getType()
                       << " where strides cannot describe them";
  return last;
}

SmallVector<Destination> fact::getParts(ConcatOp concat,
                                        const StridedView &view) {
  SmallVector<Destination> parts;
  int64_t start = 0, dim = concat.getDim();
  for (Value input : concat.getInputs()) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
    parts.push_back({input, view.slice(dim, start, size, /*step=*/1)});
    start += size;
  }
  return parts;
}
