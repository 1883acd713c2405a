//===- Activations.cpp - Functions of one tensor --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

template <typename Op> static LogicalResult convertUnary(TorchCall &call) {
  Value x;
  if (failed(call.operand(x)))
    return failure();
  return call.replace(call.unary<Op>(x));
}

/// Converts a function of one operand and no other argument.
template <Value (*build)(TorchCall &, Value)>
static LogicalResult convertFunction(TorchCall &call) {
  Value x;
  if (failed(call.operand(x)))
    return failure();
  return call.replace(build(call, x));
}

/// Converts a predicate on elements; for integers the answer is `ofIntegers`.
template <Value (*build)(TorchCall &, Value), bool ofIntegers>
static LogicalResult convertQuestion(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  if (!isa<FloatType>(elementOf(x)))
    return call.replace(call.constant(ofIntegers, call.getResultElement(),
                                      typeOf(x).getShape()));
  return call.replace(build(call, x));
}

//===----------------------------------------------------------------------===//
// Elementary functions
//===----------------------------------------------------------------------===//

static constexpr double infinity = std::numeric_limits<double>::infinity();

static Value isNan(TorchCall &call, Value x) {
  return call.compare(Predicate::ne, x, x);
}
static Value isInfinite(TorchCall &call, Value x) {
  return call.compare(Predicate::eq, call.unary<AbsOp>(x), infinity);
}
static Value isFinite(TorchCall &call, Value x) {
  return call.compare(Predicate::lt, call.unary<AbsOp>(x), infinity);
}

static Value square(TorchCall &call, Value x) {
  return call.binary<MulOp>(x, x);
}

/// Rounds toward zero.
static Value truncate(TorchCall &call, Value x) {
  return call.select(call.compare(Predicate::lt, x, 0), call.unary<CeilOp>(x),
                     call.unary<FloorOp>(x));
}

static Value fraction(TorchCall &call, Value x) {
  return call.binary<SubOp>(x, truncate(call, x));
}

static Value exp2(TorchCall &call, Value x) {
  return call.binary<PowOp>(call.scalarConstant(2, elementOf(x)), x);
}
static Value log2(TorchCall &call, Value x) {
  return call.binary<MulOp>(call.unary<LogOp>(x), 1.4426950408889634);
}
static Value log10(TorchCall &call, Value x) {
  return call.binary<MulOp>(call.unary<LogOp>(x), 0.43429448190325183);
}

/// `nan_to_num(x, nan, posinf, neginf)`: by default, infinities become the
/// largest finite values of the type.
static LogicalResult convertNanToNum(TorchCall &call) {
  Value x;
  double nan = 0;
  if (failed(call.operand(x)) || failed(call.optionalNumber(1, "nan", nan)))
    return failure();
  auto element = dyn_cast<FloatType>(elementOf(x));
  if (!element)
    return call.replace(x);
  double largest =
      APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
  double positive = largest, negative = -largest;
  if (failed(call.optionalNumber(2, "posinf", positive)) ||
      failed(call.optionalNumber(3, "neginf", negative)))
    return failure();
  auto replace = [&](Value condition, double value) {
    x = call.select(condition, call.scalarConstant(value, element), x);
  };
  Value given = x;
  replace(isNan(call, given), nan);
  replace(call.compare(Predicate::eq, given, infinity), positive);
  replace(call.compare(Predicate::eq, given, -infinity), negative);
  return call.replace(x);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static LogicalResult convertGelu(TorchCall &call) {
  Value x;
  StringRef approximate = "none";
  if (failed(call.operand(x)) ||
      (!call.isNone(1) && failed(call.string(1, "approximate", approximate))))
    return failure();
  std::optional<GeluKind> kind = symbolizeGeluKind(approximate);
  if (!kind)
    return call.emitArgumentError("approximate")
           << "is '" << approximate << "', but must be 'none' or 'tanh'";
  return call.replace(call.infer<GeluOp>(x, *kind));
}

/// `log(1 + exp(beta x)) / beta`, and `x` where `beta x` exceeds the threshold.
static LogicalResult convertSoftplus(TorchCall &call) {
  Value x;
  double beta = 1, threshold = 20;
  if (failed(call.operand(x)) || failed(call.optionalNumber(1, "beta", beta)) ||
      failed(call.optionalNumber(2, "threshold", threshold)))
    return failure();
  Value scaled = beta == 1 ? x : call.binary<MulOp>(x, beta);
  Value result = call.unary<SoftplusOp>(scaled);
  if (beta != 1)
    result = call.binary<DivOp>(result, beta);
  // Above that, the function rounds to the identity.
  double identity = getElementTypeOrSelf(x.getType()).isF64() ? 40 : 20;
  if (threshold < identity)
    result =
        call.select(call.compare(Predicate::gt, scaled, threshold), x, result);
  return call.replace(result);
}

static Value logSigmoid(TorchCall &call, Value x) {
  return call.unary<NegOp>(call.unary<SoftplusOp>(call.unary<NegOp>(x)));
}

static Value softSign(TorchCall &call, Value x) {
  return call.binary<DivOp>(x, call.binary<AddOp>(call.unary<AbsOp>(x), 1.0));
}

/// `x > 0 ? x : other`
static Value positiveOr(TorchCall &call, Value x, Value other) {
  return call.select(call.compare(Predicate::gt, x, 0), x, other);
}

static LogicalResult convertLeakyRelu(TorchCall &call) {
  Value x, slope;
  if (failed(call.operand(x)) ||
      failed(call.scalar(1, "negative_slope", elementOf(x), slope)))
    return failure();
  return call.replace(positiveOr(call, x, call.binary<MulOp>(x, slope)));
}

/// `rrelu(x, lower, upper, training)`: in inference, the slope is the mean of
/// both.
static LogicalResult convertRandomRelu(TorchCall &call) {
  Value x;
  double lower = 1.0 / 8, upper = 1.0 / 3;
  bool training = false;
  if (failed(call.operand(x)) ||
      failed(call.optionalNumber(1, "lower", lower)) ||
      failed(call.optionalNumber(2, "upper", upper)) ||
      failed(call.optionalBoolean(3, "training", training)))
    return failure();
  if (training)
    return call.emitArgumentError("training")
           << "must be false; export the module after 'eval()'";
  return call.replace(
      positiveOr(call, x, call.binary<MulOp>(x, (lower + upper) / 2)));
}

/// `prelu(x, weight)`: one slope, or one per element of dimension 1.
static LogicalResult convertParametricRelu(TorchCall &call) {
  Value x, weight;
  if (failed(call.operand(x)) ||
      failed(call.operand(1, "weight", call.getResultElement(), weight)))
    return failure();
  SmallVector<int64_t> shape(std::max<int64_t>(rankOf(x) - 1, 0), 1);
  if (!shape.empty())
    shape.front() = typeOf(weight).getNumElements();
  Value slope = call.reshape(weight, shape);
  return call.replace(positiveOr(call, x, call.binary<MulOp>(x, slope)));
}

/// `scale * (x > 0 ? x : alpha * (exp(inputScale * x) - 1))`
static Value exponentialUnit(TorchCall &call, Value x, double alpha,
                             double scale, double inputScale) {
  Value scaled = inputScale == 1 ? x : call.binary<MulOp>(x, inputScale);
  Value tail = call.unary<Expm1Op>(scaled);
  if (alpha * scale != 1)
    tail = call.binary<MulOp>(tail, alpha * scale);
  Value head = scale == 1 ? x : call.binary<MulOp>(x, scale);
  return call.select(call.compare(Predicate::gt, x, 0), head, tail);
}

static LogicalResult convertElu(TorchCall &call) {
  Value x;
  double alpha = 1, scale = 1, inputScale = 1;
  if (failed(call.operand(x)) ||
      failed(call.optionalNumber(1, "alpha", alpha)) ||
      failed(call.optionalNumber(2, "scale", scale)) ||
      failed(call.optionalNumber(3, "input_scale", inputScale)))
    return failure();
  return call.replace(exponentialUnit(call, x, alpha, scale, inputScale));
}

static LogicalResult convertCelu(TorchCall &call) {
  Value x;
  double alpha = 1;
  if (failed(call.operand(x)) || failed(call.optionalNumber(1, "alpha", alpha)))
    return failure();
  return call.replace(exponentialUnit(call, x, alpha, 1, 1 / alpha));
}

static Value selu(TorchCall &call, Value x) {
  return exponentialUnit(call, x, 1.6732632423543772848170429916717,
                         1.0507009873554804934193349852946, 1);
}

/// `x > threshold ? x : value`
static LogicalResult convertThreshold(TorchCall &call) {
  Value x, value;
  double threshold;
  if (failed(call.operand(x)) ||
      failed(call.number(1, "threshold", threshold)) ||
      failed(call.scalar(2, "value", elementOf(x), value)))
    return failure();
  Value below = call.compare(Predicate::le, x, threshold);
  return call.replace(call.select(below, value, x));
}

/// The first half of a dimension times the sigmoid of the second.
static LogicalResult convertGlu(TorchCall &call) {
  Value x;
  if (failed(call.operand(x)))
    return failure();
  int64_t dim = rankOf(x) - 1;
  if (failed(call.optionalDimensionOf(x, 1, "dim", dim)))
    return failure();
  int64_t half = typeOf(x).getDimSize(dim) / 2;
  Value gate = call.unary<SigmoidOp>(call.slice(x, dim, half, half));
  return call.replace(call.binary<MulOp>(call.slice(x, dim, 0, half), gate));
}

/// hardsigmoid(x) = clamp(x + 3, 0, 6) / 6.
static Value hardSigmoid(TorchCall &call, Value x) {
  Builder &builder = call.getBuilder();
  Value clamped = call.infer<ClampOp>(call.binary<AddOp>(x, 3.0),
                                      builder.getF64FloatAttr(0),
                                      builder.getF64FloatAttr(6));
  return call.binary<DivOp>(clamped, 6.0);
}

static Value hardSwish(TorchCall &call, Value x) {
  return call.binary<MulOp>(x, hardSigmoid(call, x));
}

void torchtofact::populateActivationConverters(ConverterTable &table) {
  table["aten.neg"] = convertUnary<NegOp>;
  table["aten.abs"] = convertUnary<AbsOp>;
  table["aten.sign"] = convertUnary<SignOp>;
  table["aten.sgn"] = convertUnary<SignOp>;
  table["aten.floor"] = convertUnary<FloorOp>;
  table["aten.ceil"] = convertUnary<CeilOp>;
  table["aten.round"] = convertUnary<RoundOp>;
  table["aten.trunc"] = convertFunction<truncate>;
  table["aten.frac"] = convertFunction<fraction>;
  table["aten.square"] = convertFunction<square>;
  table["aten.sqrt"] = convertUnary<SqrtOp>;
  table["aten.rsqrt"] = convertUnary<RsqrtOp>;
  table["aten.reciprocal"] = convertUnary<ReciprocalOp>;
  table["aten.exp"] = convertUnary<ExpOp>;
  table["aten.exp2"] = convertFunction<exp2>;
  table["aten.expm1"] = convertUnary<Expm1Op>;
  table["aten.log"] = convertUnary<LogOp>;
  table["aten.log1p"] = convertUnary<Log1pOp>;
  table["aten.log2"] = convertFunction<log2>;
  table["aten.log10"] = convertFunction<log10>;
  table["aten.sin"] = convertUnary<SinOp>;
  table["aten.cos"] = convertUnary<CosOp>;
  table["aten.erf"] = convertUnary<ErfOp>;
  table["aten.tanh"] = convertUnary<TanhOp>;
  table["aten.isnan"] = convertQuestion<isNan, false>;
  table["aten.isinf"] = convertQuestion<isInfinite, false>;
  table["aten.isfinite"] = convertQuestion<isFinite, true>;
  table["aten.nan_to_num"] = convertNanToNum;

  table["aten.sigmoid"] = convertUnary<SigmoidOp>;
  table["aten.log_sigmoid"] = convertFunction<logSigmoid>;
  table["aten.relu"] = convertUnary<ReluOp>;
  table["aten.leaky_relu"] = convertLeakyRelu;
  table["aten.prelu"] = convertParametricRelu;
  table["aten._prelu_kernel"] = convertParametricRelu;
  table["aten.rrelu"] = convertRandomRelu;
  table["aten.elu"] = convertElu;
  table["aten.celu"] = convertCelu;
  table["aten.selu"] = convertFunction<selu>;
  table["aten.gelu"] = convertGelu;
  table["aten.silu"] = convertUnary<SiluOp>;
  table["aten.mish"] = convertUnary<MishOp>;
  table["aten.softplus"] = convertSoftplus;
  table["aten.softsign"] = convertFunction<softSign>;
  table["aten.threshold"] = convertThreshold;
  table["aten.glu"] = convertGlu;
  table["aten.hardsigmoid"] = convertFunction<hardSigmoid>;
  table["aten.hardswish"] = convertFunction<hardSwish>;
}
