//===- RowPlaces.cpp - Gathers of one element of each row -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/RowPlaces.h"

using namespace mlir;
using namespace fact;

std::optional<int64_t> fact::getRowSize(GatherOp gather) {
  auto size = gather->getAttrOfType<IntegerAttr>(rowSizeName);
  return size ? std::optional(size.getInt()) : std::nullopt;
}

void fact::setRowSize(GatherOp gather, std::optional<int64_t> size) {
  gather->removeAttr(rowSizeName);
  if (size)
    gather->setAttr(rowSizeName,
                    Builder(gather.getContext()).getI64IntegerAttr(*size));
}

LogicalResult fact::verifyRowSize(Operation *op, Attribute size) {
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather)
    return op->emitOpError("attribute '")
           << rowSizeName << "' is allowed on gathers only";
  RankedTensorType source = gather.getSource().getType();
  auto number = dyn_cast<IntegerAttr>(size);
  int64_t rows = gather.getIndices().getType().getNumElements();
  if (!number || !number.getType().isInteger(64) ||
      number.getInt() * rows != source.getDimSize(gather.getDim()))
    return op->emitOpError("attribute '")
           << rowSizeName << "' is " << size << ", but dimension "
           << gather.getDim() << " of " << source << " must have so many "
           << "elements for each of " << rows << " indices";
  return success();
}
