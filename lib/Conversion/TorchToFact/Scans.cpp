//===- Scans.cpp - Running reductions, sorts and searches -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Indices.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

/// Reads a tensor and a dimension. A 0-d tensor becomes a row of one element.
static LogicalResult rows(TorchCall &call, unsigned dimIndex, Value &x,
                          int64_t &dim) {
  if (failed(call.tensor(0, "self", x)))
    return failure();
  dim = std::max<int64_t>(rankOf(x) - 1, 0);
  if (failed(call.optionalDimension(dimIndex, "dim", rankOf(x), dim)))
    return failure();
  if (!rankOf(x))
    x = call.reshape(x, {1});
  return success();
}

/// 0, 1, ... along `dim`, for a tensor of a given rank.
static Value countAlong(TorchCall &call, Value x, int64_t dim) {
  int64_t size = typeOf(x).getDimSize(dim);
  SmallVector<int64_t> shape(rankOf(x), 1);
  shape[dim] = size;
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, size));
  return call.reshape(makeIndices(call, numbers), shape);
}

static Value scan(TorchCall &call, ScanKind kind, Value x, int64_t dim) {
  return call.infer<ScanOp>(kind, x, dim);
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

/// `cumsum(x, dim, dtype)`: elements are cast to the result's type first.
template <ScanKind kind> static LogicalResult convertScan(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(rows(call, 1, x, dim)))
    return failure();
  x = call.cast(x, call.getResultElement());
  return call.replaceReshaped(scan(call, kind, x, dim));
}

/// `cummax` and `cummin` also return the last place so far of the extreme. A
/// NaN is the extreme of both.
template <ScanKind kind>
static LogicalResult convertRunningExtreme(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(rows(call, 1, x, dim)))
    return failure();
  Value extreme = scan(call, kind, x, dim);
  Value isExtreme = call.compare(Predicate::eq, x, extreme);
  if (isa<FloatType>(elementOf(x)))
    isExtreme = call.logicalOr(isExtreme, call.compare(Predicate::ne, x, x));
  // Places of 32 bits, where they fit: a vector has twice as many.
  Type wide = call.getBuilder().getI64Type(), narrow = wide;
  if (typeOf(x).getDimSize(dim) <= std::numeric_limits<int32_t>::max())
    narrow = call.getBuilder().getI32Type();
  Value none = call.constant(-1, narrow);
  Value count = call.cast(countAlong(call, x, dim), narrow);
  Value place =
      scan(call, ScanKind::max, call.select(isExtreme, count, none), dim);
  return call.replaceReshaped({extreme, call.cast(place, wide)});
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// The places of the first `count` elements in sorted order.
static Value sortPlaces(TorchCall &call, Value x, int64_t dim, bool descending,
                        int64_t count) {
  IntegerAttr places;
  if (count != typeOf(x).getDimSize(dim))
    places = call.getBuilder().getI64IntegerAttr(count);
  return call.infer<ArgsortOp>(x, dim, descending, places);
}

/// Whether rows are sorted by a network, in which all elements of a row are
/// compared in registers. Places need a sort.
static bool isSortedByNetwork(TorchCall &call, Value x, int64_t dim) {
  constexpr int64_t mostElements = 8;
  int64_t size = typeOf(x).getDimSize(dim);
  Operation *op = call.getOperation();
  bool usesPlaces = op->getNumResults() > 1 && !op->getResult(1).use_empty();
  return !usesPlaces && size > 1 && size <= mostElements &&
         !elementOf(x).isInteger(1);
}

/// The elements of each row in order, by Batcher's network for any number of
/// them (Knuth, volume 3, algorithm 5.2.2M). NaNs are larger than numbers.
static SmallVector<Value> sortByNetwork(TorchCall &call, Value x, int64_t dim,
                                        bool descending) {
  int64_t size = typeOf(x).getDimSize(dim);
  SmallVector<Value> row;
  for (int64_t i = 0; i < size; ++i)
    row.push_back(call.slice(x, dim, i, 1));
  auto order = [&](Value &a, Value &b) {
    Value low = call.ignoreNan<MinimumOp>(a, b);
    b = call.binary<MaximumOp>(a, b);
    a = low;
  };
  for (int64_t p = 1; p < size; p *= 2)
    for (int64_t k = p; k > 0; k /= 2)
      for (int64_t j = k % p; j + k < size; j += 2 * k)
        for (int64_t i = j; i < std::min(j + k, size - k); ++i)
          if (i / (2 * p) == (i + k) / (2 * p))
            order(row[i], row[i + k]);
  if (descending)
    std::reverse(row.begin(), row.end());
  return row;
}

/// `sort(x, dim, descending)`; the stable overload has `stable` before `dim`.
/// Every sort here is stable.
template <bool onlyPlaces, unsigned dimIndex>
static LogicalResult convertSort(TorchCall &call) {
  Value x;
  int64_t dim;
  bool descending = false;
  if (failed(rows(call, dimIndex, x, dim)) ||
      failed(call.optionalBoolean(dimIndex + 1, "descending", descending)))
    return failure();
  if (!onlyPlaces && isSortedByNetwork(call, x, dim))
    return call.replaceReshaped(
        {call.concat(sortByNetwork(call, x, dim, descending), dim), Value()});
  int64_t size = typeOf(x).getDimSize(dim);
  Value places = sortPlaces(call, x, dim, descending, size);
  if (onlyPlaces)
    return call.replaceReshaped(places);
  return call.replaceReshaped({gatherElements(call, x, places, dim), places});
}

/// `msort(x)`: sorted along dimension 0, without places.
static LogicalResult convertMsort(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(rows(call, /*dimIndex=*/1, x, dim)))
    return failure();
  if (isSortedByNetwork(call, x, 0))
    return call.replaceReshaped(
        call.concat(sortByNetwork(call, x, 0, /*descending=*/false), 0));
  Value places = sortPlaces(call, x, /*dim=*/0, /*descending=*/false,
                            typeOf(x).getDimSize(0));
  return call.replaceReshaped(gatherElements(call, x, places, 0));
}

/// Reads `k`, a number of elements of a row.
static LogicalResult rank(TorchCall &call, Value x, int64_t dim, int64_t least,
                          int64_t &k) {
  int64_t size = typeOf(x).getDimSize(dim);
  if (failed(call.integer(1, "k", k)))
    return failure();
  if (k < least || k > size)
    return call.emitArgumentError("k") << "is " << k << ", but must be in ["
                                       << least << ", " << size << "]";
  return success();
}

/// `topk(x, k, dim, largest, sorted)`: always sorted.
static LogicalResult convertTopK(TorchCall &call) {
  Value x;
  int64_t dim, k;
  bool largest = true;
  if (failed(rows(call, 2, x, dim)) || failed(rank(call, x, dim, 0, k)) ||
      failed(call.optionalBoolean(3, "largest", largest)))
    return failure();
  if (k > 0 && isSortedByNetwork(call, x, dim)) {
    SmallVector<Value> sorted = sortByNetwork(call, x, dim, largest);
    return call.replaceReshaped(
        {call.concat(ArrayRef(sorted).take_front(k), dim), Value()});
  }
  Value places = sortPlaces(call, x, dim, largest, k);
  return call.replaceReshaped({gatherElements(call, x, places, dim), places});
}

/// `kthvalue(x, k, dim, keepdim)`, counted from 1.
static LogicalResult convertKthValue(TorchCall &call) {
  Value x;
  int64_t dim, k;
  if (failed(rows(call, 2, x, dim)) || failed(rank(call, x, dim, 1, k)))
    return failure();
  if (isSortedByNetwork(call, x, dim))
    return call.replaceReshaped(
        {sortByNetwork(call, x, dim, /*descending=*/false)[k - 1], Value()});
  Value places = sortPlaces(call, x, dim, /*descending=*/false, k);
  Value place = call.slice(places, dim, k - 1, 1);
  return call.replaceReshaped({gatherElements(call, x, place, dim), place});
}

/// The place of the lower median of each row, which keeps the dimension. With
/// a NaN in the row, the first NaN is the median, or none is if `skipsNan`.
static Value findMedian(TorchCall &call, Value x, int64_t dim, bool skipsNan) {
  int64_t size = typeOf(x).getDimSize(dim), middle = (size - 1) / 2;
  bool isFloat = isa<FloatType>(elementOf(x));
  bool counts = skipsNan && isFloat;
  // Without NaNs, the median is not behind the middle.
  Value places = sortPlaces(call, x, dim, /*descending=*/false, middle + 1);
  if (!counts) {
    Value place = call.slice(places, dim, middle, 1);
    if (!isFloat)
      return place;
    Value largest = call.reduce(ReduceKind::max, x, dim, /*keep=*/true);
    return call.select(call.compare(Predicate::ne, largest, largest),
                       call.reduce(ReduceKind::argmax, x, dim, /*keep=*/true),
                       place);
  }
  Type integer = call.getBuilder().getI64Type();
  Value isNumber = call.compare(Predicate::eq, x, x);
  Value numbers = call.reduce(ReduceKind::sum, call.cast(isNumber, integer),
                              dim, /*keep=*/true);
  Value one = call.constant(1, integer);
  Value last = call.binary<SubOp>(call.binary<MaximumOp>(numbers, one), one);
  return gatherElements(call, places, call.binary<ShiftRightOp>(last, one),
                        dim);
}

/// `median(x, dim, keepdim)`, or of all elements, without places.
template <bool skipsNan> static LogicalResult convertMedian(TorchCall &call) {
  Value x;
  int64_t dim;
  bool isRow = call.getOperation()->getNumOperands() > 1;
  if (failed(rows(call, 1, x, dim)))
    return failure();
  if (!isRow) {
    dim = 0;
    x = call.reshape(x, typeOf(x).getNumElements());
  }
  if (!typeOf(x).getDimSize(dim))
    return call.emitArgumentError("self") << "has no elements to choose from";
  bool mayBeNan = isa<FloatType>(elementOf(x));
  if (!(skipsNan && mayBeNan) && isSortedByNetwork(call, x, dim)) {
    SmallVector<Value> sorted =
        sortByNetwork(call, x, dim, /*descending=*/false);
    Value median = sorted[(sorted.size() - 1) / 2];
    // The last one is NaN if any is.
    if (mayBeNan)
      median =
          call.select(call.compare(Predicate::eq, sorted.back(), sorted.back()),
                      median, sorted.back());
    return isRow ? call.replaceReshaped({median, Value()})
                 : call.replaceReshaped(median);
  }
  Value place = findMedian(call, x, dim, skipsNan);
  Value value = gatherElements(call, x, place, dim);
  if (!isRow)
    return call.replaceReshaped(value);
  return call.replaceReshaped({value, place});
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

/// The number of boundaries before each element, by halving an interval. All
/// elements take the same steps: the first one leaves a power of two of
/// possible places, so that no later one reads outside of the boundaries.
static Value searchBefore(TorchCall &call, Value boundaries, Value x,
                          Predicate isAfter) {
  ArrayRef<int64_t> rows = typeOf(boundaries).getShape().drop_back();
  int64_t size = typeOf(boundaries).getShape().back(),
          total = typeOf(boundaries).getNumElements();
  if (!size)
    return call.constant(0, call.getResultElement(), typeOf(x).getShape());
  OpBuilder &builder = call.getBuilder();
  Type integer =
      total < INT32_MAX ? builder.getI32Type() : builder.getI64Type();
  // Where the row of boundaries begins in the flattened tensor.
  Value begin;
  for (int64_t dim = 0, e = rows.size(); dim < e; ++dim) {
    Value offset = call.cast(makeOffsets(call, typeOf(boundaries).getShape(),
                                         typeOf(x).getShape(), dim),
                             integer);
    begin = begin ? call.binary<AddOp>(begin, offset) : offset;
  }
  // `last` is the last boundary that is known to be before the element.
  int64_t step = llvm::bit_floor(static_cast<uint64_t>(size));
  Value middle = call.slice(boundaries, rows.size(), step - 1, 1);
  Value last =
      call.select(call.compare(isAfter, middle, x), call.constant(-1, integer),
                  call.constant(size - step, integer));
  if (begin)
    last = call.binary<AddOp>(last, begin);
  Value flat = call.reshape(boundaries, total);
  while (step >>= 1) {
    Value probe = call.binary<AddOp>(last, call.constant(step, integer));
    Value after = call.compare(isAfter, call.gather(flat, probe, 0), x);
    last = call.select(after, last, probe);
  }
  if (begin)
    last = call.binary<SubOp>(last, begin);
  Value count = call.binary<AddOp>(last, call.constant(1, integer));
  return call.cast(count, call.getResultElement());
}

/// The place of each element of `x` in the sorted last dimension of
/// `boundaries`: the number of boundaries before it. With `right`, equal ones
/// are before it too.
static LogicalResult search(TorchCall &call, Value boundaries, Value x,
                            bool right) {
  // Not the opposite comparison: all boundaries are before a NaN.
  Predicate isAfter = right ? Predicate::gt : Predicate::ge;
  return call.replaceReshaped(searchBefore(call, boundaries, x, isAfter));
}

/// Reads the number or tensor to search for, in the boundaries' type.
static LogicalResult wanted(TorchCall &call, unsigned index, Value boundaries,
                            Value &x) {
  if (!rankOf(boundaries))
    return call.emitError() << "needs boundaries of rank 1 or more";
  if (!call.isNumber(index))
    return call.operand(index, "self", elementOf(boundaries), x);
  double number;
  if (failed(call.number(index, "self", number)))
    return failure();
  x = call.constant(number, elementOf(boundaries));
  return success();
}

/// `searchsorted(boundaries, x, out_int32, right, side, sorter)`
static LogicalResult convertSearchSorted(TorchCall &call) {
  Value boundaries, x;
  bool right = false;
  StringRef side = "left";
  if (failed(call.tensor(0, "sorted_sequence", boundaries)) ||
      failed(wanted(call, 1, boundaries, x)) ||
      failed(call.optionalBoolean(3, "right", right)) ||
      (!call.isNone(4) && failed(call.string(4, "side", side))))
    return failure();
  if (!call.isNone(5)) {
    Value sorter;
    if (failed(indices(call, 5, "sorter", sorter)))
      return failure();
    boundaries =
        gatherElements(call, boundaries, sorter, rankOf(boundaries) - 1);
  }
  return search(call, boundaries, x, right || side == "right");
}

/// `bucketize(x, boundaries, out_int32, right)`
static LogicalResult convertBucketize(TorchCall &call) {
  Value boundaries, x;
  bool right = false;
  if (failed(call.tensor(1, "boundaries", boundaries)) ||
      failed(wanted(call, 0, boundaries, x)) ||
      failed(call.optionalBoolean(3, "right", right)))
    return failure();
  return search(call, boundaries, x, right);
}

void torchtofact::populateScanConverters(ConverterTable &table) {
  table["aten.cumsum"] = convertScan<ScanKind::sum>;
  table["aten.cumprod"] = convertScan<ScanKind::prod>;
  table["aten.logcumsumexp"] = convertScan<ScanKind::logsumexp>;
  table["aten.cummax"] = convertRunningExtreme<ScanKind::max>;
  table["aten.cummin"] = convertRunningExtreme<ScanKind::min>;

  table["aten.sort"] = convertSort</*onlyPlaces=*/false, /*dimIndex=*/1>;
  table["aten.sort.stable"] = convertSort</*onlyPlaces=*/false, /*dimIndex=*/2>;
  table["aten.argsort"] = convertSort</*onlyPlaces=*/true, /*dimIndex=*/1>;
  table["aten.argsort.stable"] =
      convertSort</*onlyPlaces=*/true, /*dimIndex=*/2>;
  table["aten.msort"] = convertMsort;
  table["aten.topk"] = convertTopK;
  table["aten.kthvalue"] = convertKthValue;
  for (StringRef overload : {"", ".dim"}) {
    table[("aten.median" + overload).str()] = convertMedian</*skipsNan=*/false>;
    table[("aten.nanmedian" + overload).str()] =
        convertMedian</*skipsNan=*/true>;
  }

  for (StringRef overload : {".Tensor", ".Scalar"}) {
    table[("aten.searchsorted" + overload).str()] = convertSearchSorted;
    table[("aten.bucketize" + overload).str()] = convertBucketize;
  }
}
