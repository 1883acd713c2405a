//===- Indexing.cpp - Elements by their place -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Indices.h"
#include "fact/Dialect/Fact/RowPlaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value torchtofact::makeIndices(TorchCall &call, ArrayRef<int64_t> numbers) {
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())},
                                    call.getBuilder().getI64Type());
  return call.create<ConstantOp>(DenseElementsAttr::get(type, numbers));
}

LogicalResult torchtofact::indices(TorchCall &call, unsigned index,
                                   StringRef name, Value &result) {
  if (failed(call.tensor(index, name, result)))
    return failure();
  if (!elementOf(result).isInteger(32) && !elementOf(result).isInteger(64))
    return call.emitArgumentError(name)
           << "has element type " << elementOf(result)
           << ", but must be an integer of 32 or 64 bits";
  return success();
}

Value torchtofact::countFromFront(TorchCall &call, Value indices,
                                  int64_t size) {
  Type element = elementOf(indices);
  Value wrapped = call.binary<AddOp>(indices, call.constant(size, element));
  return call.select(call.compare(Predicate::lt, indices, 0), wrapped, indices);
}

/// `embedding(weight, indices, padding_idx, ...)`; `padding_idx` only affects
/// gradients.
static LogicalResult convertEmbedding(TorchCall &call) {
  Value table, tokens;
  if (failed(call.tensor(0, "weight", table)) ||
      failed(indices(call, 1, "indices", tokens)))
    return failure();
  return call.replace(call.gather(table, tokens, 0));
}

static LogicalResult convertIndexSelect(TorchCall &call) {
  Value x, places;
  int64_t dim;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimension(1, "dim", rankOf(x), dim)) ||
      failed(indices(call, 2, "index", places)))
    return failure();
  Value flat = call.reshape(places, typeOf(places).getNumElements());
  if (!rankOf(x))
    return call.replace(
        call.reshape(call.gather(call.reshape(x, {1}), flat, 0), {}));
  return call.replace(call.gather(x, flat, dim));
}

Value torchtofact::makeOffsets(TorchCall &call, ArrayRef<int64_t> source,
                               ArrayRef<int64_t> shape, int64_t dim) {
  int64_t stride = llvm::product_of(source.drop_front(dim + 1));
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < shape[dim]; ++i)
    numbers.push_back(i * stride);
  SmallVector<int64_t> broadcast(shape.size(), 1);
  broadcast[dim] = shape[dim];
  return call.reshape(makeIndices(call, numbers), broadcast);
}

Value torchtofact::linearizeAlong(TorchCall &call, ArrayRef<int64_t> source,
                                  Value index, int64_t dim) {
  ArrayRef<int64_t> shape = typeOf(index).getShape();
  Type element = call.getBuilder().getI64Type();
  int64_t stride = llvm::product_of(source.drop_front(dim + 1));
  Value place = call.binary<MulOp>(call.cast(index, element),
                                   call.constant(stride, element));
  for (int64_t other = 0; other < rankOf(index); ++other)
    if (other != dim)
      place =
          call.binary<AddOp>(place, makeOffsets(call, source, shape, other));
  return place;
}

/// Marks a gather of one element of each row, if it is one.
static Value markRows(Value gathered, std::optional<int64_t> rowSize) {
  if (auto gather = gathered.getDefiningOp<GatherOp>(); gather && rowSize)
    setRowSize(gather, rowSize);
  return gathered;
}

namespace {
/// `gather(x, dim, index)` of computed elements. Where few elements are
/// gathered, those of a pointwise op are computed from gathered operands, so
/// that not all of its elements need to be stored: the loss of one class per
/// row needs one logarithm per row.
class ElementGatherer {
public:
  ElementGatherer(TorchCall &call, Value index, int64_t dim)
      : call(call), index(index), dim(dim) {}

  Value gather(Value x) {
    if (Value gathered = known.lookup(x))
      return gathered;
    Value gathered = gatherComputed(x);
    if (!gathered)
      gathered = gatherStored(x);
    return known[x] = gathered;
  }

private:
  ArrayRef<int64_t> getShape() const { return typeOf(index).getShape(); }

  Value gatherStored(Value x) {
    Value place = linearizeAlong(call, typeOf(x).getShape(), index, dim);
    Value flat = call.reshape(x, typeOf(x).getNumElements());
    return markRows(call.gather(flat, place, 0), getSizeOfRow(x));
  }

  /// The size of a row, if one element of each is gathered. PyTorch refuses
  /// indices beyond the row.
  std::optional<int64_t> getSizeOfRow(Value x) const {
    SmallVector<int64_t> onePerRow(typeOf(x).getShape());
    int64_t size = std::exchange(onePerRow.back(), 1);
    return dim == rankOf(x) - 1 && getShape() == ArrayRef(onePerRow)
               ? std::optional(size)
               : std::nullopt;
  }

  /// The operands of a pointwise op at the gathered places; null where it
  /// costs more, or an operand is spread over some dimensions only.
  Value gatherComputed(Value x) {
    Operation *op = x.getDefiningOp();
    constexpr int64_t few = 4;
    if (!isa_and_nonnull<PointwiseOpInterface>(op) ||
        op->getNumResults() != 1 ||
        typeOf(x).getNumElements() < few * typeOf(index).getNumElements())
      return {};
    bool isAnyGathered = false;
    for (Value operand : op->getOperands()) {
      if (!isAtHand(operand, x) && !isVector(operand) &&
          typeOf(operand) != typeOf(operand).clone(typeOf(x).getShape()))
        return {};
      isAnyGathered |= !isAtHand(operand, x);
    }
    if (!isAnyGathered)
      return {};
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, gatherOperand(operand, x));
    Operation *clone = call.getBuilder().clone(*op, operands);
    clone->getResult(0).setType(typeOf(x).clone(getShape()));
    return clone->getResult(0);
  }

  Value gatherOperand(Value operand, Value x) {
    if (isAtHand(operand, x)) {
      // The index may be shorter than what it chooses from.
      for (int64_t i = 1; i <= rankOf(operand); ++i)
        if (typeOf(operand).getDimSize(rankOf(operand) - i) > 1)
          operand = call.slice(operand, rankOf(operand) - i, 0,
                               getShape()[rankOf(x) - i]);
      return operand;
    }
    if (isVector(operand))
      return call.gather(
          call.reshape(operand, typeOf(operand).getNumElements()), index, 0);
    return gather(operand);
  }

  /// The operand's size along the dimension, from the last one on.
  int64_t getSize(Value operand, Value x) const {
    int64_t own = dim - rankOf(x) + rankOf(operand);
    return own < 0 ? 1 : typeOf(operand).getDimSize(own);
  }
  /// Whether the operand is the same along the dimension.
  bool isAtHand(Value operand, Value x) const {
    return getSize(operand, x) == 1;
  }
  /// Whether the operand only has the dimension.
  bool isVector(Value operand) const {
    int64_t own = dim - rankOf(index) + rankOf(operand);
    return own >= 0 &&
           typeOf(operand).getDimSize(own) == typeOf(operand).getNumElements();
  }

  TorchCall &call;
  Value index;
  int64_t dim;
  llvm::DenseMap<Value, Value> known;
};
} // namespace

Value torchtofact::gatherElements(TorchCall &call, Value x, Value index,
                                  int64_t dim) {
  return ElementGatherer(call, index, dim).gather(x);
}

static LogicalResult convertGatherElements(TorchCall &call) {
  Value x, index;
  int64_t dim;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.dimension(1, "dim", rankOf(x), dim)) ||
      failed(indices(call, 2, "index", index)))
    return failure();
  if (!rankOf(x))
    return call.replace(x);
  if (rankOf(index) != rankOf(x))
    return call.emitArgumentError("index")
           << "has rank " << rankOf(index) << ", but 'self' has rank "
           << rankOf(x);
  return call.replace(gatherElements(call, x, index, dim));
}

/// `take_along_dim(x, indices, dim)`: both broadcast, except along `dim`.
static LogicalResult convertTakeAlong(TorchCall &call) {
  Value x, index;
  int64_t dim;
  if (failed(call.tensor(0, "self", x)) ||
      failed(indices(call, 1, "indices", index)))
    return failure();
  if (call.isNone(2)) {
    x = call.reshape(x, typeOf(x).getNumElements());
    index = call.reshape(index, typeOf(index).getNumElements());
    return call.replace(gatherElements(call, x, index, 0));
  }
  if (failed(call.dimensionOf(x, 2, "dim", dim)))
    return failure();
  SmallVector<int64_t> shape(call.getResultType().getShape()), source(shape);
  if (static_cast<int64_t>(shape.size()) != rankOf(x))
    return call.emitError() << "returns " << call.getResultType() << " for "
                            << x.getType() << ", but must keep the rank";
  source[dim] = typeOf(x).getDimSize(dim);
  return call.replace(gatherElements(call, call.expand(x, source),
                                     call.expand(index, shape), dim));
}

/// `take(x, index)`: places in the flattened tensor.
static LogicalResult convertTake(TorchCall &call) {
  Value x, index;
  if (failed(call.tensor(0, "self", x)) ||
      failed(indices(call, 1, "index", index)))
    return failure();
  int64_t count = typeOf(x).getNumElements();
  return call.replace(call.gather(call.reshape(x, count),
                                  countFromFront(call, index, count), 0));
}

LogicalResult torchtofact::mergeIndexed(TorchCall &call, Value x,
                                        ArrayRef<Value> places,
                                        IndexedDims &result) {
  SmallVector<int64_t> indexed, order;
  while (!places.empty() && !places.back())
    places = places.drop_back();
  if (static_cast<int64_t>(places.size()) > rankOf(x))
    return call.emitArgumentError("indices")
           << "indexes dimension " << places.size() - 1 << ", which "
           << x.getType() << " does not have";
  for (auto [dim, place] : llvm::enumerate(places)) {
    if (!place)
      continue;
    if (!elementOf(place).isInteger(32) && !elementOf(place).isInteger(64))
      return call.emitArgumentError("indices")
             << "has element type " << elementOf(place)
             << ", but must be integers of 32 or 64 bits";
    indexed.push_back(dim);
  }
  // Dimensions with others between them move to the front.
  int64_t count = indexed.size(), first = count ? indexed.front() : 0;
  bool adjoin = !count || indexed.back() - first + 1 == count;
  if (!adjoin)
    first = 0;
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (!llvm::is_contained(indexed, dim))
      order.push_back(dim);
  order.insert(order.begin() + first, indexed.begin(), indexed.end());
  result.order = order;
  result.permuted = call.permute(x, order);
  result.dim = first;

  ArrayRef<int64_t> shape = typeOf(result.permuted).getShape();
  Type element = call.getBuilder().getI64Type();
  int64_t merged = 1;
  for (int64_t dim = first + count - 1; dim >= first; --dim) {
    Value index = countFromFront(call, places[order[dim]], shape[dim]);
    if (count > 1)
      index = call.cast(index, element);
    if (merged != 1)
      index = call.binary<MulOp>(index, call.constant(merged, element));
    result.place =
        result.place ? call.binary<AddOp>(result.place, index) : index;
    merged *= shape[dim];
  }
  result.shape.assign(shape.begin(), shape.begin() + first);
  result.shape.push_back(merged);
  llvm::append_range(result.shape, shape.drop_front(first + count));
  return success();
}

/// Whether each of some indices varies along dimensions of its own, behind
/// those of the one before it, as `i` and `j` of `x[i[:, None], j]` do.
static bool varyApart(ArrayRef<Value> places) {
  int64_t rank = 0, last = -1;
  for (Value place : places)
    rank = std::max(rank, rankOf(place));
  for (Value place : places) {
    ArrayRef<int64_t> shape = typeOf(place).getShape();
    int64_t before = last;
    for (auto [i, size] : llvm::enumerate(shape)) {
      if (size == 1)
        continue;
      last = rank - static_cast<int64_t>(shape.size()) + i;
      if (last <= before)
        return false;
    }
  }
  return true;
}

/// Gathers one dimension after the other, or returns null: indices that are
/// linearized hide that neighbors share all but one of them.
static Value gatherApart(TorchCall &call, Value x, ArrayRef<Value> places) {
  while (!places.empty() && !places.back())
    places = places.drop_back();
  int64_t end = places.size();
  while (!places.empty() && !places.front())
    places = places.drop_front();
  auto isIndex = [](Value place) {
    return place &&
           (elementOf(place).isInteger(32) || elementOf(place).isInteger(64));
  };
  if (places.size() < 2 || end > rankOf(x) || !llvm::all_of(places, isIndex) ||
      !varyApart(places))
    return Value();
  int64_t first = end - static_cast<int64_t>(places.size());
  for (auto [i, place] : llvm::enumerate(places)) {
    int64_t dim = first + static_cast<int64_t>(i);
    Value flat = call.reshape(place, typeOf(place).getNumElements());
    x = call.gather(x, countFromFront(call, flat, typeOf(x).getDimSize(dim)),
                    dim);
  }
  return call.reshape(x, call.getResultType().getShape());
}

/// The size of a row, if `x[[0, 1, 2, ...], t]` is one element of each row.
/// PyTorch refuses indices beyond the row.
static std::optional<int64_t> getSizeOfRow(Value x, ArrayRef<Value> places) {
  DenseIntElementsAttr rows;
  if (rankOf(x) != 2 || places.size() != 2 || !places[0] || !places[1] ||
      typeOf(places[0]).getShape() != typeOf(places[1]).getShape() ||
      typeOf(places[0]).getNumElements() != typeOf(x).getDimSize(0) ||
      !matchPattern(places[0], m_Constant(&rows)))
    return std::nullopt;
  for (auto [i, row] : llvm::enumerate(rows.getValues<APInt>()))
    if (row.getSExtValue() != static_cast<int64_t>(i))
      return std::nullopt;
  return typeOf(x).getDimSize(1);
}

/// `x[i]`, `x[:, i]`, `x[i, j]`: indexed dimensions are merged and the indices
/// linearized, unless each varies along dimensions of its own. If they do not
/// follow each other, those of the indices come first, as in PyTorch.
static LogicalResult convertIndex(TorchCall &call) {
  Value x;
  SmallVector<Value> places;
  IndexedDims dims;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.optionalTensors(1, "indices", places)))
    return failure();
  if (Value gathered = gatherApart(call, x, places))
    return call.replace(gathered);
  if (failed(mergeIndexed(call, x, places, dims)))
    return failure();
  if (!dims.place)
    return call.replace(x);
  Value gathered = call.gather(call.reshape(dims.permuted, dims.shape),
                               dims.place, dims.dim);
  return call.replace(markRows(gathered, getSizeOfRow(x, places)));
}

/// 1 at the index, 0 elsewhere.
static LogicalResult convertOneHot(TorchCall &call) {
  Value index;
  if (failed(indices(call, 0, "self", index)))
    return failure();
  ArrayRef<int64_t> declared = call.getResultType().getShape();
  if (declared.empty())
    return call.emitError()
           << "returns a scalar, but must return one dimension "
              "more than its operand has";
  int64_t classes = declared.back();
  SmallVector<int64_t> shape(typeOf(index).getShape());
  shape.push_back(1);
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, classes));
  Value wide = call.cast(index, call.getBuilder().getI64Type());
  Value hot = call.compare(Predicate::eq, call.reshape(wide, shape),
                           makeIndices(call, numbers));
  return call.replace(call.cast(hot, call.getResultElement()));
}

//===----------------------------------------------------------------------===//
// Reorderings
//===----------------------------------------------------------------------===//

/// Reads dimensions, counted from the front, without sorting them.
static LogicalResult orderedDimensions(TorchCall &call, unsigned index, Value x,
                                       SmallVectorImpl<int64_t> &dims) {
  if (failed(call.integers(index, "dims", dims)))
    return failure();
  for (int64_t &dim : dims) {
    if (dim < -rankOf(x) || dim >= rankOf(x))
      return call.emitArgumentError("dims")
             << "has " << dim << ", which is not in [" << -rankOf(x) << ", "
             << rankOf(x) << ")";
    dim = dim < 0 ? dim + rankOf(x) : dim;
  }
  return success();
}

/// Reverses some dimensions.
static LogicalResult convertFlip(TorchCall &call) {
  Value x;
  SmallVector<int64_t> dims;
  if (failed(call.tensor(0, "self", x)) ||
      failed(orderedDimensions(call, 1, x, dims)))
    return failure();
  for (int64_t dim : dims) {
    int64_t size = typeOf(x).getDimSize(dim);
    SmallVector<int64_t> numbers;
    for (int64_t i = size; i > 0; --i)
      numbers.push_back(i - 1);
    if (size > 1)
      x = call.gather(x, makeIndices(call, numbers), dim);
  }
  return call.replace(x);
}

/// Rotates a dimension: the last `shift` elements come first.
static Value roll(TorchCall &call, Value x, int64_t dim, int64_t shift) {
  int64_t size = typeOf(x).getDimSize(dim);
  shift = size ? llvm::mod(shift, size) : 0;
  if (shift == 0)
    return x;
  return call.concat({call.slice(x, dim, size - shift, shift),
                      call.slice(x, dim, 0, size - shift)},
                     dim);
}

static LogicalResult convertRoll(TorchCall &call) {
  Value x;
  SmallVector<int64_t> shifts, dims;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.integers(1, "shifts", shifts)) ||
      (!call.isNone(2) && failed(orderedDimensions(call, 2, x, dims))))
    return failure();
  if (dims.empty() && shifts.size() == 1) {
    Value flat = call.reshape(x, typeOf(x).getNumElements());
    return call.replace(call.reshape(roll(call, flat, 0, shifts.front()),
                                     typeOf(x).getShape()));
  }
  if (dims.size() != shifts.size())
    return call.emitArgumentError("dims")
           << "has " << dims.size() << " dimensions, but 'shifts' has "
           << shifts.size() << " shifts";
  for (auto [dim, shift] : llvm::zip(dims, shifts))
    x = roll(call, x, dim, shift);
  return call.replace(x);
}

//===----------------------------------------------------------------------===//
// Padding and insertion
//===----------------------------------------------------------------------===//

/// Pads or, for negative amounts, crops. Amounts are `before` and `after` per
/// dimension, the last dimension first.
static LogicalResult pad(TorchCall &call, ArrayRef<int64_t> amounts,
                         double value) {
  Value x;
  if (failed(call.operand(x)))
    return failure();
  if (amounts.size() % 2 ||
      static_cast<int64_t>(amounts.size()) > 2 * rankOf(x))
    return call.emitArgumentError("pad")
           << "has " << amounts.size() << " amounts for " << x.getType()
           << ", but needs two per padded dimension";
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    int64_t dim = rankOf(x) - 1 - i, before = amounts[2 * i],
            after = amounts[2 * i + 1];
    int64_t start = std::max<int64_t>(0, -before);
    int64_t size =
        typeOf(x).getDimSize(dim) - start - std::max<int64_t>(0, -after);
    if (size < 0)
      return call.emitArgumentError("pad")
             << "removes more elements than dimension " << dim << " of "
             << x.getType() << " has";
    x = call.slice(x, dim, start, size);
    auto border = [&](int64_t width) {
      SmallVector<int64_t> shape(typeOf(x).getShape());
      shape[dim] = width;
      return call.constant(value, elementOf(x), shape);
    };
    SmallVector<Value> parts;
    if (before > 0)
      parts.push_back(border(before));
    parts.push_back(x);
    if (after > 0)
      parts.push_back(border(after));
    x = call.concat(parts, dim);
  }
  return call.replace(x);
}

/// `pad(x, pad, mode, value)`
static LogicalResult convertPad(TorchCall &call) {
  SmallVector<int64_t> amounts;
  StringRef mode = "constant";
  double value = 0;
  if (failed(call.integers(1, "pad", amounts)) ||
      (!call.isNone(2) && failed(call.string(2, "mode", mode))) ||
      failed(call.optionalNumber(3, "value", value)))
    return failure();
  if (mode != "constant")
    return call.emitArgumentError("mode")
           << "is '" << mode << "', but must be 'constant'";
  return pad(call, amounts, value);
}

/// `constant_pad_nd(x, pad, value)`
static LogicalResult convertConstantPad(TorchCall &call) {
  SmallVector<int64_t> amounts;
  double value = 0;
  if (failed(call.integers(1, "pad", amounts)) ||
      failed(call.optionalNumber(2, "value", value)))
    return failure();
  return pad(call, amounts, value);
}

/// Replaces the elements of `x` from `start` on by `source`.
static Value insert(TorchCall &call, Value x, Value source, int64_t dim,
                    int64_t start) {
  int64_t size = typeOf(x).getDimSize(dim),
          end = start + typeOf(source).getDimSize(dim);
  SmallVector<Value> parts;
  if (start > 0)
    parts.push_back(call.slice(x, dim, 0, start));
  parts.push_back(source);
  if (end < size)
    parts.push_back(call.slice(x, dim, end, size - end));
  return call.concat(parts, dim);
}

/// `slice_scatter(x, source, dim, start, end, step)`
static LogicalResult convertSliceScatter(TorchCall &call) {
  Value x, source;
  int64_t dim = 0, step = 1;
  if (failed(call.operand(x)) ||
      failed(call.operand(1, "src", call.getResultElement(), source)) ||
      failed(call.optionalDimensionOf(x, 2, "dim", dim)) ||
      failed(call.optionalInteger(5, "step", step)))
    return failure();
  int64_t size = typeOf(x).getDimSize(dim), start = 0;
  if (failed(call.optionalInteger(3, "start", start)))
    return failure();
  start = std::clamp<int64_t>(start < 0 ? start + size : start, 0, size);
  if (step != 1)
    return call.emitArgumentError("step") << "is " << step << ", but must be 1";
  if (rankOf(source) != rankOf(x))
    return call.emitArgumentError("src")
           << "has rank " << rankOf(source) << ", but 'self' has rank "
           << rankOf(x);
  if (!typeOf(source).getNumElements())
    return call.replace(x);
  return call.replace(insert(call, x, source, dim, start));
}

/// `select_scatter(x, source, dim, index)`
static LogicalResult convertSelectScatter(TorchCall &call) {
  Value x, source;
  int64_t dim, index;
  if (failed(call.operand(x)) ||
      failed(call.operand(1, "src", call.getResultElement(), source)) ||
      failed(call.dimensionOf(x, 2, "dim", dim)) ||
      failed(call.dimension(3, "index", typeOf(x).getDimSize(dim), index)))
    return failure();
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[dim] = 1;
  return call.replace(insert(call, x, call.reshape(source, shape), dim, index));
}

/// `fill(x, value)` and `copy(x, source)`: only the shape of `x` is used.
template <bool copies> static LogicalResult convertFill(TorchCall &call) {
  Value value;
  if (failed(call.operand(1, copies ? "src" : "value", call.getResultElement(),
                          value)))
    return failure();
  value = call.cast(value, call.getResultElement());
  return call.replace(call.expand(value, call.getResultType().getShape()));
}

void torchtofact::populateIndexingConverters(ConverterTable &table) {
  table["aten.embedding"] = convertEmbedding;
  table["aten.index_select"] = convertIndexSelect;
  table["aten.index.Tensor"] = convertIndex;
  table["aten.index.Tensor_hacked_twin"] = convertIndex;
  table["aten._unsafe_index.Tensor"] = convertIndex;
  table["aten.gather"] = convertGatherElements;
  table["aten.take"] = convertTake;
  table["aten.take_along_dim"] = convertTakeAlong;
  table["aten.one_hot"] = convertOneHot;
  table["aten.flip"] = convertFlip;
  table["aten.roll"] = convertRoll;
  table["aten.pad"] = convertPad;
  table["aten.constant_pad_nd"] = convertConstantPad;
  table["aten.slice_scatter"] = convertSliceScatter;
  table["aten.select_scatter"] = convertSelectScatter;
  table["aten.fill.Scalar"] = convertFill</*copies=*/false>;
  table["aten.fill.Tensor"] = convertFill</*copies=*/false>;
  table["aten.copy"] = convertFill</*copies=*/true>;
}
