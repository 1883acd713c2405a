//===- ConstantEvaluation.cpp - Values known at compile time --------------===//

#include "fact/Analysis/ConstantEvaluation.h"
#include "fact/Analysis/StridedView.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/TypeSwitch.h"

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
  unsigned bits = element.getIntOrFloatBitWidth();
  unsigned bytes = (bits + 7) / 8;
  if (static_cast<int64_t>(data.size()) != size * bytes)
    return failure();
  std::vector<double> elements(size);
  for (int64_t i = 0; i < size; ++i) {
    uint64_t word = 0;
    memcpy(&word, data.data() + i * bytes, bytes);
    APInt value(bytes * 8, word);
    if (auto type = dyn_cast<FloatType>(element))
      elements[i] = toDouble(APFloat(type.getFloatSemantics(), value));
    else
      elements[i] = bits == 1 ? (word & 1) : double(value.getSExtValue());
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
  if (isa<FloatType>(element))
    for (const APFloat &value : dense.getValues<APFloat>())
      elements.push_back(toDouble(value));
  else
    for (const APInt &value : dense.getValues<APInt>())
      elements.push_back(element.isInteger(1) ? value.getZExtValue()
                                              : double(value.getSExtValue()));
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

/// The scalar function of the few pointwise ops that masks are made of.
static std::optional<double> evaluateScalar(Operation *op, ArrayRef<double> x) {
  return TypeSwitch<Operation *, std::optional<double>>(op)
      .Case([&](CompareOp compare) -> std::optional<double> {
        switch (compare.getPredicate()) {
        case Predicate::eq:
          return x[0] == x[1];
        case Predicate::ne:
          return x[0] != x[1];
        case Predicate::lt:
          return x[0] < x[1];
        case Predicate::le:
          return x[0] <= x[1];
        case Predicate::gt:
          return x[0] > x[1];
        case Predicate::ge:
          return x[0] >= x[1];
        }
        return std::nullopt;
      })
      .Case([&](SelectOp) { return x[0] != 0 ? x[1] : x[2]; })
      .Case([&](AddOp) { return x[0] + x[1]; })
      .Case([&](SubOp) { return x[0] - x[1]; })
      .Case([&](MulOp) { return x[0] * x[1]; })
      .Case([&](NegOp) { return -x[0]; })
      .Case([&](CastOp cast) -> std::optional<double> {
        if (cast.getType().getElementType().isInteger(1))
          return x[0] != 0;
        // Masks hold 0, 1 and infinities, which every type represents; refuse
        // what a narrower type would round.
        float narrow = static_cast<float>(x[0]);
        return x[0] == 0 || x[0] == 1 || std::isinf(x[0]) || narrow == x[0]
                   ? std::optional<double>(x[0])
                   : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
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
  if (op->hasTrait<fact::ViewOp>()) {
    FailureOr<KnownTensor> operand = evaluateConstant(op->getOperand(0), limit);
    if (failed(operand))
      return failure();
    StridedView view{{}, 0, operand->shape, rowMajorStrides(operand->shape)};
    ArrayRef<int64_t> shape = type.getShape();
    if (isa<ReshapeOp>(op))
      return KnownTensor{SmallVector<int64_t>(shape),
                         std::move(operand->elements), operand->weights};
    if (auto permute = dyn_cast<PermuteOp>(op))
      return gather(*operand, view.permute(permute.getDims()));
    if (auto slice = dyn_cast<SliceOp>(op))
      return gather(*operand,
                    view.slice(slice.getDim(), slice.getStart(),
                               shape[slice.getDim()], slice.getStep()));
    return gather(*operand, view.expand(shape));
  }
  if (!isa<PointwiseOpInterface>(op))
    return failure();
  SmallVector<KnownTensor> operands;
  KnownTensor result{SmallVector<int64_t>(type.getShape()), {}, {}};
  for (Value operand : op->getOperands()) {
    FailureOr<KnownTensor> known = evaluateConstant(operand, limit);
    if (failed(known))
      return failure();
    result.weights.insert_range(known->weights);
    operands.push_back(expandTo(*known, type.getShape()));
  }
  int64_t size = type.getNumElements();
  result.elements.reserve(size);
  SmallVector<double> arguments(operands.size());
  for (int64_t i = 0; i < size; ++i) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      argument = operand.elements[i];
    std::optional<double> scalar = evaluateScalar(op, arguments);
    if (!scalar)
      return failure();
    result.elements.push_back(*scalar);
  }
  return result;
}

std::optional<double> fact::getSplatConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->hasTrait<fact::ViewOp>()) {
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
    return double(dense.getSplatValue<APInt>().getSExtValue());
  }
  return std::nullopt;
}
