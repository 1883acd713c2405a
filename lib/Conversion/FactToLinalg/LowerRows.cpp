//===- LowerRows.cpp - Reductions, softmax, norms and attention -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementBuilder.h"
#include <limits>

using namespace mlir;
using namespace fact;

using utils::IteratorType;

/// The neutral element of the reduction.
static Value initialValue(ElementBuilder &b, ReduceKind kind, Type type) {
  if (kind == ReduceKind::sum || kind == ReduceKind::mean)
    return b.constant(0, type);
  if (kind == ReduceKind::prod)
    return b.constant(1, type);
  bool isMax = kind == ReduceKind::max || kind == ReduceKind::argmax;
  if (isa<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return b.constant(isMax ? -infinity : infinity, type);
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  APInt extreme = bits == 1 ? APInt(1, isMax ? 0 : 1)
                  : isMax   ? APInt::getSignedMinValue(bits)
                            : APInt::getSignedMaxValue(bits);
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, extreme));
}

static Value reduceSum(ElementBuilder &b, Value input, ArrayRef<int64_t> dims) {
  Type type = tensorType(input).getElementType();
  return b.reduce(input, dims, b.constant(0, type), addScalars);
}

/// `shape` with size 1 in `dims`.
static SmallVector<int64_t> keepDims(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> dims) {
  SmallVector<int64_t> kept(shape);
  for (int64_t dim : dims)
    kept[dim] = 1;
  return kept;
}

/// With `orZero`, a row of -inf gives zeros rather than NaN.
static Value buildSoftmax(ElementBuilder &b, Value x, int64_t dim,
                          bool orZero) {
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> kept = keepDims(type.getShape(), dim);
  Value initial = initialValue(b, ReduceKind::max, type.getElementType());
  Value largest = b.reshape(b.reduce(x, dim, initial, maximumScalars), kept);
  // If the maximum is -inf, subtract 0 instead, so that differences are -inf
  // too.
  auto isEmpty = [](ImplicitLocOpBuilder &b, Value largest) -> Value {
    Value none = ElementBuilder(b, b.getLoc())
                     .constant(-std::numeric_limits<double>::infinity(),
                               largest.getType());
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, none);
  };
  if (orZero)
    largest = b.mapBroadcast(
        tensorType(largest), largest, [&](auto &b, ValueRange x) -> Value {
          Value zero =
              ElementBuilder(b, b.getLoc()).constant(0, x[0].getType());
          return arith::SelectOp::create(b, isEmpty(b, x[0]), zero, x[0]);
        });
  Value weights =
      b.mapBroadcast(type, {x, largest}, [](auto &b, ValueRange x) -> Value {
        Value difference = arith::SubFOp::create(b, x[0], x[1]);
        return math::ExpOp::create(b, difference);
      });
  Value sum = b.reshape(reduceSum(b, weights, dim), kept);
  return b.mapBroadcast(
      type, {weights, sum}, [&](auto &b, ValueRange x) -> Value {
        Value quotient = arith::DivFOp::create(b, x[0], x[1]);
        if (!orZero)
          return quotient;
        Value zero = ElementBuilder(b, b.getLoc()).constant(0, x[0].getType());
        Value empty =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[1], zero);
        return arith::SelectOp::create(b, empty, zero, quotient);
      });
}

/// Whether an element is the extremum of its row, which is NaN if the row has
/// one.
static Value isExtremum(ImplicitLocOpBuilder &b, Value element, Value best) {
  if (!isa<FloatType>(element.getType()))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, element, best);
  using F = arith::CmpFPredicate;
  Value equal = arith::CmpFOp::create(b, F::OEQ, element, best);
  Value isNan = arith::CmpFOp::create(b, F::UNE, element, element);
  return arith::OrIOp::create(b, equal, isNan);
}

/// The place in a row of an element of a linalg op, counted over `dims`.
static Value buildPlace(ImplicitLocOpBuilder &b, RankedTensorType type,
                        ArrayRef<int64_t> dims) {
  Value place = arith::ConstantIndexOp::create(b, 0);
  for (int64_t dim : dims) {
    Value size = arith::ConstantIndexOp::create(b, type.getDimSize(dim));
    place = arith::MulIOp::create(b, place, size);
    place = arith::AddIOp::create(b, place, linalg::IndexOp::create(b, dim));
  }
  return arith::IndexCastOp::create(b, b.getI64Type(), place);
}

/// The index of the first extremum, counted over `dims`, which are removed: the
/// least of the indices of all that equal the extremum. Both reductions can be
/// shared by threads.
static Value buildPlaces(ElementBuilder &b, Value x, ArrayRef<int64_t> dims,
                         ReduceKind kind) {
  RankedTensorType type = tensorType(x);
  Value best =
      b.reduce(x, dims, initialValue(b, kind, type.getElementType()),
               kind == ReduceKind::argmax ? maximumScalars : minimumScalars);
  SmallVector<AffineExpr> kept;
  SmallVector<IteratorType> iterators(type.getRank(), IteratorType::parallel);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (llvm::is_contained(dims, dim))
      iterators[dim] = IteratorType::reduction;
    else
      kept.push_back(b.getAffineDimExpr(dim));
  }
  Value none = initialValue(b, ReduceKind::min, b.getI64Type());
  Value empty =
      tensor::EmptyOp::create(b, tensorType(best).getShape(), b.getI64Type());
  Value places = linalg::FillOp::create(b, none, empty).getResult(0);
  AffineMap row = AffineMap::get(type.getRank(), 0, kept, b.getContext());
  return linalg::GenericOp::create(
             b, places.getType(), ValueRange{x, best}, places,
             ArrayRef<AffineMap>{b.getMultiDimIdentityMap(type.getRank()), row,
                                 row},
             iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               ImplicitLocOpBuilder b(loc, nested);
               Value candidate =
                   arith::SelectOp::create(b, isExtremum(b, args[0], args[1]),
                                           buildPlace(b, type, dims), none);
               linalg::YieldOp::create(
                   b, minimumScalars(b, ValueRange{args[2], candidate}));
             })
      .getResult(0);
}

/// An i64 of 32 significant bits that is the larger, the closer an element of
/// at most 32 bits is to the extremum. A NaN is the extremum of both kinds.
static Value buildOrder(ImplicitLocOpBuilder &b, Value x, ReduceKind kind) {
  using F = arith::CmpFPredicate;
  ElementBuilder constants(b, b.getLoc());
  Type type = x.getType();
  Value order = x;
  if (isa<FloatType>(type)) {
    // Both zeros are equal; negative numbers descend as integers.
    Value zero = constants.constant(0, type);
    Value isZero = arith::CmpFOp::create(b, F::OEQ, x, zero);
    order = arith::BitcastOp::create(
        b, b.getI32Type(), arith::SelectOp::create(b, isZero, zero, x));
    Value sign = constants.constant(0, b.getI32Type());
    Value isNegative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, order, sign);
    Value rest = constants.constant(INT32_MAX, b.getI32Type());
    order = arith::SelectOp::create(
        b, isNegative, arith::XOrIOp::create(b, order, rest), order);
  }
  if (type.isInteger(1))
    order = arith::ExtUIOp::create(b, b.getI64Type(), order);
  else
    order = arith::ExtSIOp::create(b, b.getI64Type(), order);
  if (kind == ReduceKind::argmin)
    order =
        arith::XOrIOp::create(b, order, constants.constant(-1, b.getI64Type()));
  if (!isa<FloatType>(type))
    return order;
  Value isNan = arith::CmpFOp::create(b, F::UNO, x, x);
  return arith::SelectOp::create(
      b, isNan, constants.constant(INT32_MAX, b.getI64Type()), order);
}

/// The same in one pass over elements of at most 32 bits: the largest of
/// integers that have the order of an element above its place, which counts
/// down, so that the first of equal elements is the largest.
static Value buildPlacesAtOnce(ElementBuilder &b, Value x,
                               ArrayRef<int64_t> dims, ReduceKind kind) {
  RankedTensorType type = tensorType(x);
  constexpr int64_t places = 0xffffffff;
  Value best =
      b.reduce(x, dims, initialValue(b, ReduceKind::max, b.getI64Type()),
               [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                 ElementBuilder constants(b, b.getLoc());
                 Value order = buildOrder(b, x[0], kind);
                 Value high = arith::ShLIOp::create(
                     b, order, constants.constant(32, b.getI64Type()));
                 Value low = arith::SubIOp::create(
                     b, constants.constant(places, b.getI64Type()),
                     buildPlace(b, type, dims));
                 return maximumScalars(
                     b, ValueRange{x[1], arith::OrIOp::create(b, high, low)});
               });
  return b.mapBroadcast(
      tensorType(best), best,
      [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
        Value mask =
            ElementBuilder(b, b.getLoc()).constant(places, b.getI64Type());
        return arith::SubIOp::create(b, mask,
                                     arith::AndIOp::create(b, x[0], mask));
      });
}

/// Whether an element's order and its place fit into one integer.
static bool fitsOnePass(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t length = 1;
  for (int64_t dim : dims)
    length *= type.getDimSize(dim);
  Type element = type.getElementType();
  bool isNarrow = element.isF32() || (isa<IntegerType>(element) &&
                                      element.getIntOrFloatBitWidth() <= 32);
  return isNarrow && length < int64_t(1) << 32;
}

namespace {
struct LowerReduce : SteppedPattern<ReduceOp> {
  using SteppedPattern::SteppedPattern;
  LogicalResult
  matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value x = adaptor.getOperand();
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    ReduceKind kind = op.getKind();
    if (kind == ReduceKind::argmax || kind == ReduceKind::argmin) {
      bool atOnce =
          steps == Steps::Parallel && fitsOnePass(tensorType(x), op.getDims());
      Value places = atOnce ? buildPlacesAtOnce(b, x, op.getDims(), kind)
                            : buildPlaces(b, x, op.getDims(), kind);
      rewriter.replaceOp(op, b.reshape(places, type.getShape()));
      return success();
    }
    ElementBuilder::Body body = addScalars;
    if (kind == ReduceKind::prod)
      body = multiplyScalars;
    if (kind == ReduceKind::max)
      body = maximumScalars;
    if (kind == ReduceKind::min)
      body = minimumScalars;
    Value initial = initialValue(b, kind, type.getElementType());
    int64_t count = 1;
    for (int64_t dim : op.getDims())
      count *= tensorType(x).getDimSize(dim);
    Value result =
        b.reshape(b.reduce(x, op.getDims(), initial, body), type.getShape());
    if (kind == ReduceKind::mean)
      result =
          b.mapBroadcast(type, result, [&](auto &b, ValueRange x) -> Value {
            ElementBuilder nested(b, b.getLoc());
            Value divisor = nested.constant(count, x[0].getType());
            return arith::DivFOp::create(b, x[0], divisor);
          });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerSoftmax : OpConversionPattern<SoftmaxOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(SoftmaxOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, buildSoftmax(b, adaptor.getOperand(), op.getDim(),
                                        /*orZero=*/false));
    return success();
  }
};

struct LowerNorm : OpConversionPattern<NormOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(NormOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value x = adaptor.getOperand();
    RankedTensorType type = tensorType(x);
    auto dims = llvm::to_vector(
        llvm::seq<int64_t>(type.getRank() - op.getDims(), type.getRank()));
    SmallVector<int64_t> kept = keepDims(type.getShape(), dims);
    double count = 1;
    for (int64_t dim : dims)
      count *= type.getDimSize(dim);
    double eps = op.getEps().convertToDouble();

    if (op.getKind() == NormKind::layer) {
      Value sum = b.reshape(reduceSum(b, x, dims), kept);
      x = b.mapBroadcast(type, {x, sum}, [&](auto &b, ValueRange x) -> Value {
        ElementBuilder nested(b, b.getLoc());
        Value mean = arith::DivFOp::create(
            b, x[1], nested.constant(count, x[1].getType()));
        return arith::SubFOp::create(b, x[0], mean);
      });
    }
    Value squares = b.mapBroadcast(type, x, [](auto &b, ValueRange x) -> Value {
      return arith::MulFOp::create(b, x[0], x[0]);
    });
    Value sum = b.reshape(reduceSum(b, squares, dims), kept);
    SmallVector<Value> inputs{x, sum};
    if (Value weight = adaptor.getWeight())
      inputs.push_back(weight);
    if (Value bias = adaptor.getBias())
      inputs.push_back(bias);
    bool hasWeight = static_cast<bool>(adaptor.getWeight());
    bool hasBias = static_cast<bool>(adaptor.getBias());
    rewriter.replaceOp(
        op, b.mapBroadcast(type, inputs, [&](auto &b, ValueRange x) -> Value {
          ElementBuilder nested(b, b.getLoc());
          Type element = x[0].getType();
          Value mean =
              arith::DivFOp::create(b, x[1], nested.constant(count, element));
          Value shifted =
              arith::AddFOp::create(b, mean, nested.constant(eps, element));
          Value deviation = math::SqrtOp::create(b, shifted);
          Value result = arith::DivFOp::create(b, x[0], deviation);
          if (hasWeight)
            result = arith::MulFOp::create(b, result, x[2]);
          if (hasBias)
            result = arith::AddFOp::create(b, result, x.back());
          return result;
        }));
    return success();
  }
};

/// Scores, softmax, weighted values: three loops.
struct LowerAttention : OpConversionPattern<AttentionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(AttentionOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value query = adaptor.getQuery(), key = adaptor.getKey();
    RankedTensorType queryType = tensorType(query);
    Type element = queryType.getElementType();
    int64_t heads = queryType.getDimSize(1);
    int64_t group = heads / tensorType(key).getDimSize(1);

    // Loops: batch, head, query, key, depth.
    AffineExpr batch = b.getAffineDimExpr(0), head = b.getAffineDimExpr(1),
               i = b.getAffineDimExpr(2), j = b.getAffineDimExpr(3),
               depth = b.getAffineDimExpr(4);
    auto map = [&](std::initializer_list<AffineExpr> results) {
      return AffineMap::get(5, 0, ArrayRef(results), getContext());
    };
    AffineExpr sharedHead = head.floorDiv(group);
    auto scoresType = RankedTensorType::get({queryType.getDimSize(0), heads,
                                             queryType.getDimSize(2),
                                             tensorType(key).getDimSize(2)},
                                            element);
    SmallVector<IteratorType> iterators(5, IteratorType::parallel);
    iterators[4] = IteratorType::reduction;
    Value scores = b.contract(scoresType, query, key,
                              {map({batch, head, i, depth}),
                               map({batch, sharedHead, j, depth}),
                               map({batch, head, i, j})},
                              iterators);

    SmallVector<Value> inputs{scores};
    if (Value mask = adaptor.getMask())
      inputs.push_back(mask);
    double scale = op.getScale().convertToDouble();
    scores =
        b.mapBroadcast(scoresType, inputs, [&](auto &b, ValueRange x) -> Value {
          ElementBuilder nested(b, b.getLoc());
          Value score =
              arith::MulFOp::create(b, x[0], nested.constant(scale, element));
          if (x.size() > 1)
            score = arith::AddFOp::create(b, score, x[1]);
          if (!op.getCausal())
            return score;
          Value row = linalg::IndexOp::create(b, 2);
          Value column = linalg::IndexOp::create(b, 3);
          Value seen =
              arith::CmpIOp::create(b, arith::CmpIPredicate::sle, column, row);
          Value never = nested.constant(
              -std::numeric_limits<double>::infinity(), element);
          return arith::SelectOp::create(b, seen, score, never);
        });
    Value weights = buildSoftmax(b, scores, 3, /*orZero=*/true);

    // Loops: batch, head, query, key, column. The column is innermost because
    // it is contiguous.
    AffineExpr column = depth;
    iterators[4] = IteratorType::parallel;
    iterators[3] = IteratorType::reduction;
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    rewriter.replaceOp(op, b.contract(type, weights, adaptor.getValue(),
                                      {map({batch, head, i, j}),
                                       map({batch, sharedHead, j, column}),
                                       map({batch, head, i, column})},
                                      iterators));
    return success();
  }
};
} // namespace

void fact::populateRowPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns, Steps steps) {
  patterns.add<LowerReduce>(converter, patterns.getContext(), steps);
  patterns.add<LowerSoftmax, LowerNorm, LowerAttention>(converter,
                                                        patterns.getContext());
}
