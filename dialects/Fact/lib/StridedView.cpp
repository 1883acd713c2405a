//===- StridedView.cpp - Chains of views as base, offset, strides ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/StridedView.h"
#include "fact/Dialect/Fact/Placement.h"

using namespace mlir;
using namespace fact;

SmallVector<int64_t> fact::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

StridedView StridedView::identity(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return {value, 0, SmallVector<int64_t>(type.getShape()),
          rowMajorStrides(type.getShape())};
}

bool StridedView::isRowMajor() const {
  int64_t expected = 1;
  for (auto [size, stride] : llvm::reverse(llvm::zip_equal(shape, strides))) {
    if (size != 1 && stride != expected)
      return false;
    expected *= size;
  }
  return true;
}

/// Walks both shapes from the right in groups with equal element counts. Within
/// a group, the old dimensions must be contiguous.
FailureOr<StridedView> StridedView::reshape(ArrayRef<int64_t> newShape) const {
  StridedView view{base, offset, SmallVector<int64_t>(newShape),
                   SmallVector<int64_t>(newShape.size(), 0)};
  if (llvm::is_contained(newShape, 0)) {
    view.strides = rowMajorStrides(newShape);
    return view;
  }
  int64_t from = shape.size() - 1, to = newShape.size() - 1;
  while (from >= 0 || to >= 0) {
    if (from >= 0 && shape[from] == 1) {
      --from;
      continue;
    }
    if (to >= 0 && newShape[to] == 1) {
      --to;
      continue;
    }
    if (from < 0 || to < 0)
      return failure();
    // One group: [run of old dims] becomes [run of new dims].
    int64_t stride = strides[from];
    int64_t oldCount = shape[from], newCount = newShape[to];
    int64_t last = to;
    int64_t expected = stride * shape[from];
    while (oldCount != newCount) {
      if (oldCount < newCount) {
        --from;
        while (from >= 0 && shape[from] == 1)
          --from;
        if (from < 0 || strides[from] != expected)
          return failure();
        oldCount *= shape[from];
        expected *= shape[from];
      } else {
        --to;
        if (to < 0)
          return failure();
        newCount *= newShape[to];
      }
    }
    for (int64_t i = last; i >= to; --i) {
      view.strides[i] = stride;
      stride *= newShape[i];
    }
    --from;
    --to;
  }
  return view;
}

StridedView StridedView::permute(ArrayRef<int64_t> dims) const {
  StridedView view{base, offset, {}, {}};
  for (int64_t dim : dims) {
    view.shape.push_back(shape[dim]);
    view.strides.push_back(strides[dim]);
  }
  return view;
}

StridedView StridedView::slice(int64_t dim, int64_t start, int64_t size,
                               int64_t step) const {
  StridedView view = *this;
  view.offset += start * strides[dim];
  view.shape[dim] = size;
  view.strides[dim] *= step;
  return view;
}

StridedView StridedView::expand(ArrayRef<int64_t> newShape) const {
  StridedView view{base, offset, SmallVector<int64_t>(newShape),
                   SmallVector<int64_t>(newShape.size(), 0)};
  size_t leading = newShape.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == newShape[leading + i])
      view.strides[leading + i] = strides[i];
  return view;
}

FailureOr<StridedView> StridedView::get(Value value) {
  auto op = value.getDefiningOp<ViewOpInterface>();
  if (!op)
    return identity(value);
  FailureOr<StridedView> view = get(op->getOperand(0));
  if (failed(view))
    return failure();
  return op.applyView(*view);
}

FailureOr<StridedView> StridedView::getDestination(Value value, Value result) {
  if (value == result)
    return identity(result);
  // Walks from `result` back to `value`, and inverts each view on the way.
  StridedView view = identity(result);
  for (Value at = result; at != value;) {
    Operation *step = at.getDefiningOp();
    if (auto permute = dyn_cast_if_present<PermuteOp>(step)) {
      SmallVector<int64_t> inverse(permute.getDims().size());
      for (auto [i, dim] : llvm::enumerate(permute.getDims()))
        inverse[dim] = i;
      view = view.permute(inverse);
      at = permute.getOperand();
    } else if (auto reshape = dyn_cast_if_present<ReshapeOp>(step)) {
      FailureOr<StridedView> reshaped =
          view.reshape(reshape.getOperand().getType().getShape());
      if (failed(reshaped))
        return failure();
      view = *reshaped;
      at = reshape.getOperand();
    } else {
      auto concat = dyn_cast_if_present<ConcatOp>(step);
      std::optional<Placement> placement =
          concat ? Placement::get(concat) : std::nullopt;
      if (!placement)
        return failure();
      view = view.slice(placement->dim, placement->start, placement->size,
                        /*step=*/1);
      at = placement->value;
    }
  }
  return view;
}

void fact::collapseDimensions(MutableArrayRef<StridedView> views) {
  if (views.empty())
    return;
  SmallVector<int64_t> shape = views.front().shape;
  SmallVector<SmallVector<int64_t>> strides(views.size());
  SmallVector<int64_t> collapsed;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    bool merges = !collapsed.empty();
    for (auto [view, kept] : llvm::zip_equal(views, strides))
      merges = merges && kept.back() == view.strides[i] * shape[i];
    if (!merges) {
      collapsed.push_back(1);
      for (SmallVector<int64_t> &kept : strides)
        kept.push_back(0);
    }
    collapsed.back() *= shape[i];
    for (auto [view, kept] : llvm::zip_equal(views, strides))
      kept.back() = view.strides[i];
  }
  if (collapsed.empty()) {
    collapsed.push_back(1);
    for (SmallVector<int64_t> &kept : strides)
      kept.push_back(0);
  }
  for (auto [view, kept] : llvm::zip_equal(views, strides)) {
    view.shape = collapsed;
    view.strides = kept;
  }
}
