//===- ConstantEvaluation.cpp - Values known at compile time --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"
#include <functional>

using namespace mlir;
using namespace fact;

static int64_t count(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  return elements;
}

static double toDouble(const APFloat &value) {
  bool lossy;
  APFloat wide = value;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return wide.convertToDouble();
}

/// Elements of raw little-endian storage, as `dense_resource` keeps them.
static FailureOr<std::vector<double>> decodeBlob(ArrayRef<char> data,
                                                 Type element, int64_t size) {
  std::optional<runtime::ElementType> type = findElementType(element);
  if (!type || static_cast<int64_t>(data.size()) !=
                   size * int64_t(runtime::bytesOf(*type)))
    return failure();
  std::vector<double> elements(size);
  for (int64_t i = 0; i < size; ++i) {
    // The data may be unaligned.
    uint64_t bits = runtime::elementBits(data.data(), *type, i);
    elements[i] = runtime::isBoolean(*type)
                      ? double(bits & 1)
                      : runtime::loadElement(&bits, *type, 0);
  }
  return elements;
}

static FailureOr<std::vector<double>> decode(ElementsAttr attr) {
  ShapedType type = attr.getShapedType();
  Type element = type.getElementType();
  int64_t size = type.getNumElements();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return failure();
    return decodeBlob(blob->getData(), element, size);
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return failure();
  std::vector<double> elements;
  elements.reserve(size);
  if (element.isInteger(1))
    for (bool value : dense.getValues<bool>())
      elements.push_back(value);
  else if (element.isF32())
    for (float value : dense.getValues<float>())
      elements.push_back(value);
  else if (isa<FloatType>(element))
    for (const APFloat &value : dense.getValues<APFloat>())
      elements.push_back(toDouble(value));
  else
    for (const APInt &value : dense.getValues<APInt>())
      elements.push_back(static_cast<double>(value.getSExtValue()));
  return elements;
}

/// Reads `known` at every index of a strided view of it.
static KnownTensor gather(const KnownTensor &known, const StridedView &view) {
  KnownTensor result{view.shape, {}, known.weights};
  int64_t size = count(view.shape);
  result.elements.reserve(size);
  SmallVector<int64_t> index(view.shape.size(), 0);
  for (int64_t i = 0; i < size; ++i) {
    int64_t position = view.offset;
    for (auto [at, stride] : llvm::zip_equal(index, view.strides))
      position += at * stride;
    result.elements.push_back(known.elements[position]);
    for (int64_t dim = index.size() - 1; dim >= 0; --dim) {
      if (++index[dim] < view.shape[dim])
        break;
      index[dim] = 0;
    }
  }
  return result;
}

static KnownTensor expandTo(const KnownTensor &known, ArrayRef<int64_t> shape) {
  StridedView view{{}, 0, known.shape, rowMajorStrides(known.shape)};
  return gather(known, view.expand(shape));
}

using ScalarFunction = std::function<double(const double *)>;

/// A number as a type stores it: floats are rounded, integers wrap.
static ScalarFunction roundTo(Type element) {
  auto type = dyn_cast<FloatType>(element);
  if (element.isInteger(1))
    return [](const double *x) { return x[0] != 0; };
  if (element.isF64())
    return [](const double *x) { return x[0]; };
  if (element.isF32())
    return [](const double *x) { return static_cast<float>(x[0]); };
  if (!type)
    return [](const double *x) { return std::trunc(x[0]); };
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  return [&semantics](const double *x) {
    if (x[0] == 0 || x[0] == 1 || std::isinf(x[0]))
      return x[0];
    APFloat value(x[0]);
    bool inexact;
    value.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
    return toDouble(value);
  };
}

/// The scalar functions of the few pointwise ops that masks are made of; null
/// for others.
static ScalarFunction getScalarFunction(Operation *op) {
  return TypeSwitch<Operation *, ScalarFunction>(op)
      .Case([](CompareOp compare) -> ScalarFunction {
        switch (compare.getPredicate()) {
        case Predicate::eq:
          return [](const double *x) { return x[0] == x[1]; };
        case Predicate::ne:
          return [](const double *x) { return x[0] != x[1]; };
        case Predicate::lt:
          return [](const double *x) { return x[0] < x[1]; };
        case Predicate::le:
          return [](const double *x) { return x[0] <= x[1]; };
        case Predicate::gt:
          return [](const double *x) { return x[0] > x[1]; };
        case Predicate::ge:
          return [](const double *x) { return x[0] >= x[1]; };
        }
        return nullptr;
      })
      .Case([](SelectOp) -> ScalarFunction {
        return [](const double *x) { return x[0] != 0 ? x[1] : x[2]; };
      })
      .Case([](AddOp) -> ScalarFunction {
        return [](const double *x) { return x[0] + x[1]; };
      })
      .Case([](SubOp) -> ScalarFunction {
        return [](const double *x) { return x[0] - x[1]; };
      })
      .Case([](MulOp) -> ScalarFunction {
        return [](const double *x) { return x[0] * x[1]; };
      })
      .Case([](DivOp div) -> ScalarFunction {
        if (!isa<FloatType>(div.getType().getElementType()))
          return nullptr;
        return [](const double *x) { return x[0] / x[1]; };
      })
      .Case([](MaximumOp) -> ScalarFunction {
        return [](const double *x) {
          return std::isnan(x[0]) || x[0] > x[1] ? x[0] : x[1];
        };
      })
      .Case([](MinimumOp) -> ScalarFunction {
        return [](const double *x) {
          return std::isnan(x[0]) || x[0] < x[1] ? x[0] : x[1];
        };
      })
      .Case([](NegOp) -> ScalarFunction {
        return [](const double *x) { return -x[0]; };
      })
      .Case([](AbsOp) -> ScalarFunction {
        return [](const double *x) { return std::abs(x[0]); };
      })
      .Case(
          [](CastOp cast) { return roundTo(cast.getType().getElementType()); })
      .Default([](Operation *) { return nullptr; });
}

FailureOr<KnownTensor> fact::evaluateConstant(Value value, int64_t limit) {
  auto type = cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type.hasStaticShape() || type.getNumElements() > limit)
    return failure();
  auto fromAttribute = [&](ElementsAttr attr) -> FailureOr<KnownTensor> {
    FailureOr<std::vector<double>> elements = decode(attr);
    if (failed(elements))
      return failure();
    return KnownTensor{
        SmallVector<int64_t>(type.getShape()), std::move(*elements), {}};
  };
  if (auto constant = dyn_cast<ConstantOp>(op))
    return fromAttribute(constant.getValue());
  if (auto get = dyn_cast<GetWeightOp>(op)) {
    auto weight = SymbolTable::lookupNearestSymbolFrom<WeightOp>(
        get, get.getWeightAttr());
    if (!weight || !weight.getValue())
      return failure();
    FailureOr<KnownTensor> known = fromAttribute(*weight.getValue());
    if (succeeded(known))
      known->weights.insert(weight);
    return known;
  }
  if (auto viewOp = dyn_cast<ViewOpInterface>(op)) {
    FailureOr<KnownTensor> operand = evaluateConstant(op->getOperand(0), limit);
    if (failed(operand))
      return failure();
    FailureOr<StridedView> view = viewOp.applyView(
        {{}, 0, operand->shape, rowMajorStrides(operand->shape)});
    if (failed(view))
      return failure();
    if (isa<ReshapeOp>(op))
      return KnownTensor{view->shape, std::move(operand->elements),
                         operand->weights};
    return gather(*operand, *view);
  }
  ScalarFunction function = getScalarFunction(op);
  if (!function)
    return failure();
  SmallVector<KnownTensor> operands;
  KnownTensor result{SmallVector<int64_t>(type.getShape()), {}, {}};
  for (Value operand : op->getOperands()) {
    FailureOr<KnownTensor> known = evaluateConstant(operand, limit);
    if (failed(known))
      return failure();
    result.weights.insert_range(known->weights);
    // A single number is read at every index and need not be expanded.
    operands.push_back(known->shape == result.shape ||
                               known->elements.size() == 1
                           ? std::move(*known)
                           : expandTo(*known, type.getShape()));
  }
  int64_t size = type.getNumElements();
  // Sums of booleans are booleans: any nonzero value is true.
  bool isBoolean = type.getElementType().isInteger(1);
  result.elements.reserve(size);
  SmallVector<double> arguments(operands.size());
  for (int64_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      const std::vector<double> &elements = operands[k].elements;
      arguments[k] = elements[elements.size() == 1 ? 0 : i];
    }
    double value = function(arguments.data());
    result.elements.push_back(isBoolean ? value != 0 : value);
  }
  return result;
}

std::optional<double> fact::getSplatConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<ViewOpInterface>(op)) {
      value = op->getOperand(0);
      continue;
    }
    auto constant = dyn_cast<ConstantOp>(op);
    if (!constant)
      return std::nullopt;
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return std::nullopt;
    if (isa<FloatType>(dense.getElementType()))
      return toDouble(dense.getSplatValue<APFloat>());
    APInt number = dense.getSplatValue<APInt>();
    bool isBoolean = dense.getElementType().isInteger(1);
    return double(isBoolean ? int64_t(number.getZExtValue())
                            : number.getSExtValue());
  }
  return std::nullopt;
}
