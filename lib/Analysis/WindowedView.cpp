//===- WindowedView.cpp - Rows of a product as windows of images ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/WindowedView.h"
#include "fact/Analysis/ReadThrough.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fact;

/// The element of a splat; null for other values.
static TypedAttr getSplat(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return {};
  return cast<TypedAttr>(dense.getSplatValue<Attribute>());
}

static bool isZero(TypedAttr element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().isZero();
  auto number = dyn_cast<IntegerAttr>(element);
  return number && number.getValue().isZero();
}

std::optional<SplatPadding> SplatPadding::get(Operation *op) {
  auto concat = dyn_cast_or_null<ConcatOp>(op);
  if (!concat)
    return std::nullopt;
  SplatPadding padding{{}, int64_t(concat.getDim()), 0, {}};
  for (Value input : concat.getInputs()) {
    TypedAttr splat = getSplat(input);
    if (!splat || (padding.fill && splat != padding.fill)) {
      if (padding.source)
        return std::nullopt;
      padding.source = input;
      continue;
    }
    padding.fill = splat;
    if (!padding.source)
      padding.low +=
          cast<RankedTensorType>(input.getType()).getDimSize(padding.dim);
  }
  return padding.source && padding.fill ? std::optional(padding) : std::nullopt;
}

std::optional<ZeroPadding> ZeroPadding::get(Operation *op) {
  std::optional<SplatPadding> padding = SplatPadding::get(op);
  return padding && isZero(padding->fill) ? std::optional(ZeroPadding{*padding})
                                          : std::nullopt;
}

PaddedImage PaddedImage::get(WindowsOp windows, bool onlyZeros) {
  int64_t dim = windows.getDim(), count = windows.getKernel().size();
  int64_t rank = windows.getOperand().getType().getRank();
  PaddedImage image;
  image.source = windows.getOperand();
  image.order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  image.low.assign(rank, 0);
  while (true) {
    if (auto permute = image.source.getDefiningOp<PermuteOp>()) {
      for (int64_t &at : image.order)
        at = permute.getDims()[at];
      image.source = permute.getOperand();
      continue;
    }
    std::optional<SplatPadding> padding =
        SplatPadding::get(image.source.getDefiningOp());
    if (!padding || (image.fill && padding->fill != image.fill) ||
        (onlyZeros && !isZero(padding->fill)))
      return image;
    int64_t padded =
        llvm::find(image.order, padding->dim) - image.order.begin();
    if (padded < dim || padded >= dim + count)
      return image;
    image.low[padded] += padding->low;
    image.fill = padding->fill;
    image.source = padding->source;
  }
}

WindowsOp fact::getReducedWindows(ReduceOp reduce) {
  SmallVector<Value> values{reduce.getOperand()};
  // Beside the windows there may be filters, which are no windows.
  for (size_t i = 0; i < values.size() && i < 16; ++i) {
    Operation *op = values[i].getDefiningOp();
    if (auto windows = dyn_cast_or_null<WindowsOp>(op))
      return windows;
    if (isa_and_nonnull<PointwiseOpInterface>(op))
      llvm::append_range(values, op->getOperands());
  }
  return {};
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

  PaddedImage padded = PaddedImage::get(windows, /*onlyZeros=*/true);
  llvm::append_range(view.zeros, ArrayRef(padded.low).slice(dim, count));
  FailureOr<StridedView> image = StridedView::get(padded.source);
  if (failed(image))
    return failure();
  view.image = image->permute(padded.order);
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
