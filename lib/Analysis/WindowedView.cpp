//===- WindowedView.cpp - Rows of a product as windows of images ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/WindowedView.h"
#include "fact/Analysis/ReadThrough.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fact;

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat()) ||
         matchPattern(value, m_Zero());
}

std::optional<ZeroPadding> ZeroPadding::get(Operation *op) {
  auto concat = dyn_cast_or_null<ConcatOp>(op);
  if (!concat)
    return std::nullopt;
  ZeroPadding padding{{}, int64_t(concat.getDim()), 0};
  for (Value input : concat.getInputs()) {
    if (!isZero(input)) {
      if (padding.source)
        return std::nullopt;
      padding.source = input;
    } else if (!padding.source) {
      padding.low += cast<RankedTensorType>(input.getType())
                         .getDimSize(padding.dim);
    }
  }
  return padding.source ? std::optional(padding) : std::nullopt;
}

FailureOr<WindowedView> WindowedView::get(Value rows) {
  auto windows = skipReshapes(rows).getDefiningOp<WindowsOp>();
  if (!windows)
    return failure();
  int64_t dim = windows.getDim(), count = windows.getKernel().size();
  ArrayRef<int64_t> shape = windows.getType().getShape();
  if (cast<RankedTensorType>(rows.getType()).getShape().back() !=
      llvm::product_of(shape.drop_front(dim + count)))
    return failure();
  WindowedView view;
  llvm::append_range(view.counts, shape.slice(dim, count));
  llvm::append_range(view.kernel, windows.getKernel());
  llvm::append_range(view.strides, windows.getStrides());
  llvm::append_range(view.dilations, windows.getDilations());

  // Dimension i of the images is dimension `order[i]` of `value`.
  Value value = windows.getOperand();
  int64_t rank = windows.getOperand().getType().getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> zeros(rank, 0);
  while (true) {
    if (auto permute = value.getDefiningOp<PermuteOp>()) {
      for (int64_t &at : order)
        at = permute.getDims()[at];
      value = permute.getOperand();
      continue;
    }
    std::optional<ZeroPadding> padding = ZeroPadding::get(value.getDefiningOp());
    if (!padding)
      break;
    int64_t padded = llvm::find(order, padding->dim) - order.begin();
    if (padded < dim || padded >= dim + count)
      break;
    zeros[padded] += padding->low;
    value = padding->source;
  }
  llvm::append_range(view.zeros, ArrayRef(zeros).slice(dim, count));
  FailureOr<StridedView> image = StridedView::get(value);
  if (failed(image))
    return failure();
  view.image = image->permute(order);
  // One dimension of channels.
  ArrayRef<int64_t> sizes = view.image.shape;
  SmallVector<int64_t> merged(sizes.take_front(dim + count));
  merged.push_back(llvm::product_of(sizes.drop_front(dim + count)));
  image = view.image.reshape(merged);
  if (failed(image))
    return failure();
  view.image = *image;
  return view;
}

int64_t WindowedView::getRows() const {
  ArrayRef<int64_t> batches = ArrayRef(image.shape).take_front(getBatchRank());
  return llvm::product_of(batches) * llvm::product_of(counts);
}
