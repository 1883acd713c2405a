//===- WindowsTensor.cpp - Windows as TMA loads them ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WindowsTensor.h"

using namespace mlir;
using namespace fact;

/// The width with the least cycles per row. TMA takes about 4 for each line,
/// whether of 32 or of 128 bytes (measured); wgmma multiplies 4096 bytes per
/// cycle and column at best, the zeros that channels are filled up with too.
static int64_t chooseWidth(int64_t channels, int64_t elementBytes,
                           int64_t columns) {
  int64_t best = 0;
  double least = 0;
  for (int64_t bytes : {128, 64, 32, 16}) {
    int64_t width = bytes / elementBytes;
    double lines = llvm::divideCeil(channels, width), loads = 4 * lines;
    double products = lines * bytes * std::min<int64_t>(columns, 256) / 3072;
    double cycles = std::max(loads, products) + 0.1 * (loads + products);
    if (!best || cycles < least)
      std::tie(best, least) = std::pair(width, cycles);
  }
  return best;
}

/// Checks the numbers that a tensor map of this rank has few bits for.
static LogicalResult checkDim(const WindowsTensor::Dim &dim, size_t rank,
                              EmitError emitError) {
  static constexpr int64_t most[] = {32767, 127, 15};
  int64_t limit = most[rank - 1];
  int64_t last = (dim.count - 1) * dim.step - dim.zeros;
  int64_t behind = last - (dim.extent - 1);
  int64_t reach = (dim.kernel - 1) * dim.dilation;
  if (dim.step > 8)
    return emitError() << "TMA loads windows that begin at most 8 elements "
                          "apart, not "
                       << dim.step;
  if (dim.zeros > limit + 1 || behind > limit || behind < -limit - 1)
    return emitError() << "windows of " << rank << " dimensions begin at most "
                       << limit + 1
                       << " elements before an image, and the last one "
                       << -limit - 1 << " to " << limit
                       << " behind its last element, not " << dim.zeros
                       << " and " << behind;
  if (reach > 2 * limit + 1)
    return emitError() << "a window of " << rank
                       << " dimensions reaches over at most " << 2 * limit + 2
                       << " elements, not " << reach + 1;
  return success();
}

/// Makes the images of each group a dimension of windows, of one element each.
static WindowedView addImages(WindowedView view, int64_t images) {
  auto addFront = [](SmallVector<int64_t> &numbers, int64_t number) {
    numbers.insert(numbers.begin(), number);
  };
  addFront(view.zeros, 0);
  addFront(view.counts, images);
  addFront(view.kernel, 1);
  addFront(view.strides, 1);
  addFront(view.dilations, 1);
  return view;
}

/// Joins the taps of the innermost dimension where their channels follow each
/// other in memory, and are then one run of channels per window: channels that
/// TMA does not load, and few, of which it would load a line for each tap.
static void joinTaps(WindowsTensor &windows, int64_t elementBytes) {
  WindowsTensor::Dim &inner = windows.dims.back();
  int64_t bytes = windows.channels * elementBytes;
  bool isFew = bytes <= 32 && inner.kernel > 2;
  if ((bytes % 16 == 0 && !isFew) || inner.zeros || inner.dilation != 1 ||
      inner.stride != windows.channels || bytes * inner.kernel % 16)
    return;
  windows.channels *= inner.kernel;
  windows.overlaps = true;
  inner = {inner.count, inner.step * inner.stride, 0, inner.count, 1, 1, 1};
}

FailureOr<WindowsTensor> WindowsTensor::get(const WindowedView &of,
                                            int64_t groups, int64_t columns,
                                            EmitError emitError) {
  // All batches are images at one stride, or groups and images at one each.
  ArrayRef<int64_t> shape = of.image.shape;
  int64_t images = llvm::product_of(shape.take_front(of.getBatchRank()));
  if (images % groups)
    return emitError() << "the " << groups
                       << " groups of windows must be the "
                          "first dimension of their images";
  SmallVector<int64_t> merged{images};
  if (groups != 1)
    merged = {groups, images / groups};
  llvm::append_range(merged, shape.drop_front(of.getBatchRank()));
  WindowedView view = groups == 1 ? of : addImages(of, images / groups);
  size_t rank = view.counts.size();
  if (rank > 3)
    return emitError() << "TMA loads windows of at most 3 dimensions, or 2 of "
                          "groups, not "
                       << of.counts.size();
  FailureOr<StridedView> image = view.image.reshape(merged);
  if (failed(image))
    return emitError() << "the images of a convolution must lie at one stride";
  WindowsTensor windows;
  windows.buffer = getBuffer(image->base);
  windows.element = getTensorType(image->base).getElementType();
  windows.channels = view.getChannels();
  windows.images = merged.front();
  windows.offset = image->offset;
  int64_t bytes = getStorageBytes(windows.element);
  if (windows.channels != 1 && image->strides.back() != 1)
    return emitError() << "the channels of an image must be contiguous, and "
                          "lie at a stride of "
                       << image->strides.back();
  // A dimension of one element may have any stride.
  int64_t inner = windows.channels;
  auto getStride = [&](size_t dim) {
    int64_t stride = merged[dim] == 1 ? inner : image->strides[dim];
    inner = merged[dim] * stride;
    return stride;
  };
  for (size_t i = rank; i-- > 0;) {
    // One window has no next one.
    int64_t step = view.counts[i] == 1 ? 1 : view.strides[i];
    windows.dims.insert(windows.dims.begin(),
                        {merged[i + 1], getStride(i + 1), view.zeros[i],
                         view.counts[i], view.kernel[i], step,
                         view.dilations[i]});
  }
  windows.imageStride = getStride(0);
  joinTaps(windows, bytes);
  if (windows.channels * bytes % 16)
    return emitError() << "the channels of a pixel must be multiples of 16 "
                          "bytes for TMA, not "
                       << windows.channels << " elements of "
                       << windows.element;
  // TMA takes as long for these as for a line of 128 bytes.
  if (groups != 1 && windows.channels * bytes < 32)
    return emitError() << "windows of groups of fewer than 32 bytes are faster "
                          "copied, as of "
                       << windows.channels << " elements of "
                       << windows.element;
  for (const Dim &dim : windows.dims)
    if (failed(checkDim(dim, rank, emitError)))
      return failure();
  auto isAligned = [&](int64_t stride) {
    return stride > 0 && stride * bytes % 16 == 0;
  };
  if (windows.offset * bytes % 16 || !isAligned(windows.imageStride) ||
      !llvm::all_of(windows.dims,
                    [&](const Dim &dim) { return isAligned(dim.stride); }))
    return emitError() << "strides and offset of the images must be multiples "
                          "of 16 bytes";
  windows.width = chooseWidth(windows.channels, bytes, columns);
  return windows;
}

int64_t WindowsTensor::getDepth() const {
  int64_t depth = llvm::alignTo(channels, width);
  for (const Dim &dim : dims)
    depth *= dim.kernel;
  return depth;
}

double WindowsTensor::countLoadCycles() const {
  int64_t lines = llvm::divideCeil(channels, width);
  int64_t bytes = width * getStorageBytes(element);
  double each = bytes == 16 ? 4.5 : bytes == 128 ? 4.4 : 3;
  return double(getDepth() / (width * lines)) *
         (overlaps ? 5 + 3 * lines : each * lines);
}

int64_t WindowsTensor::countImageBytes() const {
  int64_t elements = images * channels;
  for (const Dim &dim : dims)
    elements *= dim.extent;
  return elements * getStorageBytes(element);
}

void WindowsTensor::print(raw_ostream &os, SizeList &sizes) const {
  os << "Windows<" << buffer << ", " << getElementName(element) << ", "
     << width;
  for (int64_t size : {channels, images, imageStride, offset})
    os << ", " << sizes.print(size);
  for (const Dim &dim : dims) {
    os << ",\n            WindowDim<";
    const int64_t numbers[] = {dim.extent, dim.stride, dim.zeros,   dim.count,
                               dim.kernel, dim.step,   dim.dilation};
    llvm::interleaveComma(numbers, os,
                          [&](int64_t number) { os << sizes.print(number); });
    os << '>';
  }
  os << '>';
}
