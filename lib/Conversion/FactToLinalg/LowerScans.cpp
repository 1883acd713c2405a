//===- LowerScans.cpp - Running reductions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;

/// log(exp(x) + exp(y)), shifted by the larger, so that no exponential
/// overflows. If both are the same infinity, their difference is NaN.
static Value logAddExp(ImplicitLocOpBuilder &b, ValueRange x) {
  Value larger = maximumScalars(b, x), smaller = minimumScalars(b, x);
  Value distance = arith::SubFOp::create(b, smaller, larger);
  Value sum = arith::AddFOp::create(
      b, larger, math::Log1pOp::create(b, math::ExpOp::create(b, distance)));
  Value open =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, distance, distance);
  return arith::SelectOp::create(b, open, larger, sum);
}

static Value combine(ImplicitLocOpBuilder &b, ScanKind kind, ValueRange x) {
  switch (kind) {
  case ScanKind::sum:
    return addScalars(b, x);
  case ScanKind::prod:
    return multiplyScalars(b, x);
  case ScanKind::max:
    return maximumScalars(b, x);
  case ScanKind::min:
    return minimumScalars(b, x);
  case ScanKind::logsumexp:
    return logAddExp(b, x);
  }
  llvm_unreachable("unknown kind of scan");
}

/// Combines each element with the result before it, in order. A chain of as
/// many roundings as a row is long needs f64, which PyTorch uses on CPUs too.
static Value scanInOrder(ElementBuilder &b, ScanKind kind, Value rows) {
  Type element = tensorType(rows).getElementType();
  bool rounds = kind != ScanKind::max && kind != ScanKind::min;
  if (rounds && isa<FloatType>(element))
    rows = b.convertElements(rows, b.getF64Type());
  ArrayRef<int64_t> shape = tensorType(rows).getShape();
  IndexBuilder at{b};
  Value zero = at.constant(0), one = at.constant(1);
  scf::LoopNest nest = scf::buildLoopNest(
      b, b.getLoc(), {zero, one, zero},
      {at.constant(shape[0]), at.constant(shape[1]), at.constant(shape[2])},
      {one, one, one}, rows,
      [&](OpBuilder &nested, Location loc, ValueRange i, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, nested);
        Value before = IndexBuilder{b}.sub(i[1], one);
        Value last = tensor::ExtractOp::create(b, carried[0],
                                               ValueRange{i[0], before, i[2]});
        Value next = tensor::ExtractOp::create(b, carried[0], i);
        Value result = combine(b, kind, {last, next});
        return scf::ValueVector{
            tensor::InsertOp::create(b, result, carried[0], i)};
      });
  return b.convertElements(nest.results.front(), element);
}

/// Step k combines each element with that 2^k places before it.
static Value scanInSteps(ElementBuilder &b, ScanKind kind, Value rows) {
  RankedTensorType type = tensorType(rows);
  IndexBuilder at{b};
  Value zero = at.constant(0), one = at.constant(1);
  Value steps = at.constant(llvm::Log2_64_Ceil(type.getDimSize(1)));
  auto body = [&](OpBuilder &nested, Location loc, Value step,
                  ValueRange carried) {
    ElementBuilder b(nested, loc);
    Value distance = IndexBuilder{b}.shiftLeft(one, step);
    Value next = b.mapBroadcast(
        type, carried[0], [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
          IndexBuilder at{b};
          Value i = linalg::IndexOp::create(b, 1);
          Value isFirst = at.isLess(i, distance);
          Value place = at.select(isFirst, i, at.sub(i, distance));
          Value before = tensor::ExtractOp::create(
              b, carried[0],
              ValueRange{linalg::IndexOp::create(b, 0), place,
                         linalg::IndexOp::create(b, 2)});
          Value result = combine(b, kind, {before, x[0]});
          return arith::SelectOp::create(b, isFirst, x[0], result);
        });
    scf::YieldOp::create(b, next);
  };
  return scf::ForOp::create(b, zero, steps, one, rows, body).getResult(0);
}

namespace {
struct LowerScan : SteppedPattern<ScanOp> {
  using SteppedPattern::SteppedPattern;
  LogicalResult
  matchAndRewrite(ScanOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ElementBuilder b(rewriter, op.getLoc());
    Value rows = b.reshapeAround(adaptor.getOperand(), op.getDim());
    Value result = steps == Steps::Sequential
                       ? scanInOrder(b, op.getKind(), rows)
                       : scanInSteps(b, op.getKind(), rows);
    rewriter.replaceOp(op, b.reshape(result, op.getType().getShape()));
    return success();
  }
};
} // namespace

void fact::populateScanPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns, Steps steps) {
  patterns.add<LowerScan>(converter, patterns.getContext(), steps);
}
