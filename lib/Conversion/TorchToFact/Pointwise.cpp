//===- Pointwise.cpp - Elementwise torch ops ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands are cast to the result's element type, which PyTorch's promotion has
// already decided. Comparisons, whose result is boolean, promote here.
//
//===----------------------------------------------------------------------===//

#include "TorchCall.h"
#include <cmath>

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static LogicalResult operands(TorchCall &call, Type element, Value &x,
                              Value &y) {
  return success(succeeded(call.operand(0, "self", element, x)) &&
                 succeeded(call.operand(1, "other", element, y)));
}

/// PyTorch's type promotion: booleans, integers, floats, then by width; f16
/// with bf16 is f32. Of a 0-d tensor or number, only the kind counts.
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
  if (!call.isNumber(1)) {
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

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult convertBinary(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, call.getResultElement(), x, y)))
    return failure();
  // Booleans are 0 and 1, so their product is the conjunction.
  if (call.getResultElement().isInteger(1)) {
    bool both = std::is_same_v<Op, MulOp> || std::is_same_v<Op, MinimumOp>;
    return call.replace(both ? call.logicalAnd(x, y) : call.logicalOr(x, y));
  }
  return call.replace(call.binary<Op>(x, y));
}

/// `self + alpha * other`, or `other - alpha * self` if `reversed`.
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
    return call.replace(call.logicalOr(x, y));
  }
  if (reversed)
    std::swap(x, y);
  if (factor != 1)
    y = call.binary<MulOp>(y, alpha);
  return call.replace(call.binary<Op>(x, y));
}

/// The remainder has the sign of the divisor: PyTorch's `remainder`, Python's
/// `%`. `wraps` is whether the sign had to change.
static Value remainder(TorchCall &call, Value x, Value y, Value &wraps) {
  Value rest = call.binary<FmodOp>(x, y);
  Value signs =
      call.compare(Predicate::ne, call.compare(Predicate::lt, rest, 0),
                   call.compare(Predicate::lt, y, 0));
  wraps = call.logicalAnd(call.compare(Predicate::ne, rest, 0), signs);
  return rest;
}

static LogicalResult convertRemainder(TorchCall &call) {
  Value x, y, wraps;
  if (failed(operands(call, call.getResultElement(), x, y)))
    return failure();
  Value rest = remainder(call, x, y, wraps);
  return call.replace(call.select(wraps, call.binary<AddOp>(rest, y), rest));
}

/// The quotient rounded down, computed from the exact remainder, because the
/// quotient may round up to the next integer.
static Value divideFloor(TorchCall &call, Value x, Value y) {
  Value wraps;
  Value rest = remainder(call, x, y, wraps);
  if (!isa<FloatType>(elementOf(x))) {
    Value quotient = call.binary<DivOp>(x, y);
    Value one = call.constant(1, elementOf(quotient));
    return call.select(wraps, call.binary<SubOp>(quotient, one), quotient);
  }
  Value whole = call.binary<DivOp>(call.binary<SubOp>(x, rest), y);
  Value down = call.select(wraps, call.binary<SubOp>(whole, 1.0), whole);
  // The quotient is an integer up to one rounding.
  return call.select(call.compare(Predicate::eq, y, 0),
                     call.binary<DivOp>(x, y), call.unary<RoundOp>(down));
}

static Value divideTruncating(TorchCall &call, Value x, Value y) {
  Value quotient = call.binary<DivOp>(x, y);
  if (!isa<FloatType>(elementOf(quotient)))
    return quotient;
  return call.select(call.compare(Predicate::lt, quotient, 0),
                     call.unary<CeilOp>(quotient),
                     call.unary<FloorOp>(quotient));
}

static LogicalResult convertFloorDivision(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, call.getResultElement(), x, y)))
    return failure();
  return call.replace(divideFloor(call, x, y));
}

static LogicalResult convertRoundedDivision(TorchCall &call) {
  if (call.isNone(2))
    return convertBinary<DivOp>(call);
  Value x, y;
  StringRef mode;
  if (failed(operands(call, call.getResultElement(), x, y)) ||
      failed(call.string(2, "rounding_mode", mode)))
    return failure();
  if (mode == "floor")
    return call.replace(divideFloor(call, x, y));
  if (mode == "trunc")
    return call.replace(divideTruncating(call, x, y));
  return call.emitArgumentError("rounding_mode")
         << "is '" << mode << "', but must be 'floor', 'trunc' or None";
}

static LogicalResult convertGeneralPower(TorchCall &call) {
  if (!isa<FloatType>(call.getResultElement()))
    return convertIntegerPower(call);
  return convertBinary<PowOp>(call);
}

/// `x ** n`: products for small integer exponents, ops such as sqrt where one
/// exists, `pow` otherwise.
static LogicalResult convertPower(TorchCall &call) {
  Value x;
  double exponent;
  if (failed(call.operand(x)) || failed(call.number(1, "exponent", exponent)))
    return failure();
  bool isFloat = isa<FloatType>(elementOf(x));
  if (exponent == 0)
    return call.replace(call.constant(1, elementOf(x), typeOf(x).getShape()));
  // Each product rounds, so only few of them beat `pow`.
  if (exponent == std::trunc(exponent) && exponent > 0 &&
      exponent <= (isFloat ? 4 : 63)) {
    Value power;
    for (int64_t bits = static_cast<int64_t>(exponent); bits; bits >>= 1) {
      if (bits & 1)
        power = power ? call.binary<MulOp>(power, x) : x;
      if (bits > 1)
        x = call.binary<MulOp>(x, x);
    }
    return call.replace(power);
  }
  if (isFloat && exponent == 0.5)
    return call.replace(call.unary<SqrtOp>(x));
  if (isFloat && exponent == -0.5)
    return call.replace(call.unary<RsqrtOp>(x));
  if (isFloat && exponent == -1)
    return call.replace(call.unary<ReciprocalOp>(x));
  return convertGeneralPower(call);
}

/// `start + weight * (end - start)`
static LogicalResult convertLerp(TorchCall &call) {
  Type element = call.getResultElement();
  Value start, end, weight;
  if (failed(call.operand(0, "self", element, start)) ||
      failed(call.operand(1, "end", element, end)) ||
      failed(call.operand(2, "weight", element, weight)))
    return failure();
  Value way = call.binary<MulOp>(call.binary<SubOp>(end, start), weight);
  return call.replace(call.binary<AddOp>(start, way));
}

/// `fmax` and `fmin` ignore NaN.
template <typename Op> static LogicalResult convertNumeric(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, call.getResultElement(), x, y)))
    return failure();
  return call.replace(call.ignoreNan<Op>(x, y));
}

/// `value * tensor1 * tensor2 + self` and `value * tensor1 / tensor2 + self`.
template <typename Op> static LogicalResult convertAddProduct(TorchCall &call) {
  Type element = call.getResultElement();
  Value x, y, z, value;
  double factor = 1;
  if (failed(call.operand(0, "self", element, x)) ||
      failed(call.operand(1, "tensor1", element, y)) ||
      failed(call.operand(2, "tensor2", element, z)) ||
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

/// Clamps `x`: floats by one op with attributes, integers by two ops.
static LogicalResult clamp(TorchCall &call, Value x, std::optional<double> min,
                           std::optional<double> max) {
  Builder &builder = call.getBuilder();
  if (isa<FloatType>(elementOf(x))) {
    auto bound = [&](std::optional<double> value) {
      return value ? builder.getF64FloatAttr(*value) : FloatAttr();
    };
    if (!min && !max)
      return call.emitError() << "needs 'min', 'max' or both";
    return call.replace(call.infer<ClampOp>(x, bound(min), bound(max)));
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
  if (failed(call.operand(x)) || failed(bound(call, 1, "min", min)) ||
      failed(bound(call, 2, "max", max)))
    return failure();
  return clamp(call, x, min, max);
}

static LogicalResult convertClampMax(TorchCall &call) {
  Value x;
  std::optional<double> max;
  if (failed(call.operand(x)) || failed(bound(call, 1, "max", max)))
    return failure();
  return clamp(call, x, std::nullopt, max);
}

static LogicalResult convertRelu6(TorchCall &call) {
  Value x;
  if (failed(call.operand(x)))
    return failure();
  return clamp(call, x, 0, 6);
}

static LogicalResult convertClampTensor(TorchCall &call) {
  Type element = call.getResultElement();
  Value x, min, max;
  if (failed(call.operand(x)) ||
      (!call.isNone(1) && failed(call.operand(1, "min", element, min))) ||
      (!call.isNone(2) && failed(call.operand(2, "max", element, max))))
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
  bool ordered = predicate != Predicate::eq && predicate != Predicate::ne;
  if (!ordered && isBooleanTest(call))
    element = call.getBuilder().getI1Type();
  if (failed(operands(call, element, x, y)))
    return failure();
  return call.replace(call.compare(predicate, x, y));
}

template <Value (TorchCall::*combine)(Value, Value)>
static LogicalResult convertLogical(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, call.getBuilder().getI1Type(), x, y)))
    return failure();
  return call.replace((call.*combine)(x, y));
}

static LogicalResult convertLogicalNot(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  return call.replace(call.logicalNot(x));
}

static LogicalResult convertWhere(TorchCall &call) {
  Type boolean = call.getBuilder().getI1Type();
  Type element = call.getResultElement();
  Value condition, x, y;
  if (failed(call.operand(0, "condition", boolean, condition)) ||
      failed(call.operand(1, "self", element, x)) ||
      failed(call.operand(2, "other", element, y)))
    return failure();
  Value selected = call.select(condition, x, y);
  return call.replace(selected);
}

static LogicalResult convertMaskedFill(TorchCall &call) {
  Type boolean = call.getBuilder().getI1Type();
  Type element = call.getResultElement();
  Value x, mask, value;
  if (failed(call.operand(x)) ||
      failed(call.operand(1, "mask", boolean, mask)) ||
      failed(call.operand(2, "value", element, value)))
    return failure();
  return call.replace(call.select(mask, value, x));
}

//===----------------------------------------------------------------------===//
// Copies and casts
//===----------------------------------------------------------------------===//

/// Casts to the result's element type; the identity if it is the same.
static LogicalResult convertCast(TorchCall &call) {
  Value x;
  if (failed(call.operand(x)))
    return failure();
  return call.replace(x);
}

static LogicalResult convertDropout(TorchCall &call) {
  Value x;
  double p;
  bool train;
  if (failed(call.operand(x)) || failed(call.number(1, "p", p)) ||
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
  table["aten.true_divide.Tensor"] = convertBinary<DivOp>;
  table["aten.div.Tensor_mode"] = convertRoundedDivision;
  table["aten.div.Scalar_mode"] = convertRoundedDivision;
  for (StringRef name : {"aten.floor_divide", "aten.floor_divide.Scalar"})
    table[name] = convertFloorDivision;
  for (StringRef name : {"aten.remainder.Tensor", "aten.remainder.Scalar"})
    table[name] = convertRemainder;
  for (StringRef name : {"aten.fmod.Tensor", "aten.fmod.Scalar"})
    table[name] = convertBinary<FmodOp>;
  table["aten.lerp.Tensor"] = convertLerp;
  table["aten.lerp.Scalar"] = convertLerp;
  table["aten.addcmul"] = convertAddProduct<MulOp>;
  table["aten.addcdiv"] = convertAddProduct<DivOp>;
  table["aten.pow.Tensor_Scalar"] = convertPower;
  table["aten.pow.Tensor_Tensor"] = convertGeneralPower;
  table["aten.pow.Scalar"] = convertGeneralPower;
  table["aten.minimum"] = convertBinary<MinimumOp>;
  table["aten.maximum"] = convertBinary<MaximumOp>;
  table["aten.min.other"] = convertBinary<MinimumOp>;
  table["aten.max.other"] = convertBinary<MaximumOp>;
  table["aten.fmin"] = convertNumeric<MinimumOp>;
  table["aten.fmax"] = convertNumeric<MaximumOp>;
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
  populateArithmeticConverters(table);

  addComparison<Predicate::eq>(table, "eq");
  addComparison<Predicate::ne>(table, "ne");
  addComparison<Predicate::lt>(table, "lt");
  addComparison<Predicate::le>(table, "le");
  addComparison<Predicate::gt>(table, "gt");
  addComparison<Predicate::ge>(table, "ge");
  table["aten.logical_and"] = convertLogical<&TorchCall::logicalAnd>;
  table["aten.logical_or"] = convertLogical<&TorchCall::logicalOr>;
  table["aten.logical_xor"] = convertLogical<&TorchCall::logicalXor>;
  table["aten.logical_not"] = convertLogicalNot;
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
