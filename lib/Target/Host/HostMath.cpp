//===- HostMath.cpp - f32 functions to f32 accuracy, in vectors -----------===//
//
// libm has no vectors, so that one exponential of eight lanes would be eight
// calls. The expansions below stay within a few units in the last place, since
// kernels are compared with f64; what MLIR approximates as well is taken from
// there.
//
//===----------------------------------------------------------------------===//

#include "ObjectEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace fact;

namespace {
/// Arithmetic on f32, scalar or vector. Products and sums may fuse.
class Arithmetic {
public:
  Arithmetic(PatternRewriter &rewriter, Operation *op)
      : b(op->getLoc(), rewriter), type(op->getResult(0).getType()),
        integerType(withElement(b.getI32Type())),
        contract(arith::FastMathFlagsAttr::get(
            b.getContext(), arith::FastMathFlags::contract)) {}

  Value constant(double value) {
    Attribute attr = b.getFloatAttr(b.getF32Type(), value);
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(b, cast<TypedAttr>(attr));
  }
  Value integer(int32_t value) {
    Attribute attr = b.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(integerType))
      return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, attr));
    return arith::ConstantOp::create(b, cast<TypedAttr>(attr));
  }
  Value add(Value x, Value y) {
    return arith::AddFOp::create(b, x, y, contract);
  }
  Value sub(Value x, Value y) {
    return arith::SubFOp::create(b, x, y, contract);
  }
  Value mul(Value x, Value y) {
    return arith::MulFOp::create(b, x, y, contract);
  }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  /// x * y + z
  Value fma(Value x, Value y, Value z) { return add(mul(x, y), z); }
  Value fma(Value x, Value y, double z) { return fma(x, y, constant(z)); }
  Value polynomial(Value x, ArrayRef<double> highestFirst) {
    Value result = constant(highestFirst.front());
    for (double coefficient : highestFirst.drop_front())
      result = fma(result, x, coefficient);
    return result;
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value asInteger(Value x) {
    return arith::BitcastOp::create(b, integerType, x);
  }
  Value asFloat(Value x) { return arith::BitcastOp::create(b, type, x); }

  /// 2^n for an integer n from -126 to 127.
  Value power(Value n) {
    Value biased = arith::AddIOp::create(b, n, integer(127));
    return asFloat(arith::ShLIOp::create(b, biased, integer(23)));
  }

  /// exp(x) = 2^n exp(r) with |r| <= log(2) / 2. The rounding to n is an
  /// addition of 1.5 * 2^23, whose low bits then hold n. The power is applied
  /// in two halves, so that results below 2^-126 come out gradually.
  Value exp(Value x) {
    Value bounded = arith::MaximumFOp::create(b, x, constant(-104.0));
    bounded = arith::MinimumFOp::create(b, bounded, constant(89.0));
    Value magic = constant(12582912.0);
    // Not to be contracted with the subtraction that follows.
    Value scaled =
        arith::MulFOp::create(b, bounded, constant(1.44269504088896341));
    Value shifted = arith::AddFOp::create(b, scaled, magic);
    Value n = arith::SubFOp::create(b, shifted, magic);
    Value count =
        arith::SubIOp::create(b, asInteger(shifted), asInteger(magic));
    Value r = fma(n, constant(-0.693359375), bounded);
    r = fma(n, constant(2.12194440e-4), r);
    Value tail =
        polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                       4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
    Value result = add(fma(tail, mul(r, r), r), constant(1.0));
    Value half = arith::ShRSIOp::create(b, count, integer(1));
    Value rest = arith::SubIOp::create(b, count, half);
    return mul(mul(result, power(half)), power(rest));
  }

  /// log(x) = e log(2) + log(m) with x = m 2^e and sqrt(1/2) <= m < sqrt(2).
  /// Numbers below 2^-126 are scaled first, since they have no exponent of
  /// their own. The polynomial is that of Cephes' logf.
  Value log(Value x) {
    using P = arith::CmpFPredicate;
    Value tiny = compare(P::OLT, x, constant(0x1p-126));
    Value normal = select(tiny, mul(x, constant(0x1p23)), x);
    Value bits = asInteger(normal);
    Value exponent = arith::SubIOp::create(
        b, arith::ShRUIOp::create(b, bits, integer(23)), integer(126));
    Value e = arith::SIToFPOp::create(b, type, exponent);
    e = sub(e, select(tiny, constant(23), constant(0)));
    Value fraction = arith::AndIOp::create(b, bits, integer(0x007fffff));
    Value m = asFloat(
        arith::OrIOp::create(b, fraction, integer(0x3f000000))); // [1/2, 1)
    Value low = compare(P::OLT, m, constant(0.70710678118654752));
    e = sub(e, select(low, constant(1), constant(0)));
    Value r = sub(select(low, add(m, m), m), constant(1));
    Value square = mul(r, r);
    Value tail =
        polynomial(r, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                       -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                       2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
    Value result = mul(mul(tail, r), square);
    result = fma(e, constant(-2.12194440e-4), result);
    result = fma(square, constant(-0.5), result);
    result = fma(e, constant(0.693359375), add(r, result));
    double infinity = std::numeric_limits<double>::infinity();
    result =
        select(compare(P::OEQ, x, constant(0)), constant(-infinity), result);
    // Infinity and NaN are their own logarithms; below 0 there is none.
    result = select(compare(P::OLT, x, constant(infinity)), result, x);
    Value none = constant(std::numeric_limits<double>::quiet_NaN());
    return select(compare(P::OLT, x, constant(0)), none, result);
  }

  ImplicitLocOpBuilder b;
  Type type;
  Type integerType;
  arith::FastMathFlagsAttr contract;

private:
  Type withElement(Type element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
};

template <typename MathOp> struct F32Pattern : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const final {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Arithmetic arithmetic(rewriter, op);
    rewriter.replaceOp(op, build(arithmetic, op.getOperand()));
    return success();
  }
  virtual Value build(Arithmetic &a, Value x) const = 0;
};

struct ExpandExp : F32Pattern<math::ExpOp> {
  using F32Pattern::F32Pattern;
  Value build(Arithmetic &a, Value x) const override { return a.exp(x); }
};

struct ExpandLog : F32Pattern<math::LogOp> {
  using F32Pattern::F32Pattern;
  Value build(Arithmetic &a, Value x) const override { return a.log(x); }
};

struct ExpandRsqrt : F32Pattern<math::RsqrtOp> {
  using F32Pattern::F32Pattern;
  Value build(Arithmetic &a, Value x) const override {
    return a.div(a.constant(1.0), math::SqrtOp::create(a.b, x));
  }
};
} // namespace

void host::populateHostMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandExp, ExpandLog, ExpandRsqrt>(patterns.getContext(),
                                                  /*benefit=*/10);
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return llvm::is_contained({"math.tanh", "math.log1p", "math.erf"}, name);
  });
  arith::populateExpandBFloat16Patterns(patterns);
}
