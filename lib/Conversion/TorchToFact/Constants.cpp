//===- Constants.cpp - Weights, literals and what is read through ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

/// Constants and lists are read by their users; assertions about metadata hold
/// because types are static.
static LogicalResult readThrough(TorchCall &) { return success(); }

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Converts a boolean buffer, stored as bytes of 0 and 1, to i1.
static ElementsAttr convertBooleans(ElementsAttr value, RankedTensorType type) {
  SmallVector<bool> booleans;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    for (char byte : resource.getData())
      booleans.push_back(byte != 0);
  } else {
    for (const APInt &element : value.getValues<APInt>())
      booleans.push_back(!element.isZero());
  }
  if (static_cast<int64_t>(booleans.size()) != type.getNumElements())
    return {};
  if (llvm::all_equal(booleans) && !booleans.empty())
    booleans.resize(1);
  return DenseElementsAttr::get(type, booleans);
}

/// Converts `value` to FACT's element type; null if the types do not agree.
static ElementsAttr convertElements(ElementsAttr value, RankedTensorType type) {
  ShapedType from = value.getShapedType();
  if (from == type)
    return value;
  if (from.getShape() != type.getShape())
    return {};
  Type element = type.getElementType();
  if (from.getElementType().isInteger(8) && element.isInteger(1))
    return convertBooleans(value, type);
  if (!from.getElementType().isInteger() || !element.isInteger() ||
      from.getElementTypeBitWidth() != type.getElementTypeBitWidth())
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.bitcast(element);
  return {};
}

static LogicalResult readValue(TorchCall &call, ElementsAttr &value) {
  auto given = call.getOperation()->getAttrOfType<ElementsAttr>("value");
  if (!given)
    return success();
  value = convertElements(given, call.getResultType());
  if (value)
    return success();
  return call.emitError() << "has a value of type " << given.getType()
                          << ", but its result is "
                          << call.getOperation()->getResult(0).getType();
}

//===----------------------------------------------------------------------===//
// Weights and literals
//===----------------------------------------------------------------------===//

static LogicalResult convertLiteral(TorchCall &call) {
  ElementsAttr value;
  if (failed(readValue(call, value)))
    return failure();
  if (!value)
    return call.emitError() << "needs its attribute 'value'";
  return call.replace(call.create<ConstantOp>(value));
}

/// A tensor that was created inside the module is a constant. All others belong
/// to its state and are weights.
static LogicalResult convertWeight(TorchCall &call) {
  Operation *op = call.getOperation();
  if (op->hasAttr("constant"))
    return convertLiteral(call);
  auto name = op->getAttrOfType<StringAttr>("name");
  if (!name || name.empty())
    return call.emitError() << "needs a non-empty attribute 'name'";
  Weight weight{call.getLoc(), call.getResultType(), {}};
  if (failed(readValue(call, weight.value)))
    return failure();
  auto [known, isNew] = call.getWeights().insert({name, weight});
  if (!isNew && known->second.type != weight.type) {
    InFlightDiagnostic diagnostic = call.emitError();
    diagnostic << "declares weight " << name << " as " << weight.type;
    diagnostic.attachNote(known->second.loc)
        << "it is declared as " << known->second.type << " here";
    return diagnostic;
  }
  return call.replace(call.create<GetWeightOp>(weight.type, name.getValue()));
}

//===----------------------------------------------------------------------===//
// Tensors built from numbers
//===----------------------------------------------------------------------===//

/// `full(size, value)`: the value is argument `index`.
template <unsigned index> static LogicalResult convertFull(TorchCall &call) {
  double value;
  if (failed(call.number(index, "fill_value", value)))
    return failure();
  RankedTensorType type = call.getResultType();
  return call.replace(
      call.constant(value, type.getElementType(), type.getShape()));
}

template <int value> static LogicalResult convertFilled(TorchCall &call) {
  RankedTensorType type = call.getResultType();
  return call.replace(
      call.constant(value, type.getElementType(), type.getShape()));
}

/// Builds the elements of `arange`, as many as the result has.
static LogicalResult makeRange(TorchCall &call, double start, double step) {
  RankedTensorType type = call.getResultType();
  Type element = type.getElementType();
  Builder &builder = call.getBuilder();
  SmallVector<Attribute> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    double value = start + static_cast<double>(i) * step;
    elements.push_back(isa<FloatType>(element)
                           ? Attribute(builder.getFloatAttr(element, value))
                           : Attribute(builder.getIntegerAttr(element, value)));
  }
  return call.replace(
      call.create<ConstantOp>(DenseElementsAttr::get(type, elements)));
}

static LogicalResult convertRange(TorchCall &call) {
  return makeRange(call, 0, 1);
}

static LogicalResult convertRangeFrom(TorchCall &call) {
  double start;
  if (failed(call.number(0, "start", start)))
    return failure();
  return makeRange(call, start, 1);
}

static LogicalResult convertRangeStep(TorchCall &call) {
  double start, step;
  if (failed(call.number(0, "start", start)) ||
      failed(call.number(2, "step", step)))
    return failure();
  return makeRange(call, start, step);
}

/// `linspace(start, end, steps)` includes both ends.
static LogicalResult convertLinspace(TorchCall &call) {
  double start, end;
  if (failed(call.number(0, "start", start)) ||
      failed(call.number(1, "end", end)))
    return failure();
  int64_t gaps = call.getResultType().getNumElements() - 1;
  return makeRange(call, start, gaps > 0 ? (end - start) / gaps : 0);
}

/// Ones on the diagonal, zeros elsewhere.
static LogicalResult convertEye(TorchCall &call) {
  RankedTensorType type = call.getResultType();
  if (type.getRank() != 2)
    return call.emitError()
           << "returns " << type << ", but must return a matrix";
  SmallVector<bool> ones;
  for (int64_t row = 0; row < type.getDimSize(0); ++row)
    for (int64_t column = 0; column < type.getDimSize(1); ++column)
      ones.push_back(row == column);
  auto mask =
      RankedTensorType::get(type.getShape(), call.getBuilder().getI1Type());
  Value diagonal = call.create<ConstantOp>(DenseElementsAttr::get(mask, ones));
  return call.replace(call.cast(diagonal, type.getElementType()));
}

/// `tril` and `triu` keep elements by a constant mask.
template <bool lower> static LogicalResult convertTriangle(TorchCall &call) {
  Value x;
  int64_t diagonal = 0;
  if (failed(call.tensor(0, "self", x)) ||
      failed(call.optionalInteger(1, "diagonal", diagonal)))
    return failure();
  if (rankOf(x) < 2)
    return call.emitArgumentError("self") << "must have rank 2 or more";
  ArrayRef<int64_t> matrix = typeOf(x).getShape().take_back(2);
  SmallVector<bool> keep;
  for (int64_t row = 0; row < matrix[0]; ++row)
    for (int64_t column = 0; column < matrix[1]; ++column)
      keep.push_back(lower ? column - row <= diagonal
                           : column - row >= diagonal);
  auto type = RankedTensorType::get(matrix, call.getBuilder().getI1Type());
  Value mask = call.create<ConstantOp>(DenseElementsAttr::get(type, keep));
  return call.replace(call.select(mask, x, call.constant(0, elementOf(x))));
}

void torchtofact::populateConstantConverters(ConverterTable &table) {
  for (StringRef name :
       {"constant.int", "constant.float", "constant.bool", "constant.str",
        "constant.none", "constant.device", "constant.number",
        "prim.ListConstruct", "aten._assert_tensor_metadata", "aten.Int.bool",
        "aten.Float.bool", "symbolic_int", "bind_symbolic_shape"})
    table[name] = readThrough;

  table["fact.weight"] = convertWeight;
  table["vtensor.literal"] = convertLiteral;
  table["prim.NumToTensor.Scalar"] = convertFull<0>;
  table["aten.scalar_tensor"] = convertFull<0>;
  table["aten.full"] = convertFull<1>;
  table["aten.full_like"] = convertFull<1>;
  table["aten.new_full"] = convertFull<2>;
  // The content of `empty` is unspecified; zeros make it deterministic.
  for (StringRef name : {"empty.memory_format", "empty_like", "new_empty",
                         "empty_strided", "new_empty_strided", "zero"})
    table[("aten." + name).str()] = convertFilled<0>;
  table["aten.zeros"] = convertFilled<0>;
  table["aten.zeros_like"] = convertFilled<0>;
  table["aten.new_zeros"] = convertFilled<0>;
  table["aten.ones"] = convertFilled<1>;
  table["aten.ones_like"] = convertFilled<1>;
  table["aten.new_ones"] = convertFilled<1>;
  table["aten.arange"] = convertRange;
  table["aten.arange.start"] = convertRangeFrom;
  table["aten.arange.start_step"] = convertRangeStep;
  table["aten.linspace"] = convertLinspace;
  table["aten.eye"] = convertEye;
  table["aten.eye.m"] = convertEye;
  table["aten.tril"] = convertTriangle<true>;
  table["aten.triu"] = convertTriangle<false>;
}
