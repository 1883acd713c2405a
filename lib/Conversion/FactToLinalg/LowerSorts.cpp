//===- LowerSorts.cpp - Sorted rows ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A merge sort: stage k merges pairs of sorted runs of 2^k elements, the second
// of which may be shorter or missing at the end of a row. In parallel, each
// place of the merged run finds by binary search how many elements before it
// come from the first run; in sequence, the merge counts them.
//
//===----------------------------------------------------------------------===//

#include "LowerSorts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;

using utils::IteratorType;

/// Whether x must stand before y. A NaN is larger than all else.
static Value precedes(ImplicitLocOpBuilder &b, Value x, Value y,
                      bool descending) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  if (descending)
    std::swap(x, y);
  if (x.getType().isInteger(1))
    return arith::CmpIOp::create(b, I::ult, x, y);
  if (!isa<FloatType>(x.getType()))
    return arith::CmpIOp::create(b, I::slt, x, y);
  Value isLess = arith::CmpFOp::create(b, F::ULT, x, y);
  Value isNumber = arith::CmpFOp::create(b, F::ORD, x, x);
  return arith::AndIOp::create(b, isLess, isNumber);
}

static Value logicalNot(ImplicitLocOpBuilder &b, Value x) {
  Value set = arith::ConstantIntOp::create(b, true, 1);
  return arith::XOrIOp::create(b, x, set);
}

namespace {
/// One stage of the sort of rows in `from`. Keys that hold their places have no
/// others.
struct Merge {
  SortedRows from;
  /// The number of the stage.
  Value stage;
  bool descending;

  int64_t getSize() const { return tensorType(from.keys).getDimSize(1); }
  Value read(ImplicitLocOpBuilder &b, Value tensor, ValueRange at,
             Value place) const {
    return tensor::ExtractOp::create(b, tensor,
                                     ValueRange{at[0], place, at[2]});
  }
};

/// The runs whose merged elements hold a place.
struct Runs {
  Value start, middle, end;
  Runs(IndexBuilder at, const Merge &merge, Value place) {
    Value size = at.constant(merge.getSize());
    Value bits = at.add(merge.stage, at.constant(1));
    Value run = at.shiftLeft(at.constant(1), merge.stage);
    start = at.shiftLeft(at.shiftRight(place, bits), bits);
    middle = at.min(at.add(start, run), size);
    end = at.min(at.add(middle, run), size);
  }
};

/// The next element of a merge.
struct Taken {
  Value key, place, isFirst;
};
} // namespace

/// Takes the element at `first` in the first run or the one at `second` in the
/// second, either of which may have ended.
static Taken take(ImplicitLocOpBuilder &b, const Merge &merge, const Runs &runs,
                  ValueRange at, Value first, Value second) {
  IndexBuilder index{b};
  Value last = index.constant(merge.getSize() - 1);
  Value hasFirst = index.isLess(first, runs.middle);
  Value hasSecond = index.isLess(second, runs.end);
  first = index.min(first, last);
  second = index.min(second, last);
  Value x = merge.read(b, merge.from.keys, at, first);
  Value y = merge.read(b, merge.from.keys, at, second);
  Value isSecond =
      arith::AndIOp::create(b, hasSecond, precedes(b, y, x, merge.descending));
  Value isFirst = arith::AndIOp::create(b, hasFirst, logicalNot(b, isSecond));
  Value key = arith::SelectOp::create(b, isFirst, x, y);
  if (!merge.from.places)
    return {key, {}, isFirst};
  Value place = index.select(isFirst, first, second);
  return {key, merge.read(b, merge.from.places, at, place), isFirst};
}

/// How many of the first `count` elements of the merged run come from the first
/// run.
static Value findSplit(ImplicitLocOpBuilder &b, const Merge &merge,
                       const Runs &runs, ValueRange at, Value count) {
  IndexBuilder index{b};
  Value zero = index.constant(0), one = index.constant(1);
  Value last = index.constant(merge.getSize() - 1);
  Value low =
      index.max(zero, index.sub(count, index.sub(runs.end, runs.middle)));
  Value high = index.min(count, index.sub(runs.middle, runs.start));
  auto body = [&](OpBuilder &nested, Location loc, Value, ValueRange interval) {
    ImplicitLocOpBuilder b(loc, nested);
    IndexBuilder index{b};
    Value low = interval[0], high = interval[1];
    Value middle = index.shiftRight(index.add(low, high), one);
    // Past the end of the search, `low` may be past the end of the row.
    Value x = merge.read(b, merge.from.keys, at,
                         index.min(index.add(runs.start, middle), last));
    Value rank = index.sub(index.sub(count, one), middle);
    Value y = merge.read(b, merge.from.keys, at, index.add(runs.middle, rank));
    Value isAfter = precedes(b, y, x, merge.descending);
    Value moves = arith::AndIOp::create(b, index.isLess(low, high),
                                        logicalNot(b, isAfter));
    scf::YieldOp::create(
        b, ValueRange{index.select(moves, index.add(middle, one), low),
                      index.select(moves, high, middle)});
  };
  Value trips = index.add(merge.stage, one);
  return scf::ForOp::create(b, zero, trips, one, ValueRange{low, high}, body)
      .getResult(0);
}

/// Each place finds its element by itself.
static SortedRows mergeInParallel(ElementBuilder &b, const Merge &merge) {
  RankedTensorType keys = tensorType(merge.from.keys),
                   places = tensorType(merge.from.places);
  auto empty = [&](RankedTensorType type) -> Value {
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  };
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(3));
  SmallVector<IteratorType> iterators(3, IteratorType::parallel);
  auto merged = linalg::GenericOp::create(
      b, TypeRange{keys, places}, ValueRange(),
      ValueRange{empty(keys), empty(places)}, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder b(loc, nested);
        IndexBuilder index{b};
        SmallVector<Value> at;
        for (int64_t dim = 0; dim < 3; ++dim)
          at.push_back(linalg::IndexOp::create(b, dim));
        Runs runs(index, merge, at[1]);
        Value count = index.sub(at[1], runs.start);
        Value split = findSplit(b, merge, runs, at, count);
        Value second = index.add(runs.middle, index.sub(count, split));
        Taken taken =
            take(b, merge, runs, at, index.add(runs.start, split), second);
        linalg::YieldOp::create(b, ValueRange{taken.key, taken.place});
      });
  return {merged.getResult(0), merged.getResult(1)};
}

/// Walks along the rows. The loops carry both results and the next place of
/// each run.
static SortedRows mergeInOrder(ElementBuilder &b, const Merge &merge) {
  ArrayRef<int64_t> shape = tensorType(merge.from.keys).getShape();
  auto empty = [&](Value like) -> Value {
    RankedTensorType type = tensorType(like);
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  };
  IndexBuilder index{b};
  Value zero = index.constant(0), one = index.constant(1);
  SmallVector<Value> initial{empty(merge.from.keys)};
  if (merge.from.places)
    initial.push_back(empty(merge.from.places));
  size_t tensors = initial.size();
  initial.append({zero, zero});
  // Rows outside, places inside.
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), {zero, zero, zero},
      {index.constant(shape[0]), index.constant(shape[2]),
       index.constant(shape[1])},
      {one, one, one}, initial,
      [&](OpBuilder &nested, Location loc, ValueRange i, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, nested);
        IndexBuilder index{b};
        SmallVector<Value> at{i[0], i[2], i[1]};
        Runs runs(index, merge, at[1]);
        Value begins = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at[1],
                                             runs.start);
        Value first = index.select(begins, runs.start, carried[tensors]);
        Value second = index.select(begins, runs.middle, carried[tensors + 1]);
        Taken taken = take(b, merge, runs, at, first, second);
        scf::ValueVector next{
            tensor::InsertOp::create(b, taken.key, carried[0], at)};
        if (taken.place)
          next.push_back(
              tensor::InsertOp::create(b, taken.place, carried[1], at));
        next.push_back(
            index.select(taken.isFirst, index.add(first, one), first));
        next.push_back(
            index.select(taken.isFirst, second, index.add(second, one)));
        return next;
      });
  return {nest.results[0], merge.from.places ? nest.results[1] : Value()};
}

/// A loop over the stages.
static SmallVector<Value> mergeInStages(
    ElementBuilder &b, ValueRange tensors,
    llvm::function_ref<SortedRows(ElementBuilder &, SortedRows, Value)> merge) {
  IndexBuilder index{b};
  Value zero = index.constant(0), one = index.constant(1);
  int64_t size = tensorType(tensors.front()).getDimSize(1);
  Value stages = index.constant(llvm::Log2_64_Ceil(size));
  auto body = [&](OpBuilder &nested, Location loc, Value stage,
                  ValueRange carried) {
    ElementBuilder b(nested, loc);
    bool hasPlaces = carried.size() > 1;
    SortedRows merged =
        merge(b, {carried[0], hasPlaces ? carried[1] : Value()}, stage);
    SmallVector<Value> next{merged.keys};
    if (hasPlaces)
      next.push_back(merged.places);
    scf::YieldOp::create(b, next);
  };
  return SmallVector<Value>(
      scf::ForOp::create(b, zero, stages, one, tensors, body).getResults());
}

static SortedRows sortPacked(ElementBuilder &b, Value keys, bool descending);

/// All stages, each of all rows.
static SortedRows sortInStages(ElementBuilder &b, Value keys, bool descending,
                               Steps steps) {
  RankedTensorType type = tensorType(keys);
  if (steps == Steps::Sequential && type.getElementTypeBitWidth() <= 32 &&
      type.getDimSize(1) < INT32_MAX)
    return sortPacked(b, keys, descending);
  Value places =
      b.map(type.clone(b.getI64Type()), {}, {},
            [](ImplicitLocOpBuilder &b, ValueRange) -> Value {
              Value place = linalg::IndexOp::create(b, 1);
              return arith::IndexCastOp::create(b, b.getI64Type(), place);
            });
  SmallVector<Value> sorted = mergeInStages(
      b, {keys, places}, [&](ElementBuilder &b, SortedRows from, Value stage) {
        Merge merge{from, stage, descending};
        return steps == Steps::Sequential ? mergeInOrder(b, merge)
                                          : mergeInParallel(b, merge);
      });
  return {sorted[0], sorted[1]};
}

/// A key of at most 32 bits as an integer whose order, with a sign, is that of
/// the keys; a NaN is the largest.
static Value orderedBits(ImplicitLocOpBuilder &b, Value key, bool descending) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto constant = [&](int64_t value, Type type) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value bits;
  if (isa<FloatType>(key.getType())) {
    Value x = key;
    if (!x.getType().isF32())
      x = arith::ExtFOp::create(b, b.getF32Type(), x);
    // Both zeros are equal.
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, zero);
    x = arith::SelectOp::create(b, isZero, zero, x);
    Value raw = arith::BitcastOp::create(b, i32, x);
    Value sign = arith::ShRSIOp::create(b, raw, constant(31, i32));
    Value flip = arith::AndIOp::create(b, sign, constant(0x7fffffff, i32));
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    bits = arith::SelectOp::create(b, isNaN, constant(0x7fffffff, i32),
                                   arith::XOrIOp::create(b, raw, flip));
    bits = arith::ExtSIOp::create(b, i64, bits);
  } else if (key.getType().isInteger(1)) {
    bits = arith::ExtUIOp::create(b, i64, key);
  } else {
    bits = arith::ExtSIOp::create(b, i64, key);
  }
  // Equal keys stay in order, so that not the order of all is reversed.
  return descending ? arith::XOrIOp::create(b, bits, constant(-1, i64)) : bits;
}

/// Keys of at most 32 bits with their places as the lower half: numbers of 64
/// bits, of which no two are equal.
static Value packPlaces(ElementBuilder &b, Value keys, bool descending) {
  RankedTensorType type = tensorType(keys).clone(b.getI64Type());
  AffineMap identity = b.getMultiDimIdentityMap(3);
  return b.map(type, keys, identity,
               [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                 Value bits = orderedBits(b, x[0], descending);
                 Value half =
                     arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
                 Value place = arith::IndexCastOp::create(
                     b, b.getI64Type(), linalg::IndexOp::create(b, 1));
                 return arith::OrIOp::create(
                     b, arith::ShLIOp::create(b, bits, half), place);
               });
}

static SortedRows sortPacked(ElementBuilder &b, Value keys, bool descending) {
  Value packed = packPlaces(b, keys, descending);
  Value sorted =
      mergeInStages(b, packed,
                    [](ElementBuilder &b, SortedRows from, Value stage) {
                      return mergeInOrder(b,
                                          {from, stage, /*descending=*/false});
                    })
          .front();
  AffineMap identity = b.getMultiDimIdentityMap(3);
  Value places = b.map(tensorType(sorted), sorted, identity,
                       [](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                         Value mask = arith::ConstantOp::create(
                             b, b.getI64IntegerAttr(0xffffffff));
                         return arith::AndIOp::create(b, x[0], mask);
                       });
  Value ordered =
      b.map(tensorType(keys), places, identity,
            [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
              Value row = linalg::IndexOp::create(b, 0);
              Value place =
                  arith::IndexCastOp::create(b, b.getIndexType(), x[0]);
              Value column = linalg::IndexOp::create(b, 2);
              return tensor::ExtractOp::create(b, keys,
                                               ValueRange{row, place, column});
            });
  return {ordered, places};
}

/// One row after the other, so that a row stays in the cache for all stages.
static SortedRows sortEachRow(ElementBuilder &b, Value keys, bool descending) {
  RankedTensorType type = tensorType(keys);
  ArrayRef<int64_t> shape = type.getShape();
  IndexBuilder index{b};
  Value zero = index.constant(0), one = index.constant(1);
  auto body = [&](OpBuilder &nested, Location loc, ValueRange i,
                  ValueRange carried) {
    ElementBuilder b(nested, loc);
    auto row = RankedTensorType::get({1, shape[1], 1}, type.getElementType());
    Value copy =
        b.map(row, {}, {}, [&](ImplicitLocOpBuilder &b, ValueRange) -> Value {
          Value place = linalg::IndexOp::create(b, 1);
          return tensor::ExtractOp::create(b, keys,
                                           ValueRange{i[0], place, i[1]});
        });
    SortedRows sorted = sortInStages(b, copy, descending, Steps::Sequential);
    SmallVector<OpFoldResult> offsets{i[0], b.getIndexAttr(0), i[1]};
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    auto sizes = getAsIndexOpFoldResult(b.getContext(), row.getShape());
    auto insert = [&](Value from, Value into) -> Value {
      return tensor::InsertSliceOp::create(b, from, into, offsets, sizes,
                                           strides);
    };
    return scf::ValueVector{insert(sorted.keys, carried[0]),
                            insert(sorted.places, carried[1])};
  };
  auto empty = [&](Type element) -> Value {
    return tensor::EmptyOp::create(b, shape, element);
  };
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), {zero, zero},
      {index.constant(shape[0]), index.constant(shape[2])}, {one, one},
      {empty(type.getElementType()), empty(b.getI64Type())}, body);
  return {nest.results[0], nest.results[1]};
}

SortedRows fact::sortRows(ElementBuilder &b, Value keys, bool descending,
                          Steps steps) {
  // A short row is sorted faster than memory for its stages is allocated.
  constexpr int64_t longRow = 64;
  ArrayRef<int64_t> shape = tensorType(keys).getShape();
  if (steps == Steps::Sequential && shape[1] >= longRow &&
      shape[0] * shape[2] > 1)
    return sortEachRow(b, keys, descending);
  return sortInStages(b, keys, descending, steps);
}

namespace {
struct LowerArgsort : SteppedPattern<ArgsortOp> {
  using SteppedPattern::SteppedPattern;
  LogicalResult
  matchAndRewrite(ArgsortOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value keys = b.reshapeAround(adaptor.getOperand(), op.getDim());
    Value places = sortRows(b, keys, op.getDescending(), steps).places;
    SmallVector<int64_t> shape(tensorType(places).getShape());
    int64_t count = op.getType().getDimSize(op.getDim());
    if (count != shape[1]) {
      shape[1] = count;
      SmallVector<OpFoldResult> offsets(3, b.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
      places = tensor::ExtractSliceOp::create(
          b, places, offsets, getAsIndexOpFoldResult(b.getContext(), shape),
          strides);
    }
    rewriter.replaceOp(op, b.reshape(places, op.getType().getShape()));
    return success();
  }
};
} // namespace

void fact::populateSortPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns, Steps steps) {
  patterns.add<LowerArgsort>(converter, patterns.getContext(), steps);
}
