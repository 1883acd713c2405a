//===- Integers.cpp - Bits, shifts and powers of integers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

/// Reads both operands in the result's element type, which must not be a float.
static LogicalResult operands(TorchCall &call, Value &x, Value &y) {
  Type element = call.getResultElement();
  if (isa<FloatType>(element))
    return call.emitError() << "returns elements of " << element
                            << "; only integers and booleans are supported";
  return success(succeeded(call.operand(0, "self", element, x)) &&
                 succeeded(call.operand(1, "other", element, y)));
}

/// Booleans use the ops that the proofs about masks understand.
template <typename Op, Value (TorchCall::*ofBooleans)(Value, Value)>
static LogicalResult convertBitwise(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, x, y)))
    return failure();
  if (elementOf(x).isInteger(1))
    return call.replace((call.*ofBooleans)(x, y));
  return call.replace(call.binary<Op>(x, y));
}

static LogicalResult convertBitwiseNot(TorchCall &call) {
  Value x;
  if (failed(call.tensor(0, "self", x)))
    return failure();
  if (elementOf(x).isInteger(1))
    return call.replace(call.logicalNot(x));
  return call.replace(call.binary<XorOp>(x, call.constant(-1, elementOf(x))));
}

template <typename Op> static LogicalResult convertShift(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, x, y)))
    return failure();
  if (elementOf(x).isInteger(1))
    return call.emitError() << "is not supported on booleans";
  return call.replace(call.binary<Op>(x, y));
}

/// Multiplies x to the powers 1, 2, 4, ..., 32 where the exponent has the bit.
/// Larger exponents do not change 0, 1 and -1, shift every bit out of an even
/// number, and overflow an odd one. To a negative power, all but 1 and -1 are
/// 0.
LogicalResult torchtofact::convertIntegerPower(TorchCall &call) {
  Value x, y;
  if (failed(operands(call, x, y)))
    return failure();
  Type element = elementOf(x);
  if (element.isInteger(1))
    return call.emitError() << "is not supported on booleans";
  auto number = [&](int64_t value) { return call.constant(value, element); };
  auto hasBit = [&](Value value, int64_t bit) {
    return call.compare(Predicate::ne, call.binary<AndOp>(value, number(bit)),
                        number(0));
  };
  Value power = call.select(hasBit(y, 1), x, number(1));
  Value square = x;
  for (int64_t bit = 2; bit <= 32; bit *= 2) {
    square = call.binary<MulOp>(square, square);
    power =
        call.select(hasBit(y, bit), call.binary<MulOp>(power, square), power);
  }
  // Powers of -1 depend on the parity of the exponent, whatever its sign.
  Value isUnit =
      call.compare(Predicate::eq, call.binary<MulOp>(x, x), number(1));
  Value isFraction = call.logicalAnd(call.compare(Predicate::lt, y, number(0)),
                                     call.logicalNot(isUnit));
  Value isShiftedOut =
      call.logicalAnd(call.compare(Predicate::gt, y, number(63)),
                      call.logicalNot(hasBit(x, 1)));
  Value vanishes = call.logicalOr(isFraction, isShiftedOut);
  return call.replace(call.select(vanishes, number(0), power));
}

void torchtofact::populateIntegerConverters(ConverterTable &table) {
  using Call = TorchCall;
  for (StringRef overload : {".Tensor", ".Scalar"}) {
    auto add = [&](StringRef name, StringRef symbol, Converter converter) {
      table[("aten." + name + overload).str()] = converter;
      table[("aten." + symbol + overload).str()] = converter;
    };
    add("bitwise_and", "__and__", convertBitwise<AndOp, &Call::logicalAnd>);
    add("bitwise_or", "__or__", convertBitwise<OrOp, &Call::logicalOr>);
    add("bitwise_xor", "__xor__", convertBitwise<XorOp, &Call::logicalXor>);
  }
  table["aten.bitwise_not"] = convertBitwiseNot;
  for (StringRef name :
       {"bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar",
        "__lshift__.Tensor", "__lshift__.Scalar"})
    table[("aten." + name).str()] = convertShift<ShiftLeftOp>;
  for (StringRef name :
       {"bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar",
        "__rshift__.Tensor", "__rshift__.Scalar"})
    table[("aten." + name).str()] = convertShift<ShiftRightOp>;
}
