//===- LowerScatters.cpp - Elements at computed places --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In sequence, one update after the other. In parallel, each element of the
// result looks for the updates that reach it: among few, at all of them; among
// many, in the sorted indices.
//
//===----------------------------------------------------------------------===//

#include "LowerSorts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;

/// So many updates are compared one by one.
static constexpr int64_t fewUpdates = 32;

static Value combine(ImplicitLocOpBuilder &b, ScatterKind kind, ValueRange x) {
  switch (kind) {
  case ScatterKind::set:
    return x[1];
  case ScatterKind::sum:
    return addScalars(b, x);
  case ScatterKind::prod:
    return multiplyScalars(b, x);
  case ScatterKind::max:
    return maximumScalars(b, x);
  case ScatterKind::min:
    return minimumScalars(b, x);
  }
  llvm_unreachable("unknown kind of scatter");
}

namespace {
/// A scatter into dimension 1 of `source`: [before, size, after]. Updates are
/// [before, count, after].
struct Scatter {
  ScatterKind kind;
  Value source, indices, updates;

  int64_t getSize() const { return tensorType(source).getDimSize(1); }
  int64_t getCount() const { return tensorType(updates).getDimSize(1); }
  Type getElement() const { return tensorType(source).getElementType(); }
  /// The type in which an element is combined with many updates: a long sum
  /// needs f64.
  Type getWideElement() const {
    return kind == ScatterKind::sum && isa<FloatType>(getElement())
               ? Float64Type::get(source.getContext())
               : getElement();
  }
  /// Combines an element of the result with that of one update.
  Value apply(ImplicitLocOpBuilder &b, Value element, ValueRange at,
              Value update) const {
    Value other =
        tensor::ExtractOp::create(b, updates, ValueRange{at[0], update, at[2]});
    other =
        ElementBuilder(b, b.getLoc()).convertScalar(other, element.getType());
    return combine(b, kind, {element, other});
  }
};
} // namespace

static SmallVector<Value> getPlace(ImplicitLocOpBuilder &b) {
  SmallVector<Value> at;
  for (int64_t dim = 0; dim < 3; ++dim)
    at.push_back(linalg::IndexOp::create(b, dim));
  return at;
}

/// Applies one update after the other.
static Value scatterInOrder(ElementBuilder &b, const Scatter &scatter) {
  ArrayRef<int64_t> shape = tensorType(scatter.source).getShape();
  IndexBuilder index{b};
  Value zero = index.constant(0), one = index.constant(1);
  Value columns = index.constant(shape[2]);
  // About one update per element needs no more than the type in which elements
  // are computed, and then the source is copied as it is.
  bool isLong = scatter.getCount() > scatter.getSize();
  Type running = isLong ? scatter.getWideElement() : scatter.getElement();
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), {zero, zero},
      {index.constant(shape[0]), index.constant(scatter.getCount())},
      {one, one}, b.convertElements(scatter.source, running),
      [&](OpBuilder &nested, Location loc, ValueRange i, ValueRange carried) {
        ElementBuilder b(nested, loc);
        IndexBuilder index{b};
        Value place = tensor::ExtractOp::create(b, scatter.indices, i[1]);
        // Compared as unsigned, so that a negative index fails the bound check.
        Value limit = b.constant(double(scatter.getSize()), place.getType());
        Value inside =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ult, place, limit);
        Value row = arith::IndexCastOp::create(b, b.getIndexType(), place);
        auto body = [&](OpBuilder &nested, Location loc, Value column,
                        ValueRange carried) {
          ImplicitLocOpBuilder b(loc, nested);
          SmallVector<Value> at{i[0], row, column};
          Value element = tensor::ExtractOp::create(b, carried[0], at);
          Value result = scatter.apply(b, element, at, i[1]);
          scf::YieldOp::create(
              b,
              tensor::InsertOp::create(b, result, carried[0], at).getResult());
        };
        Value end = index.select(inside, columns, zero);
        return scf::ValueVector{
            scf::ForOp::create(b, zero, end, one, carried, body).getResult(0)};
      });
  return b.convertElements(nest.results.front(), scatter.getElement());
}

/// Compares each row with all indices.
static Value scatterFew(ElementBuilder &b, const Scatter &scatter) {
  auto element = [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
    IndexBuilder index{b};
    SmallVector<Value> at = getPlace(b);
    Type integer = tensorType(scatter.indices).getElementType();
    Value row = arith::IndexCastOp::create(b, integer, at[1]);
    auto body = [&](OpBuilder &nested, Location loc, Value update,
                    ValueRange carried) {
      ImplicitLocOpBuilder b(loc, nested);
      Value place = tensor::ExtractOp::create(b, scatter.indices, update);
      Value hits =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place, row);
      Value result = scatter.apply(b, carried[0], at, update);
      scf::YieldOp::create(
          b, arith::SelectOp::create(b, hits, result, carried[0]).getResult());
    };
    return scf::ForOp::create(b, index.constant(0),
                              index.constant(scatter.getCount()),
                              index.constant(1), x[0], body)
        .getResult(0);
  };
  return b.mapBroadcast(tensorType(scatter.source), scatter.source, element);
}

/// For each row, and for one more, the number of sorted indices before it.
static Value countBefore(ElementBuilder &b, Value sorted, int64_t rows) {
  int64_t count = tensorType(sorted).getDimSize(1);
  auto bound = [&](ImplicitLocOpBuilder &b, ValueRange) -> Value {
    IndexBuilder index{b};
    Value zero = index.constant(0), one = index.constant(1);
    Value last = index.constant(count - 1);
    Value row = arith::IndexCastOp::create(
        b, tensorType(sorted).getElementType(), linalg::IndexOp::create(b, 0));
    auto body = [&](OpBuilder &nested, Location loc, Value,
                    ValueRange interval) {
      ImplicitLocOpBuilder b(loc, nested);
      IndexBuilder index{b};
      Value low = interval[0], high = interval[1];
      Value middle = index.shiftRight(index.add(low, high), one);
      Value key = tensor::ExtractOp::create(
          b, sorted, ValueRange{zero, index.min(middle, last), zero});
      Value moves = arith::AndIOp::create(
          b, index.isLess(low, high),
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, key, row));
      scf::YieldOp::create(
          b, ValueRange{index.select(moves, index.add(middle, one), low),
                        index.select(moves, high, middle)});
    };
    Value trips = index.constant(llvm::Log2_64(count) + 1);
    Value low =
        scf::ForOp::create(b, zero, trips, one,
                           ValueRange{zero, index.constant(count)}, body)
            .getResult(0);
    return arith::IndexCastOp::create(b, b.getI64Type(), low);
  };
  return b.map(RankedTensorType::get(rows + 1, b.getI64Type()), {}, {}, bound);
}

/// Sorts the indices, so that the updates of a row follow each other in order.
static Value scatterMany(ElementBuilder &b, const Scatter &scatter) {
  SortedRows sorted = sortRows(b, b.reshapeAround(scatter.indices, 0),
                               /*descending=*/false, Steps::Parallel);
  Value bounds = countBefore(b, sorted.keys, scatter.getSize());
  auto element = [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
    IndexBuilder index{b};
    Value zero = index.constant(0), one = index.constant(1);
    SmallVector<Value> at = getPlace(b);
    auto read = [&](ImplicitLocOpBuilder &b, Value tensor, ValueRange place) {
      Value number = tensor::ExtractOp::create(b, tensor, place);
      return arith::IndexCastOp::create(b, b.getIndexType(), number)
          .getResult();
    };
    Value first = read(b, bounds, at[1]);
    Value end = read(b, bounds, index.add(at[1], one));
    // Of several sets, the last remains.
    if (scatter.kind == ScatterKind::set)
      first = index.max(first, index.sub(end, one));
    auto body = [&](OpBuilder &nested, Location loc, Value rank,
                    ValueRange carried) {
      ImplicitLocOpBuilder b(loc, nested);
      Value update = read(b, sorted.places, {zero, rank, zero});
      scf::YieldOp::create(b, scatter.apply(b, carried[0], at, update));
    };
    ElementBuilder convert(b, b.getLoc());
    Value initial = convert.convertScalar(x[0], scatter.getWideElement());
    Value result =
        scf::ForOp::create(b, first, end, one, initial, body).getResult(0);
    return convert.convertScalar(result, scatter.getElement());
  };
  return b.mapBroadcast(tensorType(scatter.source), scatter.source, element);
}

namespace {
struct LowerScatter : SteppedPattern<ScatterOp> {
  using SteppedPattern::SteppedPattern;
  LogicalResult
  matchAndRewrite(ScatterOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value source = b.reshapeAround(adaptor.getSource(), op.getDim());
    int64_t count = op.getIndices().getType().getNumElements();
    SmallVector<int64_t> shape(tensorType(source).getShape());
    shape[1] = count;
    Scatter scatter{op.getKind(), source,
                    b.reshape(adaptor.getIndices(), count),
                    b.reshape(adaptor.getUpdates(), shape)};
    Value result = steps == Steps::Sequential ? scatterInOrder(b, scatter)
                   : count <= fewUpdates      ? scatterFew(b, scatter)
                                              : scatterMany(b, scatter);
    rewriter.replaceOp(op, b.reshape(result, op.getType().getShape()));
    return success();
  }
};
} // namespace

void fact::populateScatterPatterns(const TypeConverter &converter,
                                   RewritePatternSet &patterns, Steps steps) {
  patterns.add<LowerScatter>(converter, patterns.getContext(), steps);
}
