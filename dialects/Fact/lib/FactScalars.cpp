//===- FactScalars.cpp - The scalar definition of each pointwise op -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The definition of every pointwise op, in arith and math, on scalars and on
// vectors. Fast definitions are for results that are stored in 16 bits: `afn`
// lets a GPU use its approximate instruction, `arcp` its approximate division.
//
//===----------------------------------------------------------------------===//

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
/// Builds scalar expressions in mathematical notation.
class Scalar {
public:
  Scalar(OpBuilder &builder, Location loc, bool fast = false)
      : b(loc, builder), fast(fast) {}

  Value constant(double value, Type type) {
    Type element = getElementTypeOrSelf(type);
    TypedAttr attr = isa<FloatType>(element)
                         ? TypedAttr(b.getFloatAttr(element, value))
                         : TypedAttr(b.getIntegerAttr(element, value));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }
  Value constant(double value, Value like) {
    return constant(value, like.getType());
  }

  static bool isFloat(Value x) {
    return isa<FloatType>(getElementTypeOrSelf(x.getType()));
  }
  /// Booleans are 0 and 1, as in PyTorch. In arith, `true` is also -1, so
  /// signed ops would order them the other way.
  static bool isBoolean(Value x) {
    return getElementTypeOrSelf(x.getType()).isInteger(1);
  }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }

  Value add(Value x, Value y) {
    if (isBoolean(x))
      return either(x, y);
    return isFloat(x) ? arith::AddFOp::create(b, x, y).getResult()
                      : arith::AddIOp::create(b, x, y).getResult();
  }
  Value sub(Value x, Value y) {
    return isFloat(x) ? arith::SubFOp::create(b, x, y).getResult()
                      : arith::SubIOp::create(b, x, y).getResult();
  }
  Value mul(Value x, Value y) {
    return isFloat(x) ? arith::MulFOp::create(b, x, y).getResult()
                      : arith::MulIOp::create(b, x, y).getResult();
  }
  Value add(Value x, double y) { return add(x, constant(y, x)); }
  Value mul(Value x, double y) { return mul(x, constant(y, x)); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value div(Value x, Value y) {
    if (!isFloat(x))
      return divideIntegers(x, y);
    auto flags = fast ? arith::FastMathFlags::arcp : arith::FastMathFlags::none;
    return arith::DivFOp::create(
        b, x, y, arith::FastMathFlagsAttr::get(b.getContext(), flags));
  }
  /// Integer division. Processors disagree on division by 0 and on the smallest
  /// integer divided by -1, and some trap. Here x / 0 is 0 and x / -1 wraps:
  /// both are the product of the operands.
  Value divideIntegers(Value x, Value y) {
    auto is = [&](double value) {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, y,
                                   constant(value, y));
    };
    Value special = arith::OrIOp::create(b, is(0), is(-1));
    Value divisor = select(special, constant(1, y), y);
    return select(special, mul(x, y), arith::DivSIOp::create(b, x, divisor));
  }
  /// For integers x - (x / y) y, so that the remainder of a division by 0 is x.
  Value fmod(Value x, Value y) {
    return isFloat(x) ? arith::RemFOp::create(b, x, y).getResult()
                      : sub(x, mul(divideIntegers(x, y), y));
  }
  template <typename MathOp> Value math(Value x) {
    auto flags = fast ? arith::FastMathFlags::afn : arith::FastMathFlags::none;
    return MathOp::create(b, x, flags);
  }
  Value exp(Value x) { return math<math::ExpOp>(x); }
  Value log(Value x) { return math<math::LogOp>(x); }
  Value tanh(Value x) { return math<math::TanhOp>(x); }
  Value erf(Value x) { return math<math::ErfOp>(x); }
  Value max(Value x, Value y) {
    if (isBoolean(x))
      return either(x, y);
    return isFloat(x) ? arith::MaximumFOp::create(b, x, y).getResult()
                      : arith::MaxSIOp::create(b, x, y).getResult();
  }
  Value min(Value x, Value y) {
    if (isBoolean(x))
      return both(x, y);
    return isFloat(x) ? arith::MinimumFOp::create(b, x, y).getResult()
                      : arith::MinSIOp::create(b, x, y).getResult();
  }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value negate(Value x) {
    return isFloat(x) ? arith::NegFOp::create(b, x).getResult()
                      : sub(constant(0, x), x);
  }

  /// 1 / (1 + exp(-x)), or 0.5 + 0.5 tanh(x / 2) where tanh is one instruction.
  Value sigmoid(Value x) {
    if (fast)
      return fma(tanh(mul(x, 0.5)), constant(0.5, x), constant(0.5, x));
    return div(constant(1, x), add(exp(negate(x)), 1));
  }

  /// x (1 + tanh(z)) / 2. Where tanh is not a single instruction, x / (1 +
  /// exp(-2 z)), which does not cancel.
  Value gate(Value x, Value z) {
    if (!fast)
      return div(x, add(exp(mul(z, -2)), 1));
    Value half = mul(x, 0.5);
    return fma(half, tanh(z), half);
  }

  /// max(x, 0) + log(1 + exp(-|x|)), which neither overflows nor cancels.
  Value softplus(Value x) {
    Value decay = exp(negate(math::AbsFOp::create(b, x)));
    Value tail =
        fast ? log1p(decay) : math::Log1pOp::create(b, decay).getResult();
    return add(max(x, constant(0, x)), tail);
  }

  /// log(1 + x) for x in [0, 1]. Both the sum and the machine's logarithm near
  /// 1 have an absolute error, so small x use the series.
  Value log1p(Value x) {
    Value series = fma(mul(x, x), constant(-0.5, x), x);
    return select(less(x, constant(0x1p-7, x)), series, log(add(x, 1)));
  }

  /// The machine's error function has an absolute error, so small x use the
  /// series 2 / sqrt(pi) (x - x^3 / 3).
  Value fastErf(Value x) {
    Value series = mul(x, fma(mul(x, x), constant(-0.37612638903183752, x),
                              constant(1.1283791670955126, x)));
    Value small = less(math::AbsFOp::create(b, x), constant(0x1p-4, x));
    return select(small, series, erf(x));
  }

  /// exp(x) - 1, which cancels near 0; there, the series in f32, and in f64
  /// 2 tanh(x / 2) / (1 - tanh(x / 2)).
  Value expm1(Value x) {
    Value near;
    if (getElementTypeOrSelf(x.getType()).isF64()) {
      Value half = tanh(mul(x, 0.5));
      near = div(add(half, half), sub(constant(1, x), half));
    } else {
      // 1 / 2 + x / 6 + ... + x^9 / 11!; what is left is below 2^-28.
      double factorial = 39916800;
      Value sum = constant(1 / factorial, x);
      for (int degree = 11; degree > 2; --degree) {
        factorial /= degree;
        sum = fma(sum, x, constant(1 / factorial, x));
      }
      near = mul(x, fma(sum, x, constant(1, x)));
    }
    Value small = less(math::AbsFOp::create(b, x), constant(1, x));
    return select(small, near, sub(exp(x), constant(1, x)));
  }

  /// x tanh(log(1 + e)) = x n / (n + 2) with n = e (e + 2), e = exp(x). Above
  /// 20 the quotient is 1, and the bound keeps n finite.
  Value mish(Value x) {
    Value e = exp(min(x, constant(20, x)));
    Value n = mul(e, add(e, 2));
    return mul(x, div(n, add(n, 2)));
  }

  /// Whether `x` is a valid shift count: not negative, and less than the width.
  Value isShift(Value x) {
    auto compare = [&](arith::CmpIPredicate predicate, double bound) {
      return arith::CmpIOp::create(b, predicate, x, constant(bound, x));
    };
    return arith::AndIOp::create(b, compare(arith::CmpIPredicate::sge, 0),
                                 compare(arith::CmpIPredicate::slt, bits(x)));
  }
  static unsigned bits(Value x) {
    return getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  }
  Value shiftLeft(Value x, Value y) {
    Value inside = isShift(y), zero = constant(0, x);
    Value shifted = arith::ShLIOp::create(b, x, select(inside, y, zero));
    return select(inside, shifted, zero);
  }
  Value shiftRight(Value x, Value y) {
    Value count = select(isShift(y), y, constant(bits(x) - 1, x));
    return arith::ShRSIOp::create(b, x, count);
  }

  Value sign(Value x) {
    if (isBoolean(x))
      return x;
    Value zero = constant(0, x), one = constant(1, x);
    if (!isFloat(x))
      return max(constant(-1, x), min(one, x));
    return select(less(zero, x), one,
                  select(less(x, zero), constant(-1, x), zero));
  }

  /// Converts to an integer, toward 0. Processors disagree on values outside of
  /// the type: here they saturate, and NaN becomes 0. Types narrower than 32
  /// bits take the low bits of the 32-bit result, as in C.
  Value truncate(Value x, unsigned bits) {
    using P = arith::CmpFPredicate;
    auto compare = [&](P predicate, Value y) {
      return arith::CmpFOp::create(b, predicate, x, y);
    };
    auto like = [&](unsigned width) -> Type {
      Type element = b.getIntegerType(width);
      if (auto vector = dyn_cast<VectorType>(x.getType()))
        return vector.clone(element);
      return element;
    };
    unsigned wide = std::max(bits, 32u);
    double bound = std::ldexp(1.0, wide - 1);
    Value low = constant(-bound, x), high = constant(bound, x);
    Value inside =
        arith::AndIOp::create(b, compare(P::OGE, low), compare(P::OLT, high));
    Value outside = select(compare(P::OLT, low), low, constant(0, x));
    Value whole =
        arith::FPToSIOp::create(b, like(wide), select(inside, x, outside));
    Value most = integer(APInt::getSignedMaxValue(wide), like(wide));
    whole = select(compare(P::OGE, high), most, whole);
    return wide == bits ? whole : arith::TruncIOp::create(b, like(bits), whole);
  }
  Value integer(const APInt &value, Type type) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }

  /// Floor, ceiling and rounding of an integer are the integer.
  template <typename MathOp> Value toInteger(Value x) {
    return isFloat(x) ? math<MathOp>(x) : x;
  }

  ImplicitLocOpBuilder b;
  bool fast;
};
} // namespace

#define EXACT(Op, expression)                                                  \
  Value Op::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {   \
    Scalar s(builder, loc);                                                    \
    [[maybe_unused]] Value x = args[0], y = args.size() > 1 ? args[1] : x;     \
    return expression;                                                         \
  }
#define FAST(Op, expression)                                                   \
  Value Op::buildFastScalar(OpBuilder &builder, Location loc,                  \
                            ValueRange args) {                                 \
    Scalar s(builder, loc, /*fast=*/true);                                     \
    [[maybe_unused]] Value x = args[0], y = args.size() > 1 ? args[1] : x;     \
    return expression;                                                         \
  }
#define EXACT_AND_FAST(Op, expression)                                         \
  EXACT(Op, expression) FAST(Op, expression)

EXACT(AddOp, s.add(x, y))
EXACT(SubOp, s.sub(x, y))
EXACT(MulOp, s.mul(x, y))
EXACT_AND_FAST(DivOp, s.div(x, y))
EXACT(MaximumOp, s.max(x, y))
EXACT(MinimumOp, s.min(x, y))
EXACT(FmodOp, s.fmod(x, y))
EXACT(PowOp, math::PowFOp::create(s.b, x, y))
EXACT(AndOp, arith::AndIOp::create(s.b, x, y))
EXACT(OrOp, arith::OrIOp::create(s.b, x, y))
EXACT(XorOp, arith::XOrIOp::create(s.b, x, y))
EXACT(ShiftLeftOp, s.shiftLeft(x, y))
EXACT(ShiftRightOp, s.shiftRight(x, y))
EXACT(NegOp, s.negate(x))
EXACT(AbsOp, Scalar::isFloat(x) ? math::AbsFOp::create(s.b, x).getResult()
                                : math::AbsIOp::create(s.b, x).getResult())
EXACT(SignOp, s.sign(x))
EXACT(FloorOp, s.toInteger<math::FloorOp>(x))
EXACT(CeilOp, s.toInteger<math::CeilOp>(x))
EXACT(RoundOp, s.toInteger<math::RoundEvenOp>(x))
EXACT_AND_FAST(ExpOp, s.exp(x))
EXACT(Expm1Op, s.expm1(x))
EXACT(Log1pOp, s.math<math::Log1pOp>(x))
EXACT_AND_FAST(LogOp, s.log(x))
EXACT(SqrtOp, s.math<math::SqrtOp>(x))
EXACT_AND_FAST(RsqrtOp, s.math<math::RsqrtOp>(x))
EXACT_AND_FAST(ReciprocalOp, s.div(s.constant(1, x), x))
EXACT(SinOp, s.math<math::SinOp>(x))
EXACT(CosOp, s.math<math::CosOp>(x))
EXACT(ErfOp, s.erf(x))
FAST(ErfOp, s.fastErf(x))
EXACT_AND_FAST(TanhOp, s.tanh(x))
EXACT_AND_FAST(SigmoidOp, s.sigmoid(x))
EXACT(ReluOp, s.max(x, s.constant(0, x)))
EXACT_AND_FAST(SiluOp, s.mul(x, s.sigmoid(x)))
EXACT_AND_FAST(SoftplusOp, s.softplus(x))
EXACT_AND_FAST(MishOp, s.mish(x))

static Value buildGelu(Scalar s, Value x, GeluKind kind) {
  if (kind == GeluKind::none) {
    Value half = s.mul(x, 0.5);
    return s.fma(half, s.erf(s.mul(x, 0.70710678118654752)), half);
  }
  // sqrt(2 / pi) (x + 0.044715 x^3)
  constexpr double c = 0.79788456080286536;
  Value square = s.mul(x, x);
  Value inner =
      s.mul(x, s.fma(square, s.constant(c * 0.044715, x), s.constant(c, x)));
  return s.gate(x, inner);
}

Value GeluOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return buildGelu(Scalar(builder, loc), args[0], getApproximate());
}

Value GeluOp::buildFastScalar(OpBuilder &builder, Location loc,
                              ValueRange args) {
  return buildGelu(Scalar(builder, loc, /*fast=*/true), args[0],
                   getApproximate());
}

Value ClampOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  Scalar s(builder, loc);
  Value x = args[0];
  if (getMin())
    x = s.max(x, s.constant(getMin()->convertToDouble(), x));
  if (getMax())
    x = s.min(x, s.constant(getMax()->convertToDouble(), x));
  return x;
}

Value CompareOp::buildScalar(OpBuilder &builder, Location loc,
                             ValueRange args) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  // In the order of Predicate: eq, ne, lt, le, gt, ge.
  static constexpr F floats[] = {F::OEQ, F::UNE, F::OLT,
                                 F::OLE, F::OGT, F::OGE};
  static constexpr I integers[] = {I::eq,  I::ne,  I::slt,
                                   I::sle, I::sgt, I::sge};
  static constexpr I booleans[] = {I::eq,  I::ne,  I::ult,
                                   I::ule, I::ugt, I::uge};
  unsigned index = static_cast<unsigned>(getPredicate());
  if (Scalar::isFloat(args[0]))
    return arith::CmpFOp::create(builder, loc, floats[index], args[0], args[1]);
  I predicate = Scalar::isBoolean(args[0]) ? booleans[index] : integers[index];
  return arith::CmpIOp::create(builder, loc, predicate, args[0], args[1]);
}

Value SelectOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  return arith::SelectOp::create(builder, loc, args[0], args[1], args[2]);
}

/// The argument arrives in its compute type (f32 for 16-bit floats), and so
/// does the result, so only a narrowing cast has anything to do: it rounds.
Value CastOp::buildScalar(OpBuilder &builder, Location loc, ValueRange args) {
  Value x = args[0];
  Type to = getType().getElementType();
  Type from = getElementTypeOrSelf(x.getType());
  auto like = [&](Type element) -> Type {
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      return vector.clone(element);
    return element;
  };
  Type compute = getComputeType(to);
  auto convert = [&](Type element) {
    Type source = getElementTypeOrSelf(x.getType());
    if (source == element)
      return;
    unsigned sourceBits = source.getIntOrFloatBitWidth();
    unsigned bits = element.getIntOrFloatBitWidth();
    Type type = like(element);
    if (isa<FloatType>(source) && isa<FloatType>(element)) {
      x = bits > sourceBits
              ? arith::ExtFOp::create(builder, loc, type, x).getResult()
              : arith::TruncFOp::create(builder, loc, type, x).getResult();
    } else if (isa<FloatType>(element)) {
      x = sourceBits == 1
              ? arith::UIToFPOp::create(builder, loc, type, x).getResult()
              : arith::SIToFPOp::create(builder, loc, type, x).getResult();
    } else if (isa<FloatType>(source)) {
      x = Scalar(builder, loc).truncate(x, bits);
    } else if (bits > sourceBits) {
      x = sourceBits == 1
              ? arith::ExtUIOp::create(builder, loc, type, x).getResult()
              : arith::ExtSIOp::create(builder, loc, type, x).getResult();
    } else {
      x = arith::TruncIOp::create(builder, loc, type, x);
    }
  };
  // A boolean is "not zero", not the low bit.
  if (to.isInteger(1) && !from.isInteger(1)) {
    Scalar s(builder, loc);
    Value zero = s.constant(0, x);
    if (isa<FloatType>(from))
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, x,
                                   zero);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, x,
                                 zero);
  }
  convert(compute);
  if (compute != to && getOperand().getType().getElementType() != to) {
    convert(to);
    convert(compute);
  }
  return x;
}
