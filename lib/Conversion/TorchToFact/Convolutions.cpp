//===- Convolutions.cpp - Convolutions as products of windows -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row of the product is a window, [taps..., channels], and a column is a
// filter. Channels come last, so that a window is made of whole pixels, and the
// permutes around the product show what the caller's order costs.
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

namespace {
/// The parameters of a convolution over the last dimensions of [batch,
/// channels, ...].
struct Convolution {
  Value x, weight, bias;
  SmallVector<int64_t> strides, padding, dilations;
  int64_t groups = 1;

  int64_t getDims() const { return rankOf(weight) - 2; }
};
} // namespace

static LogicalResult readConvolution(TorchCall &call, Convolution &of) {
  bool isTransposed = false;
  if (failed(call.tensor(0, "input", of.x)) ||
      failed(call.tensor(1, "weight", of.weight)) ||
      failed(call.optionalTensor(2, "bias", of.bias)) ||
      failed(call.integers(3, "stride", of.strides)) ||
      failed(call.integers(4, "padding", of.padding)) ||
      failed(call.integers(5, "dilation", of.dilations)) ||
      failed(call.boolean(6, "transposed", isTransposed)) ||
      failed(call.integer(8, "groups", of.groups)))
    return failure();
  if (isTransposed)
    return call.emitArgumentError("transposed")
           << "is true, but must be false; 'fact.compile' writes transposed "
              "convolutions out";
  int64_t dims = of.getDims();
  if (dims < 1 || rankOf(of.x) != dims + 2)
    return call.emitError() << "has an input of rank " << rankOf(of.x)
                            << " and a weight of rank " << rankOf(of.weight)
                            << ", but they must be equal and 3 or more";
  // One number stands for all dimensions.
  for (SmallVector<int64_t> *numbers :
       {&of.strides, &of.padding, &of.dilations})
    if (numbers->size() == 1)
      numbers->resize(dims, numbers->front());
  int64_t channels = typeOf(of.x).getDimSize(1);
  if (of.groups < 1 || typeOf(of.weight).getDimSize(0) % of.groups ||
      typeOf(of.weight).getDimSize(1) * of.groups != channels)
    return call.emitError() << "has " << of.groups << " groups of "
                            << typeOf(of.weight).getDimSize(1)
                            << " channels, but the input has " << channels;
  return success();
}

/// [n, channels, ...] as [n, ..., channels].
static Value toChannelsLast(TorchCall &call, Value value) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return call.permute(value, order);
}

static Value toChannelsFirst(TorchCall &call, Value value) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(value)));
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return call.permute(value, order);
}

/// Zeros before and after the elements of dimensions from `dim`.
static Value addZeros(TorchCall &call, Value value, int64_t dim,
                      ArrayRef<int64_t> counts) {
  for (int64_t count : counts) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] = count;
    if (count) {
      Value zeros = call.constant(0, elementOf(value), shape);
      value = call.concat({zeros, value, zeros}, dim);
    }
    ++dim;
  }
  return value;
}

/// Merges `count` dimensions from `first`.
static Value merge(TorchCall &call, Value value, int64_t first, int64_t count) {
  ArrayRef<int64_t> from = typeOf(value).getShape();
  SmallVector<int64_t> shape(from.take_front(first));
  shape.push_back(llvm::product_of(from.slice(first, count)));
  llvm::append_range(shape, from.drop_front(first + count));
  return call.reshape(value, shape);
}

static Value getWindows(TorchCall &call, const Convolution &of, Value image,
                        int64_t dim) {
  ArrayRef<int64_t> kernel = typeOf(of.weight).getShape().drop_front(2);
  Value windows =
      call.infer<WindowsOp>(image, dim, kernel, of.strides, of.dilations);
  return merge(call, windows, dim + kernel.size(), kernel.size() + 1);
}

/// Groups are batches of one product: [groups, pixels, filters]. Zeros are
/// added to the images of each group, so that a kernel can read through them.
/// Groups of one channel are no products but reductions, which keep the order
/// of the image.
static Value multiplyGroups(TorchCall &call, const Convolution &of, Value image,
                            Value filters) {
  int64_t dims = of.getDims(), groups = of.groups;
  SmallVector<int64_t> shape(typeOf(image).getShape());
  int64_t channels = shape.back() / groups;
  if (channels == 1) {
    image = addZeros(call, image, /*dim=*/1, of.padding);
    shape.assign(typeOf(image).getShape().begin(),
                 typeOf(image).getShape().end());
  }
  shape.back() = groups;
  shape.push_back(channels);
  image = call.reshape(image, shape);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  std::rotate(order.begin(), order.end() - 2, order.end() - 1);
  image = call.permute(image, order);
  if (channels != 1)
    image = addZeros(call, image, /*dim=*/2, of.padding);
  Value windows = getWindows(call, of, image, /*dim=*/2);
  SmallVector<int64_t> result(typeOf(windows).getShape().drop_back());
  int64_t count = typeOf(filters).getDimSize(0) / groups;
  filters =
      call.reshape(filters, {groups, count, typeOf(filters).getDimSize(1)});
  Value product =
      multiplyMatrices(call, merge(call, windows, 1, dims + 1), filters,
                       /*transposeB=*/true, /*inConvolution=*/true);
  result.push_back(count);
  product = call.reshape(product, result);
  // [groups, batch, ..., filters] to [batch, ..., groups * filters].
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  return merge(call, call.permute(product, order), dims + 1, 2);
}

static LogicalResult convertConvolution(TorchCall &call) {
  Convolution of;
  if (failed(readConvolution(call, of)))
    return failure();
  Type element = call.getResultElement();
  int64_t dims = of.getDims();
  Value image = toChannelsLast(call, call.cast(of.x, element));
  if (of.groups == 1)
    image = addZeros(call, image, /*dim=*/1, of.padding);
  Value filters = merge(
      call, toChannelsLast(call, call.cast(of.weight, element)), 1, dims + 1);
  Value result = of.groups == 1
                     ? multiplyMatrices(
                           call, getWindows(call, of, image, /*dim=*/1),
                           filters, /*transposeB=*/true, /*inConvolution=*/true)
                     : multiplyGroups(call, of, image, filters);
  if (of.bias)
    result = call.binary<AddOp>(result, call.cast(of.bias, element));
  return call.replace(toChannelsFirst(call, result));
}

void torchtofact::populateConvolutionConverters(ConverterTable &table) {
  table["aten.convolution"] = convertConvolution;
}
