//===- LowerIndexing.cpp - Elements at computed places --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementBuilder.h"
#include <limits>

using namespace mlir;
using namespace fact;

/// The tensor in its storage type, before conversion, so that only the elements
/// that are read are converted.
static Value readStored(Value original, Value converted) {
  Operation *producer = original.getDefiningOp();
  return producer && isa<FactDialect>(producer->getDialect()) ? converted
                                                              : original;
}

namespace {
struct LowerGather : OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    auto type = getTypeConverter()->convertType<RankedTensorType>(op.getType());
    Value source = readStored(op.getSource(), adaptor.getSource());
    int64_t dim = op.getDim(), rank = tensorType(source).getRank();
    int64_t size = tensorType(source).getDimSize(dim);
    int64_t indexRank = tensorType(adaptor.getIndices()).getRank();
    Type element = type.getElementType();
    double outside =
        isa<FloatType>(element) ? std::numeric_limits<double>::quiet_NaN() : 0;
    SmallVector<AffineExpr> reads;
    for (int64_t i = 0; i < indexRank; ++i)
      reads.push_back(b.getAffineDimExpr(dim + i));
    AffineMap map = AffineMap::get(type.getRank(), 0, reads, getContext());
    rewriter.replaceOp(
        op, b.map(type, adaptor.getIndices(), map,
                  [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                    ElementBuilder nested(b, b.getLoc());
                    Value nothing = nested.constant(outside, element);
                    if (size == 0)
                      return nothing;
                    // Compared as unsigned, so that a negative index fails the
                    // bound check.
                    Value limit = nested.constant(size, x[0].getType());
                    Value inside = arith::CmpIOp::create(
                        b, arith::CmpIPredicate::ult, x[0], limit);
                    Value zero = nested.constant(0, x[0].getType());
                    Value safe = arith::SelectOp::create(b, inside, x[0], zero);
                    SmallVector<Value> at;
                    for (int64_t i = 0; i < rank; ++i)
                      at.push_back(
                          i == dim ? Value(arith::IndexCastOp::create(
                                         b, b.getIndexType(), safe))
                                   : Value(linalg::IndexOp::create(
                                         b, i < dim ? i : i + indexRank - 1)));
                    Value found = nested.convertScalar(
                        tensor::ExtractOp::create(b, source, at), element);
                    return arith::SelectOp::create(b, inside, found, nothing);
                  }));
    return success();
  }
};

struct LowerRotary : OpConversionPattern<RotaryOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(RotaryOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value x = adaptor.getOperand();
    RankedTensorType type = tensorType(x);
    int64_t last = type.getRank() - 1, half = type.getDimSize(last) / 2;
    rewriter.replaceOp(
        op, b.mapBroadcast(
                type, {x, adaptor.getCos(), adaptor.getSin()},
                [&](ImplicitLocOpBuilder &b, ValueRange element) -> Value {
                  auto index = [&](int64_t value) -> Value {
                    return arith::ConstantIndexOp::create(b, value);
                  };
                  Value place = linalg::IndexOp::create(b, last);
                  // Whether this is the first element of its pair, and the
                  // distance to the other.
                  Value first, distance;
                  if (op.getInterleaved()) {
                    Value odd = arith::RemUIOp::create(b, place, index(2));
                    first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                  odd, index(0));
                    distance = index(1);
                  } else {
                    first = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                  place, index(half));
                    distance = index(half);
                  }
                  Value partner = arith::SelectOp::create(
                      b, first, arith::AddIOp::create(b, place, distance),
                      arith::SubIOp::create(b, place, distance));
                  SmallVector<Value> at;
                  for (int64_t dim = 0; dim < last; ++dim)
                    at.push_back(linalg::IndexOp::create(b, dim));
                  at.push_back(partner);
                  Value other = tensor::ExtractOp::create(b, x, at);
                  Value turned = arith::SelectOp::create(
                      b, first, arith::NegFOp::create(b, other), other);
                  return arith::AddFOp::create(
                      b, arith::MulFOp::create(b, element[0], element[1]),
                      arith::MulFOp::create(b, turned, element[2]));
                }));
    return success();
  }
};
} // namespace

void fact::populateIndexingPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerRotary>(converter, patterns.getContext());
}
