//===- ElementText.cpp - Ops that are functions of an index ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps an element of each op's result to its operands, from the definition of
// the op: coordinates of the result, coordinates of the operand, an index.
//
//===----------------------------------------------------------------------===//

#include "ElementText.h"
#include "ReferenceEmitter.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Types and literals
//===----------------------------------------------------------------------===//

std::string fact::getNumber(Type element) {
  return isa<FloatType>(element) ? "double" : getElementName(element).str();
}

StringRef fact::getRounding(Type element) {
  return element.isBF16() ? "RoundToBf16" : element.isF16() ? "RoundToF16" : "";
}

std::string fact::getLiteral(const APFloat &number) {
  APFloat wide = number;
  bool lossy;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  double value = wide.convertToDouble();
  if (std::isnan(value))
    return "not_a_number()";
  if (std::isinf(value))
    return value < 0 ? "-infinity()" : "infinity()";
  char text[40];
  snprintf(text, sizeof text, "%a", value);
  return text;
}

static std::string getIntegerLiteral(const APInt &number, unsigned bits) {
  if (bits == 1)
    return number.isZero() ? "false" : "true";
  int64_t value = number.getSExtValue();
  if (value == std::numeric_limits<int64_t>::min())
    return "INT64_MIN";
  return std::to_string(value) + (bits == 64 ? "ll" : "");
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::string fact::getIndex(ArrayRef<int64_t> shape,
                           ArrayRef<std::string> coordinates) {
  // ((c0 * n1 + c1) * n2 + c2) ...
  std::string index = "0";
  for (auto [size, coordinate] : llvm::zip_equal(shape, coordinates)) {
    if (size == 1)
      continue;
    index =
        index == "0"
            ? coordinate
            : llvm::formatv("({0}) * {1} + {2}", index, size, coordinate).str();
  }
  return index;
}

SmallVector<std::string>
fact::getBroadcastCoordinates(ArrayRef<int64_t> shape,
                              ArrayRef<std::string> coordinates) {
  // Shapes are aligned at their last dimension, and a size of 1 is repeated.
  size_t missing = coordinates.size() - shape.size();
  SmallVector<std::string> own;
  for (auto [dim, size] : llvm::enumerate(shape))
    own.push_back(size == 1 ? "0" : coordinates[missing + dim]);
  return own;
}

ReferenceEmitter::Coordinates
ReferenceEmitter::printCoordinates(ArrayRef<int64_t> shape, StringRef index,
                                   StringRef prefix) {
  Coordinates coordinates(shape.size(), "0");
  int64_t behind = 1;
  for (size_t dim = shape.size(); dim-- > 0; behind *= shape[dim]) {
    if (shape[dim] <= 1)
      continue;
    coordinates[dim] = (prefix + Twine(dim)).str();
    os << "    const int64_t " << coordinates[dim] << " = " << index << " / "
       << behind << " % " << shape[dim] << ";\n";
  }
  return coordinates;
}

std::string
ReferenceEmitter::readBroadcast(Value value,
                                const Coordinates &coordinates) const {
  ArrayRef<int64_t> shape = getTensor(value).getShape();
  return read(value,
              getIndex(shape, getBroadcastCoordinates(shape, coordinates)));
}

//===----------------------------------------------------------------------===//
// Structs
//===----------------------------------------------------------------------===//

void ReferenceEmitter::beginStruct(StringRef name, StringRef element,
                                   StringRef parameters) {
  os << "struct " << name << " {\n  FACT_FUNCTION static " << element
     << " at(const Values &v, " << parameters << ") {\n";
}

void ReferenceEmitter::printArgument(BlockArgument argument) {
  beginStruct(getName(argument), getElement(argument), "int64_t i");
  os << "    return "
     << makeElement(argument, "number(v." + getName(argument) + "[i])")
     << ";\n";
  endStruct();
}

LogicalResult ReferenceEmitter::printElement(Operation *op) {
  Value result = op->getResult(0);
  bool isStored = stored.contains(result);
  beginStruct((isStored ? "compute_" : "") + getName(result),
              getElement(result), "int64_t i");
  LogicalResult printed =
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](ConstantOp constant) { return printConstant(constant); })
          // Nothing is written there, and a result is NaN before it is written.
          .Case([&](ub::PoisonOp) {
            os << "    return " << makeElement(result, "not_a_number()")
               << ";\n";
            return success();
          })
          .Case([&](ConcatOp concat) {
            printConcat(concat);
            return success();
          })
          .Case([&](GatherOp gather) {
            printGather(gather);
            return success();
          })
          .Case([&](RotaryOp rotary) {
            printRotary(rotary);
            return success();
          })
          .Case([&](PointwiseOpInterface) { return printPointwise(op); })
          .Default([&](Operation *) { return printView(op); });
  endStruct();
  return printed;
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

static StringRef getComparison(Predicate predicate) {
  switch (predicate) {
  case Predicate::eq:
    return "Equal";
  case Predicate::ne:
    return "NotEqual";
  case Predicate::lt:
    return "Less";
  case Predicate::le:
    return "LessEqual";
  case Predicate::gt:
    return "Greater";
  case Predicate::ge:
    return "GreaterEqual";
  }
  llvm_unreachable("unknown predicate");
}

bool fact::asksForNan(Operation *op) {
  auto compare = dyn_cast<CompareOp>(op);
  return compare && compare.getLhs() == compare.getRhs() &&
         compare.getPredicate() != Predicate::lt &&
         compare.getPredicate() != Predicate::gt;
}

namespace {
/// The struct of Pointwise.h for an op, and whether its result is rounded.
struct Formula {
  StringRef name;
  bool rounds;
};
} // namespace

static Formula getFormula(Operation *op) {
  if (auto compare = dyn_cast<CompareOp>(op)) {
    bool isUnequal = compare.getPredicate() == Predicate::ne;
    if (asksForNan(op))
      return {isUnequal ? "IsNan" : "IsNumber", false};
    return {getComparison(compare.getPredicate()), false};
  }
  if (auto gelu = dyn_cast<GeluOp>(op))
    return {gelu.getApproximate() == GeluKind::none ? "Gelu" : "GeluTanh",
            true};
  return llvm::StringSwitch<Formula>(op->getName().stripDialect())
      .Case("add", {"Add", true})
      .Case("sub", {"Sub", true})
      .Case("mul", {"Mul", true})
      .Case("div", {"Div", true})
      .Case("fmod", {"Fmod", true})
      .Case("pow", {"Pow", true})
      .Case("maximum", {"Maximum", false})
      .Case("minimum", {"Minimum", false})
      .Case("neg", {"Neg", false})
      .Case("abs", {"Abs", false})
      .Case("relu", {"Relu", false})
      .Case("sign", {"Sign", false})
      .Case("floor", {"Floor", false})
      .Case("ceil", {"Ceil", false})
      .Case("round", {"Round", false})
      .Case("and", {"And", false})
      .Case("or", {"Or", false})
      .Case("xor", {"Xor", false})
      .Case("shift_left", {"ShiftLeft", false})
      .Case("shift_right", {"ShiftRight", false})
      .Case("exp", {"Exp", true})
      .Case("log", {"Log", true})
      .Case("expm1", {"Expm1", true})
      .Case("log1p", {"Log1p", true})
      .Case("sqrt", {"Sqrt", true})
      .Case("rsqrt", {"Rsqrt", true})
      .Case("reciprocal", {"Reciprocal", true})
      .Case("sin", {"Sin", true})
      .Case("cos", {"Cos", true})
      .Case("erf", {"Erf", true})
      .Case("tanh", {"Tanh", true})
      .Case("sigmoid", {"Sigmoid", true})
      .Case("silu", {"Silu", true})
      .Case("mish", {"Mish", true})
      .Case("softplus", {"Softplus", true})
      .Default({"", false});
}

/// The float type in which a candidate computes an op on these operands: a
/// wider scalar does not widen the arithmetic of the tensors.
static bool isComputedInF64(ValueRange operands) {
  bool anyFloat = false, allWide = true;
  for (Value operand : operands)
    if (isa<FloatType>(getTensor(operand).getElementType())) {
      anyFloat = true;
      allWide = allWide && getTensor(operand).getElementType().isF64();
    }
  return anyFloat && allWide;
}

std::string ReferenceEmitter::getCast(CastOp op, const std::string &x) {
  Type from = op.getOperand().getType().getElementType();
  Type to = op.getType().getElementType();
  if (from == to)
    return x;
  if (to.isInteger(1))
    return "apply<op::ToBoolean>(" + x + ")";
  if (!isa<FloatType>(to))
    return llvm::formatv("apply<op::ToInteger<{0}>>({1})", getElementName(to),
                         x);
  std::string text = x;
  if (!isa<FloatType>(from))
    text = (to.isF64() ? "apply<op::ToF64>(" : "apply<op::ToF32>(") + x + ")";
  bool narrows = isa<FloatType>(from) &&
                 to.getIntOrFloatBitWidth() <= from.getIntOrFloatBitWidth();
  // A cast to a 16-bit float rounds, also from an integer.
  if (!getRounding(to).empty() && (narrows || !isa<FloatType>(from)))
    return llvm::formatv("apply<op::{0}>({1})", getRounding(to), text);
  if (narrows)
    return "apply<op::RoundToF32>(" + text + ")";
  return text;
}

LogicalResult ReferenceEmitter::printPointwise(Operation *op) {
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = getTensor(result).getShape();
  bool broadcasts = llvm::any_of(op->getOperands(), [&](Value operand) {
    return getTensor(operand).getShape() != shape;
  });
  Coordinates coordinates;
  if (broadcasts)
    coordinates = printCoordinates(shape, "i", "c");
  bool inF64 = isComputedInF64(op->getOperands());
  SmallVector<std::string> x;
  for (Value operand : op->getOperands()) {
    std::string element = getTensor(operand).getShape() == shape
                              ? read(operand, "i")
                              : readBroadcast(operand, coordinates);
    if (getTensor(operand).getElementType().isF64() && !inF64 &&
        !isa<CastOp>(op))
      element = "apply<op::RoundToF32>(" + element + ")";
    x.push_back(element);
  }
  std::string value;
  if (auto cast = dyn_cast<CastOp>(op)) {
    value = getCast(cast, x[0]);
  } else if (isa<SelectOp>(op)) {
    value = "select(" + llvm::join(x, ", ") + ")";
  } else if (auto clamp = dyn_cast<ClampOp>(op)) {
    auto limit = [&](StringRef name, std::optional<APFloat> bound) {
      if (bound)
        value = llvm::formatv("apply<op::{0}>({1}, {2})", name, value,
                              makeElement(result, getLiteral(*bound)));
    };
    value = x[0];
    limit("Maximum", clamp.getMin());
    limit("Minimum", clamp.getMax());
  } else {
    Formula formula = getFormula(op);
    if (formula.name.empty())
      return op->emitOpError("has no formula in the reference");
    if (asksForNan(op))
      x.pop_back();
    value =
        llvm::formatv("apply<op::{0}>({1})", formula.name, llvm::join(x, ", "));
    if (formula.rounds && isa<FloatType>(getTensor(result).getElementType()))
      value = (inF64                          ? "in_f64("
               : isa<AddOp, SubOp, MulOp>(op) ? "rounded_in_f32("
               : isa<DivOp>(op)               ? "quotient_in_f32("
                                              : "in_f32(") +
              value + ")";
  }
  os << "    return " << value << ";\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

LogicalResult ReferenceEmitter::printConstant(ConstantOp op) {
  RankedTensorType type = getTensor(op.getResult());
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      bool isSplat;
      if (DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
        elements = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
    }
  if (!elements)
    return op.emitError("the reference needs the elements of a constant");
  bool isFloat = isa<FloatType>(type.getElementType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  SmallVector<std::string> literals;
  auto add = [&](const auto &element) {
    if constexpr (std::is_same_v<std::decay_t<decltype(element)>, APFloat>)
      literals.push_back(getLiteral(element));
    else
      literals.push_back(getIntegerLiteral(element, bits));
  };
  if (elements.isSplat() && isFloat)
    add(elements.getSplatValue<APFloat>());
  else if (elements.isSplat())
    add(elements.getSplatValue<APInt>());
  else if (isFloat)
    for (APFloat element : elements.getValues<APFloat>())
      add(element);
  else
    for (APInt element : elements.getValues<APInt>())
      add(element);
  std::string number = "0";
  if (elements.isSplat()) {
    number = literals[0];
  } else if (!literals.empty()) {
    os << "    const " << getNumber(type.getElementType()) << " elements[] = {"
       << llvm::join(literals, ", ") << "};\n";
    number = "elements[i]";
  }
  os << "    return " << makeElement(op.getResult(), number) << ";\n";
  return success();
}

void ReferenceEmitter::printConcat(ConcatOp op) {
  int64_t dim = op.getDim();
  Coordinates coordinates = printCoordinates(op.getType().getShape(), "i", "c");
  std::string at = coordinates[dim];
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    ArrayRef<int64_t> shape = getTensor(input).getShape();
    coordinates[dim] = llvm::formatv("({0} - {1})", at, start);
    os << "    if (" << at << " < " << start + shape[dim] << ")\n      return "
       << read(input, getIndex(shape, coordinates)) << ";\n";
    start += shape[dim];
  }
  os << "    return " << makeElement(op.getResult(), "0") << ";\n";
}

void ReferenceEmitter::printGather(GatherOp op) {
  ArrayRef<int64_t> source = getTensor(op.getSource()).getShape();
  ArrayRef<int64_t> indices = getTensor(op.getIndices()).getShape();
  int64_t dim = op.getDim();
  // [a..., i..., b...] reads source[a..., indices[i...], b...].
  Coordinates coordinates = printCoordinates(op.getType().getShape(), "i", "c");
  Coordinates before(coordinates.begin(), coordinates.begin() + dim);
  Coordinates place(coordinates.begin() + dim,
                    coordinates.begin() + dim + indices.size());
  Coordinates after(coordinates.begin() + dim + indices.size(),
                    coordinates.end());
  Coordinates own(before);
  own.push_back("index");
  llvm::append_range(own, after);
  bool isFloat = isa<FloatType>(op.getType().getElementType());
  os << "    const auto place = "
     << read(op.getIndices(), getIndex(indices, place)) << ";\n"
     << "    const int64_t index = value_of(place);\n"
     << "    auto element = "
     << makeElement(op.getResult(), isFloat ? "not_a_number()" : "0") << ";\n"
     << "    if (index >= 0 && index < " << source[dim] << ")\n"
     << "      element = " << read(op.getSource(), getIndex(source, own))
     << ";\n";
  if (tracked)
    os << "    element.undecided = element.undecided || place.undecided;\n";
  os << "    return element;\n";
}

void ReferenceEmitter::printRotary(RotaryOp op) {
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  int64_t size = shape.back();
  Coordinates coordinates = printCoordinates(shape, "i", "c");
  // The partner of an element, and whether the element is the pair's second.
  if (op.getInterleaved())
    os << "    const bool second = i % 2 == 1;\n"
       << "    const int64_t partner = second ? i - 1 : i + 1;\n";
  else
    os << "    const bool second = i % " << size << " >= " << size / 2 << ";\n"
       << "    const int64_t partner = second ? i - " << size / 2 << " : i + "
       << size / 2 << ";\n";
  bool inF64 = op.getResult().getType().getElementType().isF64();
  std::string round = inF64 ? "in_f64" : "in_f32";
  os << "    auto turned = " << read(op.getOperand(), "partner")
     << ";\n    if (!second)\n      turned = apply<op::Neg>(turned);\n"
     << llvm::formatv("    return {0}(apply<op::Add>({0}(apply<op::Mul>({1}, "
                      "{2})), {0}(apply<op::Mul>(turned, {3}))));\n",
                      round, read(op.getOperand(), "i"),
                      readBroadcast(op.getCos(), coordinates),
                      readBroadcast(op.getSin(), coordinates));
}

/// An index as C++, with names for its dimensions.
static std::string getCoordinate(AffineExpr expr, ArrayRef<std::string> names) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return names[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  StringRef sign;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    sign = " + ";
    break;
  case AffineExprKind::Mul:
    sign = " * ";
    break;
  // Indices are not negative.
  case AffineExprKind::FloorDiv:
    sign = " / ";
    break;
  case AffineExprKind::Mod:
    sign = " % ";
    break;
  default:
    llvm_unreachable("unexpected expression in the index of a view");
  }
  return "(" + getCoordinate(binary.getLHS(), names) + sign.str() +
         getCoordinate(binary.getRHS(), names) + ")";
}

LogicalResult ReferenceEmitter::printView(Operation *op) {
  auto view = dyn_cast<ViewOpInterface>(op);
  if (!view)
    return op->emitOpError("has no reference");
  Value operand = op->getOperand(0);
  ArrayRef<int64_t> shape = getTensor(op->getResult(0)).getShape();
  ArrayRef<int64_t> from = getTensor(operand).getShape();
  // A reshape keeps the order of elements.
  if (isa<ReshapeOp>(op)) {
    os << "    return " << read(operand, "i") << ";\n";
    return success();
  }
  Coordinates coordinates = printCoordinates(shape, "i", "c");
  Coordinates own;
  for (AffineExpr expr : view.getSourceExprs())
    own.push_back(getCoordinate(expr, coordinates));
  os << "    return " << read(operand, getIndex(from, own)) << ";\n";
  return success();
}
