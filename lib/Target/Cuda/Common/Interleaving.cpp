//===- Interleaving.cpp - Tensors between each other's elements -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interleaving.h"

using namespace mlir;
using namespace fact;

/// Where the elements that a view is picked from begin.
static int64_t getFirst(const StridedView &view) {
  return view.offset - view.offset % view.strides.back();
}

bool fact::isInterleaved(const StridedView &operand) {
  // Beyond that, a vector spans more sectors than it has elements in.
  constexpr int64_t mostApart = 4;
  int64_t step = operand.strides.back();
  if (step < 2 || step > mostApart || operand.offset < 0)
    return false;
  int64_t end = getFirst(operand) + operand.shape.back() * step;
  for (size_t i = 0; i + 1 < operand.shape.size(); ++i) {
    if (operand.strides[i] < 0)
      return false;
    end += (operand.shape[i] - 1) * operand.strides[i];
  }
  return end <= getTensorType(operand.base).getNumElements();
}

bool fact::isPickedBefore(ArrayRef<StridedView> operands, size_t operand) {
  const StridedView &view = operands[operand];
  return isInterleaved(view) &&
         llvm::any_of(
             operands.take_front(operand), [&](const StridedView &other) {
               return other.base == view.base &&
                      other.strides == view.strides && isInterleaved(other) &&
                      getFirst(other) == getFirst(view);
             });
}

int64_t fact::getPickedWidth(const StridedView &operand, int64_t vector) {
  if (!isInterleaved(operand) || operand.shape.back() % vector != 0)
    return 1;
  int64_t spanned = vector * operand.strides.back();
  auto divides = [&](int64_t width) {
    return spanned % width == 0 && getFirst(operand) % width == 0 &&
           llvm::all_of(ArrayRef(operand.strides).drop_back(),
                        [&](int64_t stride) { return stride % width == 0; });
  };
  int64_t width =
      16 / getStorageBytes(getTensorType(operand.base).getElementType());
  while (width > 1 && !divides(width))
    width /= 2;
  return std::max<int64_t>(width, 1);
}

void fact::printPicked(raw_ostream &os, const StridedView &operand,
                       int64_t buffer, int64_t vector) {
  int64_t width = getPickedWidth(operand, vector);
  os << (width > 1 ? "Picked<" : "");
  printStrided(os, operand, buffer);
  if (width > 1)
    os << ", " << width << '>';
}

int64_t fact::getRunLength(ArrayRef<StridedView> results,
                           ArrayRef<int64_t> buffers, size_t dim) {
  int64_t length = results.front().strides[dim];
  if (length < 2 || length > 8 || results.size() % length != 0)
    return 1;
  for (size_t i = 0; i < results.size(); ++i)
    if (buffers[i] != buffers.front() ||
        results[i].strides != results.front().strides ||
        results[i].offset !=
            results[i - i % length].offset + int64_t(i) % length)
      return 1;
  return length;
}
