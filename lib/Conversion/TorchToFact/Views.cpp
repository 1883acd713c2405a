//===- Views.cpp - Reshapes, permutations, slices and joins ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Reshapes to the result's shape: `view`, `flatten`, `squeeze`, ...
static LogicalResult convertReshape(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  RankedTensorType type = call.getResultType();
  if (type.getNumElements() != typeOf(x).getNumElements())
    return call.emitError() << "reshapes " << x.getType() << " to " << type
                            << ", which has another number of elements";
  return call.replace(call.reshape(x, type.getShape()));
}

static LogicalResult convertExpand(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  return call.replace(call.expand(x, call.getResultType().getShape()));
}

/// Repeats by reshape, expand, reshape.
static Value repeat(TorchCall &call, Value x, ArrayRef<int64_t> before,
                    ArrayRef<int64_t> repeated) {
  RankedTensorType type = call.getResultType();
  return call.reshape(call.expand(call.reshape(x, before), repeated),
                      type.getShape());
}

/// Repeats each element of a dimension: `[.., n, ..]` becomes `[.., n, 1, ..]`,
/// then `[.., n, repeats, ..]`.
static LogicalResult convertRepeatInterleave(TorchCall &call) {
  Value x;
  int64_t repeats, dim = 0;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.integer(1, "repeats", repeats)))
    return failure();
  if (call.isNone(2))
    x = call.reshape(x, typeOf(x).getNumElements());
  else if (failed(call.dimensionOf(x, 2, "dim", dim)))
    return failure();
  SmallVector<int64_t> before(typeOf(x).getShape());
  before.insert(before.begin() + dim + 1, 1);
  SmallVector<int64_t> repeated(before);
  repeated[dim + 1] = repeats;
  return call.replace(repeat(call, x, before, repeated));
}

/// Repeats the whole tensor along each dimension.
static LogicalResult convertRepeat(TorchCall &call) {
  Value x;
  SmallVector<int64_t> repeats;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.integers(1, "repeats", repeats)))
    return failure();
  SmallVector<int64_t> sizes(typeOf(x).getShape());
  while (sizes.size() < repeats.size())
    sizes.insert(sizes.begin(), 1);
  while (repeats.size() < sizes.size())
    repeats.insert(repeats.begin(), 1);
  SmallVector<int64_t> before, repeated;
  for (auto [size, times] : llvm::zip(sizes, repeats)) {
    before.append({1, size});
    repeated.append({times, size});
  }
  return call.replace(repeat(call, x, before, repeated));
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

static Value swapDimensions(TorchCall &call, Value x, int64_t first,
                            int64_t second) {
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  if (first != second)
    std::swap(dims[first], dims[second]);
  return call.permute(x, dims);
}

static LogicalResult convertTranspose(TorchCall &call) {
  Value x;
  int64_t first, second;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimension(1, "dim0", rankOf(x), first)) ||
      failed(call.dimension(2, "dim1", rankOf(x), second)))
    return failure();
  return call.replace(swapDimensions(call, x, first, second));
}

/// `t` and `mT` swap the last two dimensions.
static LogicalResult convertMatrixTranspose(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  int64_t rank = rankOf(x);
  return call.replace(rank < 2 ? x
                               : swapDimensions(call, x, rank - 2, rank - 1));
}

static LogicalResult convertReverse(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  std::reverse(dims.begin(), dims.end());
  return call.replace(call.permute(x, dims));
}

static LogicalResult convertPermute(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.integers(1, "dims", dims)))
    return failure();
  for (int64_t &dim : dims)
    dim = dim < 0 ? dim + rankOf(x) : dim;
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rankOf(x))))
    return call.emitArgumentError("dims")
           << "is [" << ArrayRef(dims) << "], but must name each of "
           << rankOf(x) << " dimensions once";
  return call.replace(call.permute(x, dims));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Reads a bound as Python does: negative ones count from the end, and all are
/// clamped.
static LogicalResult sliceBound(TorchCall &call, unsigned index, StringRef name,
                                int64_t size, int64_t &result) {
  if (call.isNone(index))
    return success();
  if (failed(call.integer(index, name, result)))
    return failure();
  if (result < 0)
    result += size;
  result = std::clamp<int64_t>(result, 0, size);
  return success();
}

static LogicalResult convertSlice(TorchCall &call) {
  Value x;
  int64_t dim, step = 1;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensionOf(x, 1, "dim", dim)))
    return failure();
  int64_t size = typeOf(x).getDimSize(dim), start = 0, end = size;
  if (failed(sliceBound(call, 2, "start", size, start)) ||
      failed(sliceBound(call, 3, "end", size, end)) ||
      (!call.isNone(4) && failed(call.integer(4, "step", step))))
    return failure();
  if (step < 1)
    return call.emitArgumentError("step")
           << "is " << step << ", but must be 1 or more";
  int64_t count = std::max<int64_t>(0, llvm::divideCeil(end - start, step));
  return call.replace(call.slice(x, dim, start, end > start ? count : 0, step));
}

static LogicalResult convertNarrow(TorchCall &call) {
  Value x;
  int64_t dim, start, length;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensionOf(x, 1, "dim", dim)) ||
      failed(call.integer(2, "start", start)) ||
      failed(call.integer(3, "length", length)))
    return failure();
  if (start < 0)
    start += typeOf(x).getDimSize(dim);
  return call.replace(call.slice(x, dim, start, length));
}

/// Selects one index of a dimension, which is removed.
static Value selectElement(TorchCall &call, Value x, int64_t dim,
                           int64_t index) {
  Value one = call.slice(x, dim, index, 1);
  SmallVector<int64_t> shape(typeOf(one).getShape());
  shape.erase(shape.begin() + dim);
  return call.reshape(one, shape);
}

/// Windows of one dimension; the places in a window come last.
static LogicalResult convertUnfold(TorchCall &call) {
  Value x;
  int64_t dim = 0, size = 0, step = 0;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensionOf(x, 1, "dimension", dim)) ||
      failed(call.integer(2, "size", size)) ||
      failed(call.integer(3, "step", step)))
    return failure();
  if (size < 1 || step < 1 || size > typeOf(x).getDimSize(dim))
    return call.emitError()
           << "has windows of " << size << " elements, " << step
           << " apart, but both must be 1 or more, and "
              "a window no larger than its dimension";
  Value windows = call.infer<WindowsOp>(x, dim, ArrayRef(size), ArrayRef(step),
                                        ArrayRef<int64_t>(1));
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(windows)));
  std::rotate(order.begin() + dim + 1, order.begin() + dim + 2, order.end());
  return call.replace(call.permute(windows, order));
}

/// `fact.windows` of python/fact/forms.
static LogicalResult convertWindows(TorchCall &call) {
  Value x;
  int64_t dim = 0;
  SmallVector<int64_t> kernel, strides, dilations;
  if (failed(call.tensor(0, "x", x)) ||
      failed(call.dimensionOf(x, 1, "dim", dim)) ||
      failed(call.integers(2, "kernel", kernel)) ||
      failed(call.integers(3, "strides", strides)) ||
      failed(call.integers(4, "dilations", dilations)))
    return failure();
  return call.replace(
      call.infer<WindowsOp>(x, dim, kernel, strides, dilations));
}

static LogicalResult convertSelect(TorchCall &call) {
  Value x;
  int64_t dim, index;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimensionOf(x, 1, "dim", dim)) ||
      failed(call.integer(2, "index", index)))
    return failure();
  int64_t size = typeOf(x).getDimSize(dim);
  if (index < -size || index >= size)
    return call.emitArgumentError("index")
           << "is " << index << ", but dimension " << dim << " has size "
           << size;
  return call.replace(
      selectElement(call, x, dim, index < 0 ? index + size : index));
}

//===----------------------------------------------------------------------===//
// Lists of tensors
//===----------------------------------------------------------------------===//

/// Slices of the given sizes, in order.
static LogicalResult splitInto(TorchCall &call, Value x, int64_t dim,
                               ArrayRef<int64_t> sizes) {
  SmallVector<Value> parts;
  int64_t start = 0;
  for (int64_t size : sizes) {
    parts.push_back(call.slice(x, dim, start, size));
    start += size;
  }
  return call.replaceWithList(parts);
}

/// Slices of `size`; the last one has the rest.
static LogicalResult splitEvery(TorchCall &call, Value x, int64_t dim,
                                int64_t size) {
  SmallVector<int64_t> sizes;
  for (int64_t left = typeOf(x).getDimSize(dim); left > 0; left -= size)
    sizes.push_back(std::min(size, left));
  return splitInto(call, x, dim, sizes);
}

/// Reads the tensor and dimension of the ops that make lists.
static LogicalResult splitOperands(TorchCall &call, Value &x, int64_t &dim) {
  if (failed(call.tensor(0, "self", x)))
    return failure();
  dim = 0;
  return call.optionalDimensionOf(x, 2, "dim", dim);
}

static LogicalResult convertSplit(TorchCall &call) {
  Value x;
  int64_t dim, size;
  if (failed(splitOperands(call, x, dim)) ||
      failed(call.integer(1, "split_size", size)))
    return failure();
  if (size < 1)
    return call.emitArgumentError("split_size")
           << "is " << size << ", but must be 1 or more";
  return splitEvery(call, x, dim, size);
}

static LogicalResult convertSplitSizes(TorchCall &call) {
  Value x;
  int64_t dim;
  SmallVector<int64_t> sizes;
  if (failed(splitOperands(call, x, dim)) ||
      failed(call.integers(1, "split_sizes", sizes)))
    return failure();
  return splitInto(call, x, dim, sizes);
}

static LogicalResult convertChunk(TorchCall &call) {
  Value x;
  int64_t dim, chunks;
  if (failed(splitOperands(call, x, dim)) ||
      failed(call.integer(1, "chunks", chunks)))
    return failure();
  if (chunks < 1)
    return call.emitArgumentError("chunks")
           << "is " << chunks << ", but must be 1 or more";
  int64_t size = llvm::divideCeil(typeOf(x).getDimSize(dim), chunks);
  return splitEvery(call, x, dim, size);
}

static LogicalResult convertUnbind(TorchCall &call) {
  Value x;
  int64_t dim = 0;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.optionalDimensionOf(x, 1, "dim", dim)))
    return failure();
  SmallVector<Value> parts;
  for (int64_t i = 0; i < typeOf(x).getDimSize(dim); ++i)
    parts.push_back(selectElement(call, x, dim, i));
  return call.replaceWithList(parts);
}

static LogicalResult convertListUnpack(TorchCall &call) {
  SmallVector<Value> parts;
  if (failed(call.tensors(0, "operand", parts)))
    return failure();
  unsigned results = call.getOperation()->getNumResults();
  if (parts.size() != results)
    return call.emitError() << "unpacks " << results
                            << " tensors from a list of " << parts.size();
  return call.replace(parts);
}

static LogicalResult convertListElement(TorchCall &call) {
  SmallVector<Value> parts;
  int64_t index;
  if (failed(call.tensors(0, "list", parts)) ||
      failed(call.dimension(1, "idx", parts.size(), index)))
    return failure();
  if (parts.empty())
    return call.emitArgumentError("list") << "is empty";
  return call.replace(parts[index]);
}

/// Reads the tensors to join, in the result's element type.
static LogicalResult joinOperands(TorchCall &call,
                                  SmallVectorImpl<Value> &tensors,
                                  bool mayBeNone = false) {
  if (failed(call.tensors(0, "tensors", tensors)))
    return failure();
  if (tensors.empty() && !mayBeNone)
    return call.emitArgumentError("tensors") << "is empty";
  for (Value &tensor : tensors)
    tensor = call.cast(tensor, call.getResultElement());
  return success();
}

static LogicalResult convertCat(TorchCall &call) {
  SmallVector<Value> tensors;
  int64_t dim = 0;
  RankedTensorType type = call.getResultType();
  if (failed(joinOperands(call, tensors, /*mayBeNone=*/true)) ||
      failed(call.optionalDimension(1, "dim", type.getRank(), dim)))
    return failure();
  // PyTorch ignores empty 1-d tensors, whatever the shape of the others.
  llvm::erase_if(tensors, [&](Value tensor) {
    return rankOf(tensor) == 1 && !typeOf(tensor).getNumElements();
  });
  // All tensors were empty, or torch-mlir dropped them.
  if (tensors.empty())
    return call.replace(
        call.constant(0, call.getResultElement(), type.getShape()));
  return call.replace(call.concat(tensors, dim));
}

static LogicalResult convertStack(TorchCall &call) {
  SmallVector<Value> tensors;
  int64_t dim = 0;
  RankedTensorType type = call.getResultType();
  if (failed(joinOperands(call, tensors)) ||
      failed(call.optionalDimension(1, "dim", type.getRank(), dim)))
    return failure();
  if (!type.getRank())
    return call.emitError()
           << "returns a scalar, but must return one dimension "
              "more than its operands have";
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = 1;
  for (Value &tensor : tensors)
    tensor = call.reshape(tensor, shape);
  return call.replace(call.concat(tensors, dim));
}

/// `hstack`, `vstack` and `dstack` join along `dim`, after dimensions of size 1
/// have raised the rank: `[n]` becomes `[1, n]` in a column, `[1, n, 1]` in
/// depth.
template <int64_t dim> static LogicalResult convertJoin(TorchCall &call) {
  SmallVector<Value> tensors;
  if (failed(joinOperands(call, tensors)))
    return failure();
  for (Value &tensor : tensors) {
    SmallVector<int64_t> shape(typeOf(tensor).getShape());
    if (dim != 1 && shape.size() < 2)
      shape.insert(shape.begin(), 1);
    while (static_cast<int64_t>(shape.size()) <= dim && dim == 2)
      shape.push_back(1);
    if (shape.empty())
      shape.push_back(1);
    tensor = call.reshape(tensor, shape);
  }
  return call.replace(
      call.concat(tensors, std::min(dim, rankOf(tensors.front()) - 1)));
}

/// Broadcasts all tensors to their common shape.
static LogicalResult convertBroadcastTensors(TorchCall &call) {
  SmallVector<Value> tensors;
  if (failed(call.tensors(0, "tensors", tensors)))
    return failure();
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Value tensor : tensors)
    shapes.push_back(typeOf(tensor).getShape());
  auto shape = broadcastShapes(shapes);
  if (!shape)
    return call.emitError() << "has tensors that do not broadcast";
  for (Value &tensor : tensors)
    tensor = call.expand(tensor, *shape);
  return call.replaceWithList(tensors);
}

/// One dimension per vector; `xy` swaps the first two.
static LogicalResult convertMeshgrid(TorchCall &call) {
  SmallVector<Value> vectors;
  StringRef indexing = "ij";
  if (failed(call.tensors(0, "tensors", vectors)) ||
      (!call.isNone(1) && failed(call.string(1, "indexing", indexing))))
    return failure();
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, vectors.size()));
  if (indexing == "xy" && order.size() > 1)
    std::swap(order[0], order[1]);
  SmallVector<int64_t> shape(order.size());
  for (auto [vector, dim] : llvm::zip(vectors, order))
    shape[dim] = typeOf(vector).getNumElements();
  for (auto [vector, dim] : llvm::zip(vectors, order)) {
    SmallVector<int64_t> own(order.size(), 1);
    own[dim] = shape[dim];
    vector = call.expand(call.reshape(vector, own), shape);
  }
  return call.replaceWithList(vectors);
}

void torchtofact::populateViewConverters(ConverterTable &table) {
  for (StringRef name :
       {"view", "reshape", "unsafe_view", "_unsafe_view", "_reshape_alias",
        "flatten.using_ints", "unflatten.int", "ravel", "squeeze",
        "squeeze.dim", "squeeze.dims", "unsqueeze"})
    table[("aten." + name).str()] = convertReshape;
  table["prims.squeeze"] = convertReshape;
  table["prims.collapse"] = convertReshape;
  for (StringRef name : {"expand", "expand_as", "broadcast_to"})
    table[("aten." + name).str()] = convertExpand;
  table["aten.repeat_interleave.self_int"] = convertRepeatInterleave;
  table["aten.repeat"] = convertRepeat;
  table["aten.tile"] = convertRepeat;

  table["aten.transpose.int"] = convertTranspose;
  table["aten.swapaxes"] = convertTranspose;
  table["aten.swapdims"] = convertTranspose;
  table["aten.t"] = convertMatrixTranspose;
  table["aten.mT"] = convertMatrixTranspose;
  table["aten.numpy_T"] = convertReverse;
  table["aten.permute"] = convertPermute;

  table["aten.slice.Tensor"] = convertSlice;
  table["aten.narrow"] = convertNarrow;
  table["aten.select.int"] = convertSelect;
  table["aten.unfold"] = convertUnfold;
  table["fact.windows"] = convertWindows;

  for (StringRef name : {"split.Tensor", "unsafe_split.Tensor"})
    table[("aten." + name).str()] = convertSplit;
  for (StringRef name :
       {"split_with_sizes", "split.sizes", "unsafe_split_with_sizes"})
    table[("aten." + name).str()] = convertSplitSizes;
  table["aten.chunk"] = convertChunk;
  table["aten.unsafe_chunk"] = convertChunk;
  table["aten.unbind.int"] = convertUnbind;
  table["prim.ListUnpack"] = convertListUnpack;
  table["aten.__getitem__.t"] = convertListElement;
  table["aten.cat"] = convertCat;
  table["aten.stack"] = convertStack;
  table["aten.hstack"] = convertJoin<1>;
  table["aten.vstack"] = convertJoin<0>;
  table["aten.dstack"] = convertJoin<2>;
  table["aten.broadcast_tensors"] = convertBroadcastTensors;
  table["aten.meshgrid"] = convertMeshgrid;
  table["aten.meshgrid.indexing"] = convertMeshgrid;
}
