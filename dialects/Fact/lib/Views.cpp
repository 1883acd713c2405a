//===- Views.cpp - Index mappings of views --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// For kernels
//===----------------------------------------------------------------------===//

FailureOr<StridedView> ReshapeOp::applyView(const StridedView &operand) {
  return operand.reshape(getType().getShape());
}

FailureOr<StridedView> PermuteOp::applyView(const StridedView &operand) {
  return operand.permute(getDims());
}

FailureOr<StridedView> SliceOp::applyView(const StridedView &operand) {
  return operand.slice(getDim(), getStart(), getType().getDimSize(getDim()),
                       getStep());
}

FailureOr<StridedView> ExpandOp::applyView(const StridedView &operand) {
  return operand.expand(getType().getShape());
}

FailureOr<StridedView> WindowsOp::applyView(const StridedView &operand) {
  size_t dim = getDim(), count = getKernel().size();
  StridedView view = operand;
  view.shape = llvm::to_vector(getType().getShape());
  auto place = view.strides.begin() + dim;
  SmallVector<int64_t> inside;
  for (size_t i = 0; i < count; ++i, ++place) {
    inside.push_back(*place * getDilations()[i]);
    *place *= getStrides()[i];
  }
  view.strides.insert(place, inside.begin(), inside.end());
  return view;
}

//===----------------------------------------------------------------------===//
// For references; shares no code with the functions above
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr> ReshapeOp::getSourceIndex(ArrayRef<AffineExpr> index) {
  // Linearizes the row-major index and splits it by the source's sizes.
  AffineExpr position = getAffineConstantExpr(0, getContext());
  for (auto [expr, size] : llvm::zip_equal(index, getType().getShape()))
    position = position * size + expr;
  SmallVector<AffineExpr> source;
  for (int64_t size : llvm::reverse(getOperand().getType().getShape())) {
    source.push_back(position % size);
    position = position.floorDiv(size);
  }
  std::reverse(source.begin(), source.end());
  return source;
}

SmallVector<AffineExpr> PermuteOp::getSourceIndex(ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> source(index.size());
  for (auto [expr, dim] : llvm::zip_equal(index, getDims()))
    source[dim] = expr;
  return source;
}

SmallVector<AffineExpr> SliceOp::getSourceIndex(ArrayRef<AffineExpr> index) {
  SmallVector<AffineExpr> source(index);
  source[getDim()] = source[getDim()] * getStep() + getStart();
  return source;
}

SmallVector<AffineExpr> ExpandOp::getSourceIndex(ArrayRef<AffineExpr> index) {
  ArrayRef<int64_t> from = getOperand().getType().getShape();
  SmallVector<AffineExpr> source(index.take_back(from.size()));
  for (auto [expr, size] : llvm::zip_equal(source, from))
    if (size == 1)
      expr = getAffineConstantExpr(0, getContext());
  return source;
}

SmallVector<AffineExpr> WindowsOp::getSourceIndex(ArrayRef<AffineExpr> index) {
  size_t dim = getDim(), count = getKernel().size();
  SmallVector<AffineExpr> source(index.take_front(dim + count));
  for (size_t i = 0; i < count; ++i)
    source[dim + i] = source[dim + i] * getStrides()[i] +
                      index[dim + count + i] * getDilations()[i];
  llvm::append_range(source, index.drop_front(dim + 2 * count));
  return source;
}
