//===- Parts.cpp - Slices and joins that are memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/Parts.h"
#include "fact/Dialect/Fact/Types.h"

using namespace mlir;
using namespace fact;

/// Whether all dimensions before `dim` are of size 1.
static bool isOutermost(RankedTensorType type, int64_t dim) {
  return type.hasStaticShape() &&
         llvm::all_of(type.getShape().take_front(dim),
                      [](int64_t size) { return size == 1; });
}

/// Bytes of one element of dimension `dim`.
static int64_t getBytesPer(RankedTensorType type, int64_t dim) {
  int64_t bytes = getStorageBytes(type.getElementType());
  for (int64_t size : type.getShape().drop_front(dim + 1))
    bytes *= size;
  return bytes;
}

std::optional<int64_t> fact::getPartOffset(SliceOp slice) {
  RankedTensorType type = slice.getOperand().getType();
  int64_t dim = slice.getDim();
  if (!isOutermost(type, dim) ||
      (slice.getStep() != 1 && slice.getType().getDimSize(dim) != 1))
    return std::nullopt;
  return int64_t(slice.getStart()) * getBytesPer(type, dim);
}

SmallVector<int64_t> fact::getPartOffsets(ConcatOp concat) {
  int64_t dim = concat.getDim();
  SmallVector<int64_t> offsets;
  if (!isOutermost(concat.getType(), dim))
    return offsets;
  int64_t offset = 0;
  for (Value input : concat.getInputs()) {
    offsets.push_back(offset);
    offset += getStorageBytes(input.getType());
  }
  return offsets;
}
