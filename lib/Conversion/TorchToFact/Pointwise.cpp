//===- Pointwise.cpp - Elementwise torch ops ------------------------------===//
//
// PyTorch's promotion has decided the element type of each result, so operands
// are cast to it; comparisons, whose result is boolean, promote here.
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isNumber(TorchCall &call, unsigned index) {
  return call.constantOf(index) != nullptr;
}

/// A tensor or a number as a tensor of `element`.
static LogicalResult operand(TorchCall &call, unsigned index, StringRef name,
                             Type element, Value &result) {
  if (isNumber(call, index))
    return call.scalar(index, name, element, result);
  if (failed(call.tensor(index, name, result)))
    return failure();
  result = call.cast(result, element);
  return success();
}

/// The operand of a function of one tensor, in the result's element type.
static LogicalResult operand(TorchCall &call, Value &result) {
  return operand(call, 0, "self", call.getResultElement(), result);
}

static LogicalResult operands(TorchCall &call, Type element, Value &x,
                              Value &y) {
  return success(succeeded(operand(call, 0, "self", element, x)) &&
                 succeeded(operand(call, 1, "other", element, y)));
}

/// Booleans before integers before floats, then by width; f16 with bf16 is f32.
/// A 0-d tensor or number only counts by its kind.
static Type promote(Type x, Type y, bool xIsScalar, bool yIsScalar) {
  auto kind = [](Type type) {
    return isa<FloatType>(type) ? 2 : type.isInteger(1) ? 0 : 1;
  };
  if (kind(x) != kind(y))
    return kind(x) > kind(y) ? x : y;
  if (xIsScalar != yIsScalar)
    return xIsScalar ? y : x;
  unsigned xBits = x.getIntOrFloatBitWidth(), yBits = y.getIntOrFloatBitWidth();
  if (xBits == yBits && x != y)
    return Float32Type::get(x.getContext());
  return xBits >= yBits ? x : y;
}

/// The type in which argument 0 is compared with argument 1.
static LogicalResult comparisonType(TorchCall &call, Type &result) {
  Value x, y;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  Builder &builder = call.getBuilder();
  if (!isNumber(call, 1)) {
    if (failed(call.tensor(1, "other", y)))
      return failure();
    result = promote(elementOf(x), elementOf(y), !rankOf(x), !rankOf(y));
    return success();
  }
  Attribute number = call.constantOf(1);
  Type scalar = isa<BoolAttr>(number)    ? builder.getI1Type()
                : isa<FloatAttr>(number) ? Type(builder.getF32Type())
                                         : builder.getI64Type();
  result = promote(elementOf(x), scalar, /*xIsScalar=*/false,
                   /*yIsScalar=*/true);
  return success();
}

/// (x and y) and (x or y) on booleans.
static Value logicalAnd(TorchCall &call, Value x, Value y) {
  return call.select(x, y, x);
}
static Value logicalOr(TorchCall &call, Value x, Value y) {
  return call.select(x, x, y);
}

//===----------------------------------------------------------------------===//
// Functions of one tensor
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult convertUnary(TorchCall &call) {
  Value x;
  if (failed(operand(call, x)))
    return failure();
  return call.replace(call.unary<Op>(x));
}

static LogicalResult convertGelu(TorchCall &call) {
  Value x;
  StringRef approximate = "none";
  if (failed(operand(call, x)) ||
      (!call.isNone(1) && failed(call.string(1, "approximate", approximate))))
    return failure();
  std::optional<GeluKind> kind = symbolizeGeluKind(approximate);
  if (!kind)
    return call.emitArgumentError("approximate")
           << "is '" << approximate << "', and must be 'none' or 'tanh'";
  return call.replace(call.create<GeluOp>(typeOf(x), x, *kind));
}

static LogicalResult convertSoftplus(TorchCall &call) {
  Value x;
  double beta = 1, threshold = 20;
  if (failed(operand(call, x)) ||
      (!call.isNone(1) && failed(call.number(1, "beta", beta))) ||
      (!call.isNone(2) && failed(call.number(2, "threshold", threshold))))
    return failure();
  if (beta != 1)
    return call.emitArgumentError("beta") << "must be 1";
  // Above 20 the function is the identity within rounding.
  if (threshold < 20)
    return call.emitArgumentError("threshold") << "must be 20 or more";
  return call.replace(call.unary<SoftplusOp>(x));
}

static LogicalResult convertLogSigmoid(TorchCall &call) {
  Value x;
  if (failed(operand(call, x)))
    return failure();
  return call.replace(
      call.unary<NegOp>(call.unary<SoftplusOp>(call.unary<NegOp>(x))));
}

static LogicalResult convertSquare(TorchCall &call) {
  Value x;
  if (failed(operand(call, x)))
    return failure();
  return call.replace(call.binary<MulOp>(x, x));
}

static LogicalResult convertLeakyRelu(TorchCall &call) {
  Value x, slope;
  if (failed(operand(call, x)) ||
      failed(call.scalar(1, "negative_slope", elementOf(x), slope)))
    return failure();
  Value zero = call.constant(0, elementOf(x));
  return call.replace(call.select(call.compare(Predicate::gt, x, zero), x,
                                  call.binary<MulOp>(x, slope)));
}

/// The first half of a dimension times the sigmoid of the second.
static LogicalResult convertGlu(TorchCall &call) {
  Value x;
  int64_t dim;
  if (failed(operand(call, x)) ||
      failed(call.dimension(1, "dim", rankOf(x), dim)))
    return failure();
  int64_t half = typeOf(x).getDimSize(dim) / 2;
  Value gate = call.unary<SigmoidOp>(call.slice(x, dim, half, half));
  return call.replace(call.binary<MulOp>(call.slice(x, dim, 0, half), gate));
}

/// hardsigmoid(x) = clamp(x + 3, 0, 6) / 6.
static Value hardSigmoid(TorchCall &call, Value x) {
  Type element = elementOf(x);
  Builder &builder = call.getBuilder();
  Value sum = call.binary<AddOp>(x, call.constant(3, element));
  Value clamped = call.create<ClampOp>(
      typeOf(x), sum, builder.getF64FloatAttr(0), builder.getF64FloatAttr(6));
  return call.binary<DivOp>(clamped, call.constant(6, element));
}

template <bool timesX>
static LogicalResult convertHardSigmoid(TorchCall &call) {
  Value x;
  if (failed(operand(call, x)))
    return failure();
  Value sigmoid = hardSigmoid(call, x);
  return call.replace(timesX ? call.binary<MulOp>(x, sigmoid) : sigmoid);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult convertBinary(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, call.getResultElement(), x, y)))
    return failure();
  // A product of booleans is their conjunction.
  if (std::is_same_v<Op, MulOp> && call.getResultElement().isInteger(1))
    return call.replace(logicalAnd(call, x, y));
  return call.replace(call.binary<Op>(x, y));
}

/// `self + alpha * other`; `reversed` for `other - alpha * self`.
template <typename Op, bool reversed = false>
static LogicalResult convertScaled(TorchCall &call) {
  Type element = call.getResultElement();
  Value x, y, alpha;
  double factor = 1;
  if (failed(operands(call, element, x, y)) ||
      (!call.isNone(2) && (failed(call.number(2, "alpha", factor)) ||
                           failed(call.scalar(2, "alpha", element, alpha)))))
    return failure();
  if (element.isInteger(1)) {
    if (!std::is_same_v<Op, AddOp> || factor != 1)
      return call.emitError() << "is not supported on booleans";
    return call.replace(logicalOr(call, x, y));
  }
  if (reversed)
    std::swap(x, y);
  if (factor != 1)
    y = call.binary<MulOp>(y, alpha);
  return call.replace(call.binary<Op>(x, y));
}

static LogicalResult convertRoundedDivision(TorchCall &call) {
  if (!call.isNone(2))
    return call.emitArgumentError("rounding_mode") << "must be None";
  return convertBinary<DivOp>(call);
}

static LogicalResult convertGeneralPower(TorchCall &call) {
  if (!isa<FloatType>(call.getResultElement()))
    return call.emitError() << "has element type " << call.getResultElement()
                            << ", and general powers are supported on floats "
                               "only";
  return convertBinary<PowOp>(call);
}

/// `x ** n`: the exponents with an op of their own, and the general one.
static LogicalResult convertPower(TorchCall &call) {
  Value x;
  double exponent;
  if (failed(operand(call, x)) || failed(call.number(1, "exponent", exponent)))
    return failure();
  auto square = [&](Value value) { return call.binary<MulOp>(value, value); };
  if (exponent == 1)
    return call.replace(x);
  if (exponent == 2)
    return call.replace(square(x));
  if (exponent == 3)
    return call.replace(call.binary<MulOp>(square(x), x));
  if (isa<FloatType>(elementOf(x))) {
    if (exponent == 0.5)
      return call.replace(call.unary<SqrtOp>(x));
    if (exponent == -0.5)
      return call.replace(call.unary<RsqrtOp>(x));
    if (exponent == -1)
      return call.replace(call.unary<ReciprocalOp>(x));
  }
  return convertGeneralPower(call);
}

/// `value * tensor1 * tensor2 + self` and `value * tensor1 / tensor2 + self`.
template <typename Op> static LogicalResult convertAddProduct(TorchCall &call) {
  Type element = call.getResultElement();
  Value x, y, z, value;
  double factor = 1;
  if (failed(operand(call, 0, "self", element, x)) ||
      failed(operand(call, 1, "tensor1", element, y)) ||
      failed(operand(call, 2, "tensor2", element, z)) ||
      (!call.isNone(3) && (failed(call.number(3, "value", factor)) ||
                           failed(call.scalar(3, "value", element, value)))))
    return failure();
  Value product = call.binary<Op>(y, z);
  if (factor != 1)
    product = call.binary<MulOp>(product, value);
  return call.replace(call.binary<AddOp>(x, product));
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Limits `x`; floats by one op with attributes, integers by two.
static LogicalResult clamp(TorchCall &call, Value x, std::optional<double> min,
                           std::optional<double> max) {
  Builder &builder = call.getBuilder();
  if (isa<FloatType>(elementOf(x))) {
    auto bound = [&](std::optional<double> value) {
      return value ? builder.getF64FloatAttr(*value) : FloatAttr();
    };
    if (!min && !max)
      return call.emitError() << "needs 'min', 'max' or both";
    return call.replace(
        call.create<ClampOp>(typeOf(x), x, bound(min), bound(max)));
  }
  if (min)
    x = call.binary<MaximumOp>(x, call.constant(*min, elementOf(x)));
  if (max)
    x = call.binary<MinimumOp>(x, call.constant(*max, elementOf(x)));
  return call.replace(x);
}

/// Reads a bound that may be `None`.
static LogicalResult bound(TorchCall &call, unsigned index, StringRef name,
                           std::optional<double> &result) {
  if (call.isNone(index))
    return success();
  double value;
  if (failed(call.number(index, name, value)))
    return failure();
  result = value;
  return success();
}

static LogicalResult convertClamp(TorchCall &call) {
  Value x;
  std::optional<double> min, max;
  if (failed(operand(call, x)) || failed(bound(call, 1, "min", min)) ||
      failed(bound(call, 2, "max", max)))
    return failure();
  return clamp(call, x, min, max);
}

static LogicalResult convertClampMax(TorchCall &call) {
  Value x;
  std::optional<double> max;
  if (failed(operand(call, x)) || failed(bound(call, 1, "max", max)))
    return failure();
  return clamp(call, x, std::nullopt, max);
}

static LogicalResult convertRelu6(TorchCall &call) {
  Value x;
  if (failed(operand(call, x)))
    return failure();
  return clamp(call, x, 0, 6);
}

static LogicalResult convertClampTensor(TorchCall &call) {
  Type element = call.getResultElement();
  Value x, min, max;
  if (failed(operand(call, x)) ||
      (!call.isNone(1) && failed(operand(call, 1, "min", element, min))) ||
      (!call.isNone(2) && failed(operand(call, 2, "max", element, max))))
    return failure();
  if (min)
    x = call.binary<MaximumOp>(x, min);
  if (max)
    x = call.binary<MinimumOp>(x, max);
  return call.replace(x);
}

//===----------------------------------------------------------------------===//
// Comparisons, booleans, selections
//===----------------------------------------------------------------------===//

/// Whether a boolean tensor is compared with 0 or 1, which needs no cast.
static bool isBooleanTest(TorchCall &call) {
  Value x;
  auto number = dyn_cast_or_null<IntegerAttr>(call.constantOf(1));
  return number && succeeded(call.tensor(0, "self", x)) &&
         elementOf(x).isInteger(1) &&
         (number.getValue().isZero() || number.getValue().isOne());
}

template <Predicate predicate>
static LogicalResult convertComparison(TorchCall &call) {
  Type element;
  Value x, y;
  if (failed(comparisonType(call, element)))
    return failure();
  // Booleans are ordered false < true, and one bit is negative.
  bool ordered = predicate != Predicate::eq && predicate != Predicate::ne;
  if (ordered && element.isInteger(1))
    element = call.getBuilder().getI32Type();
  else if (!ordered && isBooleanTest(call))
    element = call.getBuilder().getI1Type();
  if (failed(operands(call, element, x, y)))
    return failure();
  return call.replace(call.compare(predicate, x, y));
}

template <Value (*combine)(TorchCall &, Value, Value)>
static LogicalResult convertLogical(TorchCall &call) {
  Type boolean = call.getBuilder().getI1Type();
  if (call.getResultElement() != boolean)
    return call.emitError() << "is supported on booleans only";
  Value x, y;
  if (failed(operands(call, boolean, x, y)))
    return failure();
  return call.replace(combine(call, x, y));
}

static LogicalResult convertXor(TorchCall &call) {
  if (!call.getResultElement().isInteger(1))
    return call.emitError() << "is supported on booleans only";
  Value x, y;
  if (failed(operands(call, call.getResultElement(), x, y)))
    return failure();
  return call.replace(call.compare(Predicate::ne, x, y));
}

static LogicalResult convertNot(TorchCall &call) {
  if (!call.getResultElement().isInteger(1))
    return call.emitError() << "is supported on booleans only";
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  return call.replace(
      call.compare(Predicate::eq, x, call.constant(0, elementOf(x))));
}

static LogicalResult convertWhere(TorchCall &call) {
  Type boolean = call.getBuilder().getI1Type();
  Type element = call.getResultElement();
  Value condition, x, y;
  if (failed(operand(call, 0, "condition", boolean, condition)) ||
      failed(operand(call, 1, "self", element, x)) ||
      failed(operand(call, 2, "other", element, y)))
    return failure();
  Value selected = call.select(condition, x, y);
  return call.replace(selected);
}

static LogicalResult convertMaskedFill(TorchCall &call) {
  Type boolean = call.getBuilder().getI1Type();
  Type element = call.getResultElement();
  Value x, mask, value;
  if (failed(operand(call, x)) ||
      failed(operand(call, 1, "mask", boolean, mask)) ||
      failed(operand(call, 2, "value", element, value)))
    return failure();
  return call.replace(call.select(mask, value, x));
}

//===----------------------------------------------------------------------===//
// Copies and casts
//===----------------------------------------------------------------------===//

/// The result's element type says all: equal, and the op is an identity.
static LogicalResult convertCast(TorchCall &call) {
  Value x;
  if (failed(operand(call, x)))
    return failure();
  return call.replace(x);
}

static LogicalResult convertDropout(TorchCall &call) {
  Value x;
  double p;
  bool train;
  if (failed(operand(call, x)) || failed(call.number(1, "p", p)) ||
      failed(call.boolean(2, "train", train)))
    return failure();
  if (train && p != 0)
    return call.emitArgumentError("train")
           << "must be false; export the module after 'eval()'";
  return call.replace(x);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void populateUnaryConverters(ConverterTable &table) {
  table["aten.neg"] = convertUnary<NegOp>;
  table["aten.abs"] = convertUnary<AbsOp>;
  table["aten.exp"] = convertUnary<ExpOp>;
  table["aten.log"] = convertUnary<LogOp>;
  table["aten.sqrt"] = convertUnary<SqrtOp>;
  table["aten.rsqrt"] = convertUnary<RsqrtOp>;
  table["aten.reciprocal"] = convertUnary<ReciprocalOp>;
  table["aten.sin"] = convertUnary<SinOp>;
  table["aten.cos"] = convertUnary<CosOp>;
  table["aten.erf"] = convertUnary<ErfOp>;
  table["aten.tanh"] = convertUnary<TanhOp>;
  table["aten.sigmoid"] = convertUnary<SigmoidOp>;
  table["aten.relu"] = convertUnary<ReluOp>;
  table["aten.silu"] = convertUnary<SiluOp>;
  table["aten.mish"] = convertUnary<MishOp>;
  table["aten.gelu"] = convertGelu;
  table["aten.softplus"] = convertSoftplus;
  table["aten.log_sigmoid"] = convertLogSigmoid;
  table["aten.square"] = convertSquare;
  table["aten.leaky_relu"] = convertLeakyRelu;
  table["aten.glu"] = convertGlu;
  table["aten.hardsigmoid"] = convertHardSigmoid</*timesX=*/false>;
  table["aten.hardswish"] = convertHardSigmoid</*timesX=*/true>;
}

static void populateArithmeticConverters(ConverterTable &table) {
  table["aten.add.Tensor"] = convertScaled<AddOp>;
  table["aten.add.Scalar"] = convertScaled<AddOp>;
  table["aten.sub.Tensor"] = convertScaled<SubOp>;
  table["aten.sub.Scalar"] = convertScaled<SubOp>;
  table["aten.rsub.Tensor"] = convertScaled<SubOp, /*reversed=*/true>;
  table["aten.rsub.Scalar"] = convertScaled<SubOp, /*reversed=*/true>;
  table["aten.mul.Tensor"] = convertBinary<MulOp>;
  table["aten.mul.Scalar"] = convertBinary<MulOp>;
  table["aten.div.Tensor"] = convertBinary<DivOp>;
  table["aten.div.Scalar"] = convertBinary<DivOp>;
  table["aten.div.Tensor_mode"] = convertRoundedDivision;
  table["aten.div.Scalar_mode"] = convertRoundedDivision;
  table["aten.addcmul"] = convertAddProduct<MulOp>;
  table["aten.addcdiv"] = convertAddProduct<DivOp>;
  table["aten.pow.Tensor_Scalar"] = convertPower;
  table["aten.pow.Tensor_Tensor"] = convertGeneralPower;
  table["aten.pow.Scalar"] = convertGeneralPower;
  table["aten.minimum"] = convertBinary<MinimumOp>;
  table["aten.maximum"] = convertBinary<MaximumOp>;
  table["aten.min.other"] = convertBinary<MinimumOp>;
  table["aten.max.other"] = convertBinary<MaximumOp>;
  table["aten.clamp"] = convertClamp;
  table["aten.clamp_min"] = convertClamp;
  table["aten.clamp_max"] = convertClampMax;
  table["aten.clamp.Tensor"] = convertClampTensor;
  table["aten.clamp_min.Tensor"] = convertBinary<MaximumOp>;
  table["aten.clamp_max.Tensor"] = convertBinary<MinimumOp>;
  table["aten.hardtanh"] = convertClamp;
  table["aten.relu6"] = convertRelu6;
}

template <Predicate predicate>
static void addComparison(ConverterTable &table, const Twine &name) {
  for (StringRef overload : {".Tensor", ".Scalar"})
    table[("aten." + name + overload).str()] = convertComparison<predicate>;
}

void torchtofact::populatePointwiseConverters(ConverterTable &table) {
  populateUnaryConverters(table);
  populateArithmeticConverters(table);

  addComparison<Predicate::eq>(table, "eq");
  addComparison<Predicate::ne>(table, "ne");
  addComparison<Predicate::lt>(table, "lt");
  addComparison<Predicate::le>(table, "le");
  addComparison<Predicate::gt>(table, "gt");
  addComparison<Predicate::ge>(table, "ge");
  table["aten.logical_and"] = convertLogical<logicalAnd>;
  table["aten.logical_or"] = convertLogical<logicalOr>;
  table["aten.bitwise_and.Tensor"] = convertLogical<logicalAnd>;
  table["aten.bitwise_or.Tensor"] = convertLogical<logicalOr>;
  table["aten.__and__.Tensor"] = convertLogical<logicalAnd>;
  table["aten.__or__.Tensor"] = convertLogical<logicalOr>;
  for (StringRef name : {"logical_xor", "bitwise_xor.Tensor", "__xor__.Tensor"})
    table[("aten." + name).str()] = convertXor;
  table["aten.logical_not"] = convertNot;
  table["aten.bitwise_not"] = convertNot;
  for (StringRef overload : {".self", ".Scalar", ".ScalarSelf", ".ScalarOther"})
    table[("aten.where" + overload).str()] = convertWhere;
  table["aten.masked_fill.Scalar"] = convertMaskedFill;
  table["aten.masked_fill.Tensor"] = convertMaskedFill;

  for (StringRef name :
       {"aten.clone", "aten.contiguous", "aten.alias", "aten.detach",
        "aten.lift_fresh_copy", "aten.to.dtype", "aten.to.dtype_layout",
        "aten.to.other", "aten.to.device", "aten.to.prim_Device",
        "aten._to_copy", "aten.type_as", "prims.convert_element_type"})
    table[name] = convertCast;
  table["aten.dropout"] = convertDropout;
}
