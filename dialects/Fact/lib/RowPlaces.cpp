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
  auto number = dyn_cast<IntegerAttr>(size);
  if (!number || !number.getType().isInteger(64))
    return op->emitOpError("attribute '")
           << rowSizeName << "' is " << size
           << ", but must be an integer of 64 bits";
  // Attributes are verified before their op: what is wrong with the op itself
  // is for its own verifier to say.
  auto typeOf = [&](unsigned operand) {
    return operand < op->getNumOperands()
               ? dyn_cast<RankedTensorType>(op->getOperand(operand).getType())
               : RankedTensorType();
  };
  RankedTensorType source = typeOf(0), indices = typeOf(1);
  auto dim = op->getAttrOfType<IntegerAttr>(gather.getDimAttrName());
  if (!source || !indices || !dim || dim.getInt() < 0 ||
      dim.getInt() >= source.getRank())
    return success();
  if (!source.hasStaticShape() || !indices.hasStaticShape())
    return op->emitOpError("attribute '")
           << rowSizeName << "' needs static shapes, but the operands are "
           << source << " and " << indices;
  int64_t rows = indices.getNumElements();
  int64_t elements = source.getDimSize(dim.getInt());
  if (rows == 0 ? elements != 0
                : elements % rows || number.getInt() > elements / rows)
    return op->emitOpError("attribute '")
           << rowSizeName << "' is " << size << ", but dimension "
           << dim.getInt() << " of " << source
           << " must have at least so many elements for each of " << rows
           << " indices";
  return success();
}
