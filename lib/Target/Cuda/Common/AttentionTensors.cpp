//===- AttentionTensors.cpp - Attention in its buffers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "AttentionTensors.h"

using namespace mlir;
using namespace fact;

static AttentionTensor getTensor(const StridedView &view, int64_t buffer,
                                 Type element) {
  return {buffer, element, llvm::to_vector(view.shape),
          llvm::to_vector(view.strides), view.offset};
}

static AttentionTensor getOperand(const StridedView &view) {
  return getTensor(view, getBuffer(view.base),
                   getTensorType(view.base).getElementType());
}

FailureOr<AttentionTensors> AttentionTensors::get(FusedOp fused,
                                                  EmitError emitError) {
  FailureOr<AttentionRegion> region = AttentionRegion::get(fused, emitError);
  if (failed(region))
    return failure();
  AttentionTensors tensors{*region, getOperand(region->query),
                           getOperand(region->key), getOperand(region->value),
                           getTensor(region->destination,
                                     getResultBuffer(fused, 0),
                                     region->element)};
  if (region->mask) {
    tensors.mask = getOperand(*region->mask);
    if (tensors.mask->element.isF64())
      return emitError() << "the mask must be f16, bf16 or f32, not "
                         << tensors.mask->element;
  }
  return tensors;
}

void AttentionTensor::print(raw_ostream &os, ArrayRef<int64_t> strides) const {
  os << buffer << ", " << getElementName(element);
  for (int64_t stride : strides)
    os << ", " << stride;
  if (offset)
    os << ", " << offset;
}

void AttentionTensors::printMask(raw_ostream &os) const {
  os << "Mask<";
  mask->print(os, {mask->getStride(0, 0), mask->getStride(1, 0),
                   mask->getStride(2, 0), mask->getStride(3, 0)});
  os << '>';
}
