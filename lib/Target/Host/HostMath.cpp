//===- HostMath.cpp - f32 functions to f32 accuracy, in vectors -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libm has no vector functions: an exponential of eight lanes would be eight
// calls. The expansions below have errors of a few units in the last place,
// since kernels are compared with f64. Functions for which MLIR has expansions
// as accurate use those.
//
//===----------------------------------------------------------------------===//

#include "ObjectEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
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

  /// exp(x) = 2^n exp(r) with |r| <= log(2) / 2, as exp(r) and n. The rounding
  /// to n is an addition of 1.5 * 2^23, whose low bits then hold n.
  std::pair<Value, Value> splitExp(Value bounded) {
    Value magic = constant(12582912.0);
    // Plain ops: LLVM must not contract or reassociate them.
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
    return {add(fma(tail, mul(r, r), r), constant(1.0)), count};
  }

  /// The power is applied in two halves, so that results below 2^-126 come out
  /// gradually.
  Value exp(Value x) {
    Value bounded = arith::MaximumFOp::create(b, x, constant(-104.0));
    bounded = arith::MinimumFOp::create(b, bounded, constant(89.0));
    auto [result, count] = splitExp(bounded);
    Value half = arith::ShRSIOp::create(b, count, integer(1));
    Value rest = arith::SubIOp::create(b, count, half);
    return mul(mul(result, power(half)), power(rest));
  }

  /// exp(x) of an x that is at most 0, with 0 for what is below 2^-126. Smaller
  /// numbers, whose n does not fit an exponent, are not computed.
  Value expOfWeight(Value x) {
    auto [result, count] = splitExp(x);
    Value isNothing = compare(arith::CmpFPredicate::OLT, x, constant(-87.336));
    return select(isNothing, constant(0), mul(result, power(count)));
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
    // Infinity and NaN are their own logarithms; those of negative numbers are
    // NaN.
    result = select(compare(P::OLT, x, constant(infinity)), result, x);
    Value none = constant(std::numeric_limits<double>::quiet_NaN());
    return select(compare(P::OLT, x, constant(0)), none, result);
  }

  /// erf(x) = x + x P(x^2) near 0, and 1 - exp(t Q(t)), t = |x|, farther away,
  /// which is 1 at t = 4. Both polynomials are minimax fits, Q's with errors
  /// weighted by erfc(t), so that the error is that of rounding 1. A GELU needs
  /// this, since its 1 + erf cancels.
  Value erf(Value x) {
    using P = arith::CmpFPredicate;
    Value t = math::AbsFOp::create(b, x);
    Value bounded = arith::MinimumFOp::create(b, t, constant(4.0));
    Value exponent = mul(
        bounded,
        polynomial(bounded, {2.1291933338998880e-4, -3.2062128732051488e-3,
                             2.2862074961046492e-2, -1.0521858609195242e-1,
                             -6.3575095935741020e-1, -1.1285047627947520e+0}));
    auto [result, count] = splitExp(exponent);
    Value large = sub(constant(1.0), mul(result, power(count)));
    large = math::CopySignOp::create(b, large, x);
    Value square = mul(x, x);
    Value small =
        fma(x,
            polynomial(square, {8.2677951457997170e-5, -8.1181711654057880e-4,
                                5.1988404318368690e-3, -2.6858502693300517e-2,
                                1.1283679113673337e-1, -3.7612632654061340e-1,
                                1.2837916652581505e-1}),
            x);
    return select(compare(P::OLT, t, constant(0.9375)), small, large);
  }

  /// 1 + erf(x) = erfc(t) or 2 - erfc(t), t = |x|, with erfc(t) = 2^(t Q(t)). Q
  /// is a minimax fit up to t = 4 with errors weighted by erfc(t), so that the
  /// error is that of rounding 1; beyond, it falls on. 2^r for |r| <= 1/2 is a
  /// minimax fit, too, and that of -127 is 0.
  Value onePlusErf(Value x) {
    Value t = math::AbsFOp::create(b, x);
    Value exponent =
        mul(t, polynomial(t, {-4.53585220795728e-5, 4.4550682566874e-4,
                              -1.4894384471014707e-3, -7.74635569919258e-4,
                              2.8253686756643137e-2, -1.4848161785437997e-1,
                              -9.184163926287497e-1, -1.627908593110644e+0}));
    exponent = arith::MaximumFOp::create(b, exponent, constant(-127.0));
    Value magic = constant(12582912.0);
    // Plain ops: LLVM must not contract or reassociate them.
    Value shifted = arith::AddFOp::create(b, exponent, magic);
    Value n = arith::SubFOp::create(b, shifted, magic);
    Value r = arith::SubFOp::create(b, exponent, n);
    Value tail = polynomial(r, {1.547589736356677e-4, 1.3400283913345135e-3,
                                9.61800541290687e-3, 5.5503277405461175e-2,
                                2.4022651332419223e-1, 6.931472062893558e-1});
    // n, in the low bits, is added to the exponent of 2^r.
    Value count = arith::ShLIOp::create(b, asInteger(shifted), integer(23));
    Value erfc = asFloat(arith::AddIOp::create(
        b, asInteger(fma(tail, r, constant(1.0))), count));
    Value isNegative = compare(arith::CmpFPredicate::OLT, x, constant(0.0));
    return select(isNegative, erfc, sub(constant(2.0), erfc));
  }

  /// tanh(x) = x + x^3 P(x^2) near 0, P a minimax fit, and
  /// 1 - 2 / (exp(2 t) + 1), t = |x|, farther away, which is 1 at t = 10. The
  /// error of 1 + tanh is that of rounding 1, too.
  Value tanh(Value x) {
    using P = arith::CmpFPredicate;
    Value t = math::AbsFOp::create(b, x);
    Value bounded = arith::MinimumFOp::create(b, t, constant(10.0));
    auto [result, count] = splitExp(add(bounded, bounded));
    Value divisor = fma(result, power(count), constant(1.0));
    Value large = sub(constant(1.0), div(constant(2.0), divisor));
    Value square = mul(x, x);
    Value tail =
        polynomial(square, {-5.7170498108371085e-3, 2.0650592118322764e-2,
                            -5.3743499803841924e-2, 1.3331491312148033e-1,
                            -3.3333283926506790e-1});
    Value small = fma(mul(tail, square), x, x);
    // Near 0, x and x^3 P have opposite signs, and the sum of their zeros has
    // none.
    Value either = select(compare(P::OLT, t, constant(0.625)), small, large);
    return math::CopySignOp::create(b, either, x);
  }

  /// The sine of x + quarter * pi / 2 for |x| < `maxAngle`: x = q pi/2 + r,
  /// |r| <= pi/4. Three parts of pi/2 of few bits each keep the error below
  /// 1e-7. The polynomials are those of Cephes' sinf and cosf.
  static constexpr double maxAngle = 8192;
  Value sine(Value x, int32_t quarter) {
    Value magic = constant(12582912.0);
    // Plain ops: LLVM must not contract or reassociate them.
    Value scaled = arith::MulFOp::create(b, x, constant(0.63661977236758134));
    Value shifted = arith::AddFOp::create(b, scaled, magic);
    Value q = arith::SubFOp::create(b, shifted, magic);
    Value count =
        arith::AddIOp::create(b, asInteger(shifted), integer(quarter));
    Value r = fma(q, constant(-1.5703125), x);
    r = fma(q, constant(-4.837512969970703125e-4), r);
    r = fma(q, constant(-7.54978995489188216e-8), r);
    Value z = mul(r, r);
    Value odd =
        polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    odd = fma(mul(odd, z), r, r);
    // The sign of a zero.
    Value isZero =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, r, constant(0.0));
    odd = arith::SelectOp::create(b, isZero, r, odd);
    Value even = polynomial(
        z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
    even = fma(mul(even, z), z, fma(z, constant(-0.5), constant(1.0)));
    auto bit = [&](int32_t mask) -> Value {
      return arith::AndIOp::create(b, count, integer(mask));
    };
    Value isOdd =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit(1), integer(0));
    Value sign = arith::ShLIOp::create(b, bit(2), integer(30));
    return asFloat(
        arith::XOrIOp::create(b, asInteger(select(isOdd, even, odd)), sign));
  }

  Value rsqrt(Value x) {
    return div(constant(1.0), math::SqrtOp::create(b, x));
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

/// Replaces an op on f32 by what `build` makes of its operand.
template <typename MathOp, Value (Arithmetic::*build)(Value)>
struct Expand : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const final {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Arithmetic arithmetic(rewriter, op);
    rewriter.replaceOp(op, (arithmetic.*build)(op.getOperand()));
    return success();
  }
};

/// With `afn`, that of a number that is at most 0: see `expOfWeight`.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const final {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    bool isWeight =
        bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn);
    Arithmetic arithmetic(rewriter, op);
    Value x = op.getOperand();
    rewriter.replaceOp(op, isWeight ? arithmetic.expOfWeight(x)
                                    : arithmetic.exp(x));
    return success();
  }
};

/// a erf(x) + a, as of a GELU, is a (1 + erf(x)), which needs no digits of an
/// erf(x) near 0.
struct ExpandGate : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const final {
    auto sum = op->hasOneUse() ? dyn_cast<math::FmaOp>(*op->user_begin())
                               : math::FmaOp();
    if (!sum || !getElementTypeOrSelf(op.getType()).isF32() ||
        sum.getB() != op.getResult() || sum.getA() != sum.getC())
      return failure();
    Arithmetic arithmetic(rewriter, op);
    rewriter.setInsertionPoint(sum);
    Value gate = arithmetic.onePlusErf(op.getOperand());
    rewriter.replaceOpWithNewOp<arith::MulFOp>(sum, sum.getA(), gate);
    rewriter.eraseOp(op);
    return success();
  }
};

/// `fast` for vectors of which no lane is `beyond` it, else `op` of each lane,
/// which libm computes.
template <typename Op>
static void replaceInRange(PatternRewriter &rewriter, Arithmetic &a, Op op,
                           Value beyond, llvm::function_ref<Value()> fast) {
  auto type = cast<VectorType>(op.getType());
  Value any =
      vector::ReductionOp::create(a.b, vector::CombiningKind::OR, beyond);
  auto branch = scf::IfOp::create(a.b, TypeRange(op.getType()), any,
                                  /*withElseRegion=*/true);
  a.b.setInsertionPointToStart(&branch.getThenRegion().front());
  SmallVector<Value> lanes;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          vector::ExtractOp::create(a.b, operand, ArrayRef<int64_t>{i}));
    lanes.push_back(Op::create(a.b, TypeRange(type.getElementType()), operands)
                        ->getResult(0));
  }
  scf::YieldOp::create(
      a.b, vector::FromElementsOp::create(a.b, type, lanes).getResult());
  a.b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(a.b, fast());
  rewriter.replaceOp(op, branch);
}

static bool isVectorOfFloats(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && vector.getElementType().isF32();
}

/// A sine or cosine of a vector. A large angle needs more of pi than f32 holds.
template <typename MathOp, int32_t quarter>
struct ExpandSine : OpRewritePattern<MathOp> {
  using OpRewritePattern<MathOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(MathOp op,
                                PatternRewriter &rewriter) const final {
    if (!isVectorOfFloats(op.getType()))
      return failure();
    Value x = op.getOperand();
    Arithmetic a(rewriter, op);
    Value beyond =
        a.compare(arith::CmpFPredicate::UGE, math::AbsFOp::create(a.b, x),
                  a.constant(Arithmetic::maxAngle));
    replaceInRange(rewriter, a, op, beyond, [&] { return a.sine(x, quarter); });
    return success();
  }
};

/// The remainder of a division that is truncated, of vectors whose quotients
/// have few digits: those of absolute values. A quotient that was rounded up
/// leaves a negative remainder, to which the divisor is added. Every step is
/// exact, given fused multiply-add.
struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const final {
    using P = arith::CmpFPredicate;
    if (!isVectorOfFloats(op.getType()))
      return failure();
    Arithmetic a(rewriter, op);
    Value x = math::AbsFOp::create(a.b, op.getLhs());
    Value y = math::AbsFOp::create(a.b, op.getRhs());
    Value quotient = a.div(x, y);
    Value beyond = a.compare(P::UGE, quotient, a.constant(0x1p22));
    // An infinite divisor times 0 is no number.
    Value isInfinite = a.compare(
        P::OEQ, y, a.constant(std::numeric_limits<double>::infinity()));
    beyond = arith::OrIOp::create(a.b, beyond, isInfinite);
    replaceInRange(rewriter, a, op, beyond, [&] {
      Value whole = math::FloorOp::create(a.b, quotient);
      Value rest =
          math::FmaOp::create(a.b, arith::NegFOp::create(a.b, whole), y, x);
      rest = a.select(a.compare(P::OLT, rest, a.constant(0)),
                      arith::AddFOp::create(a.b, rest, y), rest);
      return math::CopySignOp::create(a.b, rest, op.getLhs()).getResult();
    });
    return success();
  }
};

/// Whether `value` is a constant, or a vector of it.
static bool isFloat(Value value, double number) {
  FloatAttr attr;
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return isa<FloatType>(splat.getElementType()) &&
           splat.getSplatValue<APFloat>().convertToDouble() == number;
  return matchPattern(value, m_Constant(&attr)) &&
         attr.getValueAsDouble() == number;
}

static bool isComparison(Value value, arith::CmpFPredicate predicate, Value x,
                         double number) {
  auto compare = value.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getPredicate() == predicate &&
         compare.getLhs() == x && isFloat(compare.getRhs(), number);
}

/// The conversion of floats to integers that are as wide, as the scalar
/// definition of a cast writes it: values outside of the type saturate, and
/// NaN becomes 0. AArch64 has an instruction for it, and elsewhere LLVM knows
/// the shortest code.
struct Saturate : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op,
                                PatternRewriter &rewriter) const final {
    using P = arith::CmpFPredicate;
    auto whole = op.getFalseValue().getDefiningOp<arith::FPToSIOp>();
    auto bounded =
        whole ? whole.getIn().getDefiningOp<arith::SelectOp>() : nullptr;
    if (!bounded)
      return failure();
    Value x = bounded.getTrueValue();
    unsigned bits = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
    if (getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() != bits)
      return failure();
    double bound = std::ldexp(1.0, bits - 1);
    APInt most;
    auto inside = bounded.getCondition().getDefiningOp<arith::AndIOp>();
    auto outside = bounded.getFalseValue().getDefiningOp<arith::SelectOp>();
    if (!isComparison(op.getCondition(), P::OGE, x, bound) ||
        !matchPattern(op.getTrueValue(), m_ConstantInt(&most)) ||
        !most.isMaxSignedValue() || !inside || !outside ||
        !isComparison(inside.getLhs(), P::OGE, x, -bound) ||
        !isComparison(inside.getRhs(), P::OLT, x, bound) ||
        !isComparison(outside.getCondition(), P::OLT, x, -bound) ||
        !isFloat(outside.getTrueValue(), -bound) ||
        !isFloat(outside.getFalseValue(), 0))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::CallIntrinsicOp>(
        op, op.getType(), rewriter.getStringAttr("llvm.fptosi.sat"),
        ValueRange(x));
    return success();
  }
};

/// log(1 + x) of f64, where MLIR adds 1. What that rounds away is a factor of
/// the logarithm: log(u) x / (u - 1), u = 1 + x.
struct ExpandLog1p : OpRewritePattern<math::Log1pOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Log1pOp op,
                                PatternRewriter &rewriter) const final {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF64())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto constant = [&](double value) -> Value {
      TypedAttr attr = b.getF64FloatAttr(value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(b, attr);
    };
    auto equals = [&](Value value, double number) -> Value {
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value,
                                   constant(number));
    };
    Value x = op.getOperand();
    Value sum = arith::AddFOp::create(b, x, constant(1));
    Value log = math::LogOp::create(b, sum);
    Value counted = arith::SubFOp::create(b, sum, constant(1));
    Value value =
        arith::MulFOp::create(b, log, arith::DivFOp::create(b, x, counted));
    double infinity = std::numeric_limits<double>::infinity();
    value = arith::SelectOp::create(b, equals(sum, infinity), log, value);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, equals(sum, 1), x, value);
    return success();
  }
};

/// A product and a sum, for processors without fused multiply-add: libm's `fma`
/// would be a call per lane.
struct SplitFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const final {
    Value product =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getA(), op.getB());
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, product, op.getC());
    return success();
  }
};
} // namespace

void host::populateHostMathPatterns(RewritePatternSet &patterns,
                                    const Cpu &cpu) {
  patterns
      .add<ExpandExp, Expand<math::ErfOp, &Arithmetic::erf>,
           Expand<math::LogOp, &Arithmetic::log>,
           Expand<math::RsqrtOp, &Arithmetic::rsqrt>,
           Expand<math::TanhOp, &Arithmetic::tanh>, ExpandSine<math::SinOp, 0>,
           ExpandSine<math::CosOp, 1>, ExpandLog1p>(patterns.getContext(),
                                                    /*benefit=*/10);
  patterns.add<ExpandGate>(patterns.getContext(), /*benefit=*/20);
  patterns.add<Saturate>(patterns.getContext());
  populateMathPolynomialApproximationPatterns(
      patterns, [](StringRef name) { return name == "math.log1p"; });
  if (cpu.hasFusedMultiplyAdd())
    patterns.add<ExpandRemainder>(patterns.getContext());
  else
    patterns.add<SplitFma>(patterns.getContext());
}
