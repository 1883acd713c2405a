//===- RowRegion.cpp - A norm, softmax or reduction in a region -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/RowRegion.h"

using namespace mlir;
using namespace fact;

/// The only row op of a region.
static FailureOr<RowOpInterface> getRowOp(FusedOp fused, EmitError emitError) {
  SmallVector<RowOpInterface> found;
  for (Operation &op : fused.getBodyOps())
    if (isa<NormOp, SoftmaxOp, ReduceOp>(op))
      found.push_back(cast<RowOpInterface>(op));
  if (found.size() != 1)
    return emitError() << "needs exactly one norm, softmax or reduction, not "
                       << found.size();
  return found.front();
}

FailureOr<RowRegion> RowRegion::read(FusedOp fused, EmitError emitError) {
  FailureOr<RowOpInterface> op = getRowOp(fused, emitError);
  if (failed(op))
    return failure();
  auto type = cast<RankedTensorType>((*op)->getOperand(0).getType());
  SmallVector<int64_t> dims = op->getRowDims();
  int64_t leading = type.getRank() - dims.size();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim != leading + int64_t(i)) {
      InFlightDiagnostic diagnostic = emitError();
      diagnostic << "'" << (*op)->getName()
                 << "' must be over the last dimensions of " << type
                 << ", not over ";
      llvm::interleaveComma(dims, diagnostic);
      return diagnostic;
    }

  RowRegion region{*op,
                   llvm::product_of(type.getShape().take_front(leading)),
                   op->getRowLength(),
                   {}};
  for (Value yielded : fused.getYield()->getOperands()) {
    int64_t count = cast<RankedTensorType>(yielded.getType()).getNumElements();
    bool isFull = count == region.rows * region.columns;
    if (!isFull && count != region.rows)
      return emitError() << "a result of type " << yielded.getType()
                         << " must have " << region.rows << " rows of "
                         << region.columns << " elements or of one";
    region.results.push_back({yielded, isFull});
  }
  return region;
}

Value RowRegion::getWeight() const {
  auto norm = dyn_cast<NormOp>(op);
  return norm ? norm.getWeight() : Value();
}

Value RowRegion::getBias() const {
  auto norm = dyn_cast<NormOp>(op);
  return norm ? norm.getBias() : Value();
}
