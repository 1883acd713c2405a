//===- Scatters.cpp - Elements written to computed places -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Indices.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// A scatter to places along a dimension of a tensor, in whatever shape serves
/// it best; the result has the tensor's own shape.
struct Target {
  /// The tensor as it is scattered to.
  Value source;
  Value indices;
  int64_t dim;

  /// The shape of updates.
  SmallVector<int64_t> getShape() const {
    SmallVector<int64_t> shape(typeOf(source).getShape());
    ArrayRef<int64_t> places = typeOf(indices).getShape();
    shape.erase(shape.begin() + dim);
    shape.insert(shape.begin() + dim, places.begin(), places.end());
    return shape;
  }
};

/// How PyTorch combines elements, and whether the tensor's own take part.
struct Reduction {
  ScatterKind kind = ScatterKind::set;
  bool isMean = false;
  bool includeSelf = true;
};
} // namespace

static Value scatter(TorchCall &call, ScatterKind kind, const Target &target,
                     Value updates) {
  return call.infer<ScatterOp>(kind, target.source, target.indices, updates,
                               target.dim);
}

/// The value that leaves others as they are.
static Value makeNeutral(TorchCall &call, ScatterKind kind, Type element,
                         ArrayRef<int64_t> shape) {
  bool isMax = kind == ScatterKind::max;
  if (kind == ScatterKind::sum || kind == ScatterKind::prod)
    return call.constant(kind == ScatterKind::prod, element, shape);
  if (isa<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return call.constant(isMax ? -infinity : infinity, element, shape);
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  APInt extreme = bits == 1 ? APInt(1, isMax ? 0 : 1)
                  : isMax   ? APInt::getSignedMinValue(bits)
                            : APInt::getSignedMaxValue(bits);
  auto type = RankedTensorType::get(shape, element);
  return call.create<ConstantOp>(DenseElementsAttr::get(type, extreme));
}

/// Scatters updates. Where the tensor's own elements do not take part, neutral
/// ones take their place first; the mean divides by a sum of ones.
static Value reduceInto(TorchCall &call, const Reduction &reduction,
                        Target target, Value updates) {
  Type element = elementOf(target.source);
  SmallVector<int64_t> shape = target.getShape();
  Target counts = target;
  if (!reduction.includeSelf)
    target.source = scatter(call, ScatterKind::set, target,
                            makeNeutral(call, reduction.kind, element, shape));
  Value result = scatter(call, reduction.kind, target, updates);
  if (!reduction.isMean)
    return result;
  // A sum in 16 bits would not count beyond 256.
  Type wide = element.isF64() ? element : call.getBuilder().getF32Type();
  counts.source = call.constant(reduction.includeSelf, wide,
                                typeOf(target.source).getShape());
  Value count =
      scatter(call, ScatterKind::sum, counts, call.constant(1, wide, shape));
  count = call.binary<MaximumOp>(count, call.constant(1, wide));
  return call.cast(call.binary<DivOp>(call.cast(result, wide), count), element);
}

static LogicalResult readReduction(TorchCall &call, unsigned index,
                                   Type element, Reduction &reduction) {
  StringRef name;
  if (failed(call.string(index, "reduce", name)))
    return failure();
  reduction.isMean = name == "mean";
  if (name == "sum" || name == "add" || name == "mean")
    reduction.kind = ScatterKind::sum;
  else if (name == "prod" || name == "multiply")
    reduction.kind = ScatterKind::prod;
  else if (name == "amax")
    reduction.kind = ScatterKind::max;
  else if (name == "amin")
    reduction.kind = ScatterKind::min;
  else
    return call.emitArgumentError("reduce")
           << "is '" << name
           << "', but must be 'sum', 'prod', 'mean', 'amax' or 'amin'";
  if (reduction.isMean && !isa<FloatType>(element))
    return call.emitArgumentError("reduce")
           << "is 'mean', which needs floats, not " << element;
  return success();
}

//===----------------------------------------------------------------------===//
// Scatters of elements
//===----------------------------------------------------------------------===//

/// The rows to which an index tensor sends whole slices, or null: a vector
/// along `dim`, repeated over all other dimensions of the tensor.
static Value findRows(TorchCall &call, Value x, Value index, int64_t dim) {
  auto expand = index.getDefiningOp<ExpandOp>();
  ArrayRef<int64_t> shape = typeOf(index).getShape();
  if (!expand)
    return rankOf(x) == 1 ? index : Value();
  for (int64_t other = 0; other < rankOf(x); ++other)
    if (other != dim && shape[other] != typeOf(x).getDimSize(other))
      return {};
  Value operand = expand.getOperand();
  int64_t place = dim - (rankOf(x) - rankOf(operand));
  if (place < 0 || typeOf(operand).getDimSize(place) != shape[dim] ||
      typeOf(operand).getNumElements() != shape[dim])
    return {};
  return call.reshape(operand, shape[dim]);
}

/// How many of the last dimensions, after `dim`, an index tensor repeats itself
/// over while it covers them: its elements send whole slices of these.
static int64_t countRepeated(Value x, Value index, int64_t dim) {
  auto expand = index.getDefiningOp<ExpandOp>();
  if (!expand)
    return 0;
  ArrayRef<int64_t> from = typeOf(expand.getOperand()).getShape();
  int64_t count = 0, rank = rankOf(x);
  while (count < static_cast<int64_t>(from.size()) && rank - count - 1 > dim &&
         from[from.size() - 1 - count] == 1 &&
         typeOf(index).getDimSize(rank - count - 1) ==
             typeOf(x).getDimSize(rank - count - 1))
    ++count;
  return count;
}

/// The places in a tensor whose last dimensions, so many, are moved as slices.
static Target targetSlices(TorchCall &call, Value x, Value index, int64_t dim,
                           int64_t sliced) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  if (sliced > 0) {
    SmallVector<int64_t> leading(typeOf(index).getShape().drop_back(sliced));
    index = index.getDefiningOp<ExpandOp>().getOperand();
    index = call.reshape(index, typeOf(index).getShape().drop_back(sliced));
    index = call.expand(index, leading);
  }
  SmallVector<int64_t> rows{llvm::product_of(shape.drop_back(sliced))};
  llvm::append_range(rows, shape.take_back(sliced));
  Value place = linearizeAlong(call, shape.drop_back(sliced), index, dim);
  return {call.reshape(x, rows), place, 0};
}

/// Reads `(self, dim, index)`. A 0-d tensor becomes one of one element.
static LogicalResult readElements(TorchCall &call, Target &target,
                                  SmallVectorImpl<int64_t> &shape) {
  Value x, index;
  int64_t dim;
  if (failed(call.operand(x)) ||
      failed(call.dimension(1, "dim", rankOf(x), dim)) ||
      failed(indices(call, 2, "index", index)))
    return failure();
  if (!rankOf(x))
    x = call.reshape(x, {1});
  if (!rankOf(index))
    index = call.reshape(index, {1});
  if (rankOf(index) != rankOf(x))
    return call.emitArgumentError("index")
           << "has rank " << rankOf(index) << ", but 'self' has rank "
           << rankOf(x);
  shape.assign(typeOf(index).getShape().begin(),
               typeOf(index).getShape().end());
  if (Value rows = findRows(call, x, index, dim)) {
    target = {x, rows, dim};
    return success();
  }
  target = targetSlices(call, x, index, dim, countRepeated(x, index, dim));
  return success();
}

/// Reads the tensor whose first elements, as many as there are indices in each
/// dimension, are scattered.
static LogicalResult readSource(TorchCall &call, ArrayRef<int64_t> shape,
                                Value &source) {
  if (failed(call.operand(3, "src", call.getResultElement(), source)))
    return failure();
  if (!rankOf(source))
    source = call.reshape(source, {1});
  if (rankOf(source) != static_cast<int64_t>(shape.size()))
    return call.emitArgumentError("src")
           << "has rank " << rankOf(source) << ", but 'index' has rank "
           << shape.size();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size > typeOf(source).getDimSize(dim))
      return call.emitArgumentError("src")
             << "is " << source.getType() << ", but 'index' has size " << size
             << " in dimension " << dim;
    source = call.slice(source, dim, 0, size);
  }
  return success();
}

/// `scatter_reduce(self, dim, index, src, reduce, include_self)`, and its
/// relatives without a choice: `scatter`, `scatter_add`.
static LogicalResult scatterElements(TorchCall &call, bool ofNumber,
                                     Reduction reduction) {
  Target target;
  SmallVector<int64_t> shape;
  Value source;
  if (failed(readElements(call, target, shape)))
    return failure();
  if (ofNumber) {
    if (failed(call.operand(3, "value", call.getResultElement(), source)))
      return failure();
    source = call.cast(source, call.getResultElement());
    return call.replaceReshaped(reduceInto(
        call, reduction, target, call.expand(source, target.getShape())));
  }
  if (failed(readSource(call, shape, source)))
    return failure();
  return call.replaceReshaped(reduceInto(call, reduction, target, source));
}

template <ScatterKind kind, bool ofNumber>
static LogicalResult convertScatter(TorchCall &call) {
  Reduction reduction;
  reduction.kind = kind;
  return scatterElements(call, ofNumber, reduction);
}

template <bool ofNumber>
static LogicalResult convertScatterReduce(TorchCall &call) {
  Reduction reduction;
  if (failed(readReduction(call, 4, call.getResultElement(), reduction)) ||
      failed(call.optionalBoolean(5, "include_self", reduction.includeSelf)))
    return failure();
  return scatterElements(call, ofNumber, reduction);
}

//===----------------------------------------------------------------------===//
// Scatters of slices
//===----------------------------------------------------------------------===//

/// Reads `(self, dim, index)`, where the index is a vector or a number.
static LogicalResult readSlices(TorchCall &call, Target &target) {
  if (failed(call.operand(target.source)) ||
      failed(call.dimension(1, "dim", rankOf(target.source), target.dim)) ||
      failed(indices(call, 2, "index", target.indices)))
    return failure();
  if (!rankOf(target.source))
    target.source = call.reshape(target.source, {1});
  int64_t count = typeOf(target.indices).getNumElements();
  target.indices = call.reshape(target.indices, count);
  return success();
}

/// Scatters `source`, which may lack dimensions of size 1.
static LogicalResult scatterSlices(TorchCall &call, const Reduction &reduction,
                                   const Target &target, Value source) {
  SmallVector<int64_t> shape = target.getShape();
  if (typeOf(source).getNumElements() != llvm::product_of(shape))
    return call.emitArgumentError("source")
           << "is " << source.getType() << ", but must have sizes [" << shape
           << "]";
  return call.replaceReshaped(
      reduceInto(call, reduction, target, call.reshape(source, shape)));
}

/// `index_copy(self, dim, index, source)`
static LogicalResult convertIndexCopy(TorchCall &call) {
  Target target;
  Value source;
  if (failed(readSlices(call, target)) ||
      failed(call.operand(3, "source", call.getResultElement(), source)))
    return failure();
  return scatterSlices(call, Reduction(), target, source);
}

/// `index_add(self, dim, index, source, alpha)`
static LogicalResult convertIndexAdd(TorchCall &call) {
  Target target;
  Value source, alpha;
  double factor = 1;
  Type element = call.getResultElement();
  if (failed(readSlices(call, target)) ||
      failed(call.operand(3, "source", element, source)) ||
      (!call.isNone(4) && (failed(call.number(4, "alpha", factor)) ||
                           failed(call.scalar(4, "alpha", element, alpha)))))
    return failure();
  if (factor != 1)
    source = call.cast(call.binary<MulOp>(source, alpha), element);
  Reduction reduction;
  reduction.kind = ScatterKind::sum;
  return scatterSlices(call, reduction, target, source);
}

/// `index_fill(self, dim, index, value)`
static LogicalResult convertIndexFill(TorchCall &call) {
  Target target;
  Value value;
  Type element = call.getResultElement();
  if (failed(readSlices(call, target)) ||
      failed(call.operand(3, "value", element, value)))
    return failure();
  target.indices = countFromFront(call, target.indices,
                                  typeOf(target.source).getDimSize(target.dim));
  Value updates = call.expand(call.cast(value, element), target.getShape());
  return scatterSlices(call, Reduction(), target, updates);
}

/// `index_reduce(self, dim, index, source, reduce, include_self)`
static LogicalResult convertIndexReduce(TorchCall &call) {
  Target target;
  Value source;
  Reduction reduction;
  if (failed(readSlices(call, target)) ||
      failed(call.operand(3, "source", call.getResultElement(), source)) ||
      failed(readReduction(call, 4, call.getResultElement(), reduction)) ||
      failed(call.optionalBoolean(5, "include_self", reduction.includeSelf)))
    return failure();
  return scatterSlices(call, reduction, target, source);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// `x[mask] = values`, where one value serves all elements of the mask, or one
/// slice all of its slices: a selection.
static LogicalResult putMasked(TorchCall &call, Value x, Value mask,
                               int64_t first, Value values, bool accumulate) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  ArrayRef<int64_t> masked = typeOf(mask).getShape();
  int64_t end = first + rankOf(mask);
  if (end > rankOf(x) || shape.slice(first, rankOf(mask)) != masked)
    return call.emitArgumentError("indices")
           << "has a mask " << mask.getType() << ", which does not fit "
           << x.getType();
  SmallVector<int64_t> spread(masked);
  spread.append(rankOf(x) - end, 1);
  // Values are [before..., masked elements, after...].
  SmallVector<int64_t> own(typeOf(values).getShape());
  int64_t place = static_cast<int64_t>(own.size()) - 1 - (rankOf(x) - end);
  if (place >= 0) {
    if (own[place] != 1)
      return call.emitArgumentError("values")
             << "is " << values.getType()
             << "; for a mask, only one value for all of its elements is "
                "supported; use torch.where or masked_scatter";
    own.erase(own.begin() + place);
    own.insert(own.begin() + place, rankOf(mask), 1);
    values = call.reshape(values, own);
  }
  if (accumulate)
    values = call.binary<AddOp>(x, values);
  return call.replace(call.select(call.reshape(mask, spread), values, x));
}

/// `masked_scatter(self, mask, source)`: the n-th element of the mask that is
/// set takes element n of the source.
static LogicalResult convertMaskedScatter(TorchCall &call) {
  Value x, mask, source;
  if (failed(call.operand(x)) || failed(call.tensor(1, "mask", mask)) ||
      failed(call.operand(2, "source", call.getResultElement(), source)))
    return failure();
  ArrayRef<int64_t> shape = call.getResultType().getShape();
  int64_t count = call.getResultType().getNumElements();
  Type integer = call.getBuilder().getI64Type();
  mask = call.reshape(call.expand(mask, shape), count);
  Value number = call.infer<ScanOp>(ScanKind::sum, call.cast(mask, integer), 0);
  Value place = call.binary<SubOp>(number, call.constant(1, integer));
  source = call.reshape(source, typeOf(source).getNumElements());
  Value taken = call.gather(source, place, 0);
  Value flat = call.reshape(call.expand(x, shape), count);
  return call.replaceReshaped(call.select(mask, taken, flat));
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

/// `x[i, j] = values`, or `+=` with `accumulate`.
static LogicalResult convertIndexPut(TorchCall &call) {
  Value x, values;
  SmallVector<Value> places;
  bool accumulate = false;
  IndexedDims dims;
  Type element = call.getResultElement();
  if (failed(call.operand(x)) ||
      failed(call.optionalTensors(1, "indices", places)) ||
      failed(call.operand(2, "values", element, values)) ||
      failed(call.optionalBoolean(3, "accumulate", accumulate)))
    return failure();
  values = call.cast(values, element);
  bool isMasked = false;
  for (auto [dim, place] : llvm::enumerate(places)) {
    if (!place || !elementOf(place).isInteger(1))
      continue;
    isMasked = true;
    if (llvm::count_if(places, [](Value other) { return bool(other); }) == 1)
      return putMasked(call, x, place, dim, values, accumulate);
  }
  if (isMasked)
    return call.emitArgumentError("indices")
           << "has a boolean mask beside other indices; only one mask alone is "
              "supported";
  if (failed(mergeIndexed(call, x, places, dims)))
    return failure();
  if (!dims.place) {
    Value all = call.expand(values, typeOf(x).getShape());
    return call.replace(accumulate ? call.binary<AddOp>(x, all) : all);
  }
  Target target{call.reshape(dims.permuted, dims.shape), dims.place, dims.dim};
  Value result = scatter(call, accumulate ? ScatterKind::sum : ScatterKind::set,
                         target, call.expand(values, target.getShape()));
  SmallVector<int64_t> back(dims.order.size());
  for (auto [to, from] : llvm::enumerate(dims.order))
    back[from] = to;
  result = call.reshape(result, typeOf(dims.permuted).getShape());
  return call.replace(call.permute(result, back));
}

/// `put(self, index, source, accumulate)`: places in the flattened tensor.
static LogicalResult convertPut(TorchCall &call) {
  Value x, index, source;
  bool accumulate = false;
  if (failed(call.operand(x)) || failed(indices(call, 1, "index", index)) ||
      failed(call.operand(2, "source", call.getResultElement(), source)) ||
      failed(call.optionalBoolean(3, "accumulate", accumulate)))
    return failure();
  int64_t count = typeOf(x).getNumElements();
  Target target{call.reshape(x, count), countFromFront(call, index, count), 0};
  Reduction reduction;
  reduction.kind = accumulate ? ScatterKind::sum : ScatterKind::set;
  return scatterSlices(call, reduction, target, source);
}

/// `diagonal_scatter(self, src, offset, dim1, dim2)`: the diagonal is the last
/// dimension of `src`.
static LogicalResult convertDiagonalScatter(TorchCall &call) {
  Value x, source;
  int64_t offset = 0, rowDim = 0, columnDim = 1;
  if (failed(call.operand(x)) ||
      failed(call.operand(1, "src", call.getResultElement(), source)) ||
      failed(call.optionalInteger(2, "offset", offset)) ||
      failed(call.optionalDimension(3, "dim1", rankOf(x), rowDim)) ||
      failed(call.optionalDimension(4, "dim2", rankOf(x), columnDim)))
    return failure();
  if (rankOf(x) < 2 || rowDim == columnDim)
    return call.emitError()
           << "needs two dimensions, but has " << x.getType()
           << " and dimensions " << rowDim << " and " << columnDim;
  SmallVector<int64_t> order, back(rankOf(x));
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (dim != rowDim && dim != columnDim)
      order.push_back(dim);
  order.append({rowDim, columnDim});
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  Value permuted = call.permute(x, order);
  ArrayRef<int64_t> shape = typeOf(permuted).getShape();
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  SmallVector<int64_t> numbers, flat(shape.drop_back());
  for (int64_t row = std::max<int64_t>(0, -offset);
       row < rows && row + offset < columns; ++row)
    numbers.push_back(row * columns + row + offset);
  flat.back() = rows * columns;
  Target target{call.reshape(permuted, flat), makeIndices(call, numbers),
                static_cast<int64_t>(flat.size()) - 1};
  Value result = scatter(call, ScatterKind::set, target, source);
  return call.replace(call.permute(call.reshape(result, shape), back));
}

void torchtofact::populateScatterConverters(ConverterTable &table) {
  table["aten.scatter.src"] =
      convertScatter<ScatterKind::set, /*ofNumber=*/false>;
  table["aten.scatter.value"] =
      convertScatter<ScatterKind::set, /*ofNumber=*/true>;
  table["aten.scatter_add"] =
      convertScatter<ScatterKind::sum, /*ofNumber=*/false>;
  table["aten.scatter.reduce"] = convertScatterReduce</*ofNumber=*/false>;
  table["aten.scatter.value_reduce"] = convertScatterReduce</*ofNumber=*/true>;
  table["aten.scatter_reduce.two"] = convertScatterReduce</*ofNumber=*/false>;
  table["aten.index_copy"] = convertIndexCopy;
  table["aten.index_add"] = convertIndexAdd;
  table["aten.index_fill.int_Scalar"] = convertIndexFill;
  table["aten.index_fill.int_Tensor"] = convertIndexFill;
  table["aten.index_reduce"] = convertIndexReduce;
  table["aten.masked_scatter"] = convertMaskedScatter;
  for (StringRef overload : {"", ".hacked_twin"}) {
    table[("aten.index_put" + overload).str()] = convertIndexPut;
    table[("aten._unsafe_index_put" + overload).str()] = convertIndexPut;
  }
  table["aten.put"] = convertPut;
  table["aten.diagonal_scatter"] = convertDiagonalScatter;
}
