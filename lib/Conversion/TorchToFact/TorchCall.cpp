//===- TorchCall.cpp - One torch op on its way into FACT ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TorchCall.h"

using namespace mlir;
using namespace fact;
using namespace fact::torchtofact;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// FACT's integers are signless; only PyTorch's signed ones are converted.
static Type convertElementType(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return type;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isUnsigned())
    return {};
  if (!llvm::is_contained({1, 8, 32, 64}, integer.getWidth()))
    return {};
  return IntegerType::get(type.getContext(), integer.getWidth());
}

RankedTensorType torchtofact::convertTensorType(Type type,
                                                std::string &reason) {
  auto tensor = dyn_cast<torch::VTensorType>(type);
  llvm::raw_string_ostream os(reason);
  if (!tensor) {
    os << "has type '" << type << "'; only tensors are supported";
    return {};
  }
  if (!tensor.getRanked() || !tensor.getElementType() ||
      llvm::any_of(tensor.getSizes(), ShapedType::isDynamic)) {
    os << "has type '" << type
       << "', but sizes must be static; export without dynamic shapes";
    return {};
  }
  // The dialect's limit, so that products of sizes fit in 64 bits.
  int64_t room = int64_t(1) << 48;
  for (int64_t size : tensor.getSizes())
    room = size < 0 ? -1 : size > 1 ? room / size : room;
  if (room < 1) {
    os << "has type '" << type
       << "', but sizes must be 0 or more, and elements at most 2^48";
    return {};
  }
  Type element = convertElementType(tensor.getElementType());
  if (!element) {
    os << "has element type '" << tensor.getElementType()
       << "'; supported are f16, bf16, f32, f64, i1, si8, si32 and si64";
    return {};
  }
  return RankedTensorType::get(tensor.getSizes(), element);
}

RankedTensorType torchtofact::typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
Type torchtofact::elementOf(Value tensor) {
  return typeOf(tensor).getElementType();
}
int64_t torchtofact::rankOf(Value tensor) { return typeOf(tensor).getRank(); }

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

StringRef TorchCall::getName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (auto called = op->getAttrOfType<StringAttr>("name");
      called && name == "torch.operator")
    return called;
  return name;
}

InFlightDiagnostic TorchCall::emitError() {
  return mlir::emitError(getLoc()) << "'" << getName() << "' ";
}

InFlightDiagnostic TorchCall::emitArgumentError(StringRef name) {
  return mlir::emitError(getLoc())
         << "argument '" << name << "' of '" << getName() << "' ";
}

static bool isOp(Operation *op, StringRef name) {
  return op && op->getName().getStringRef() == name;
}

static Attribute constantValue(Value value) {
  Operation *producer = value.getDefiningOp();
  // Importers write a boolean as a number, but its type is that of a boolean.
  if (isOp(producer, "torch.aten.Int.bool") ||
      isOp(producer, "torch.aten.Float.bool"))
    producer = producer->getOperand(0).getDefiningOp();
  if (!producer ||
      !producer->getName().getStringRef().starts_with("torch.constant."))
    return {};
  return producer->getAttr("value");
}

Attribute TorchCall::constantOf(unsigned index) {
  return index < op->getNumOperands() ? constantValue(op->getOperand(index))
                                      : Attribute();
}

bool TorchCall::isNone(unsigned index) {
  return index >= op->getNumOperands() ||
         isOp(op->getOperand(index).getDefiningOp(), "torch.constant.none");
}

LogicalResult TorchCall::tensor(unsigned index, StringRef name, Value &result) {
  if (index < op->getNumOperands()) {
    auto found = values.tensors.find(op->getOperand(index));
    if (found != values.tensors.end()) {
      result = found->second;
      return success(result != nullptr);
    }
  }
  return emitArgumentError(name) << "must be a tensor";
}

LogicalResult TorchCall::optionalTensor(unsigned index, StringRef name,
                                        Value &result) {
  result = {};
  return isNone(index) ? success() : tensor(index, name, result);
}

LogicalResult TorchCall::tensors(unsigned index, StringRef name,
                                 SmallVectorImpl<Value> &result) {
  if (failed(optionalTensors(index, name, result)))
    return failure();
  if (llvm::is_contained(result, Value()))
    return emitArgumentError(name) << "must be a list of tensors";
  return success();
}

LogicalResult TorchCall::optionalTensors(unsigned index, StringRef name,
                                         SmallVectorImpl<Value> &result) {
  if (index >= op->getNumOperands())
    return emitArgumentError(name) << "must be a list of tensors";
  Value list = op->getOperand(index);
  if (auto found = values.lists.find(list); found != values.lists.end()) {
    llvm::append_range(result, found->second);
    return success(!llvm::is_contained(found->second, Value()));
  }
  if (!isOp(list.getDefiningOp(), "torch.prim.ListConstruct"))
    return emitArgumentError(name) << "must be a list of tensors";
  for (Value element : list.getDefiningOp()->getOperands()) {
    if (isOp(element.getDefiningOp(), "torch.constant.none")) {
      result.push_back({});
      continue;
    }
    auto found = values.tensors.find(element);
    if (found == values.tensors.end())
      return emitArgumentError(name) << "must be a list of tensors";
    if (!found->second)
      return failure();
    result.push_back(found->second);
  }
  return success();
}

LogicalResult TorchCall::integer(unsigned index, StringRef name,
                                 int64_t &result) {
  if (auto value = dyn_cast_or_null<IntegerAttr>(constantOf(index))) {
    result = value.getInt();
    return success();
  }
  return emitArgumentError(name) << "must be an integer known at compile time";
}

LogicalResult TorchCall::integers(unsigned index, StringRef name,
                                  SmallVectorImpl<int64_t> &result) {
  Operation *list = index < op->getNumOperands()
                        ? op->getOperand(index).getDefiningOp()
                        : nullptr;
  auto read = [&](Value element) {
    auto value = dyn_cast_or_null<IntegerAttr>(constantValue(element));
    if (value)
      result.push_back(value.getInt());
    return value != nullptr;
  };
  if (isOp(list, "torch.prim.ListConstruct") &&
      llvm::all_of(list->getOperands(), read))
    return success();
  return emitArgumentError(name)
         << "must be a list of integers known at compile time";
}

LogicalResult TorchCall::number(unsigned index, StringRef name,
                                double &result) {
  Attribute value = constantOf(index);
  if (auto real = dyn_cast_or_null<FloatAttr>(value))
    result = real.getValueAsDouble();
  else if (auto boolean = dyn_cast_or_null<BoolAttr>(value))
    result = boolean.getValue();
  else if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    result = static_cast<double>(integer.getInt());
  else
    return emitArgumentError(name) << "must be a number known at compile time";
  return success();
}

LogicalResult TorchCall::boolean(unsigned index, StringRef name, bool &result) {
  if (auto value = dyn_cast_or_null<BoolAttr>(constantOf(index))) {
    result = value.getValue();
    return success();
  }
  return emitArgumentError(name) << "must be a boolean known at compile time";
}

LogicalResult TorchCall::string(unsigned index, StringRef name,
                                StringRef &result) {
  if (auto value = dyn_cast_or_null<StringAttr>(constantOf(index))) {
    result = value.getValue();
    return success();
  }
  return emitArgumentError(name) << "must be a string known at compile time";
}

LogicalResult TorchCall::scalar(unsigned index, StringRef name, Type element,
                                Value &result) {
  // Integer constants keep all their bits.
  auto integer = dyn_cast_or_null<IntegerAttr>(constantOf(index));
  if (integer && !isa<BoolAttr>(integer) && element.isInteger() &&
      !element.isInteger(1)) {
    auto type = RankedTensorType::get({}, element);
    Attribute value = builder.getIntegerAttr(element, integer.getInt());
    result = create<ConstantOp>(DenseElementsAttr::get(type, value));
    return success();
  }
  double value;
  if (failed(number(index, name, value)))
    return failure();
  result = scalarConstant(value, element);
  return success();
}

LogicalResult TorchCall::operand(unsigned index, StringRef name, Type element,
                                 Value &result) {
  if (isNumber(index))
    return scalar(index, name, element, result);
  if (failed(tensor(index, name, result)))
    return failure();
  result = cast(result, element);
  return success();
}

LogicalResult TorchCall::dimension(unsigned index, StringRef name, int64_t rank,
                                   int64_t &result) {
  if (failed(integer(index, name, result)))
    return failure();
  // PyTorch indexes a 0-d tensor like a 1-d tensor of one element.
  int64_t extent = std::max<int64_t>(rank, 1);
  if (result < -extent || result >= extent)
    return emitArgumentError(name) << "is " << result << ", but must be in ["
                                   << -extent << ", " << extent << ")";
  if (result < 0)
    result += extent;
  return success();
}

LogicalResult TorchCall::dimensionOf(Value tensor, unsigned index,
                                     StringRef name, int64_t &result) {
  if (!rankOf(tensor))
    return emitError() << "selects along a dimension, but " << tensor.getType()
                       << " has none";
  return dimension(index, name, rankOf(tensor), result);
}

LogicalResult TorchCall::optionalDimensionOf(Value tensor, unsigned index,
                                             StringRef name, int64_t &result) {
  if (isNone(index))
    return success(hasDimension(tensor, result));
  return dimensionOf(tensor, index, name, result);
}

LogicalResult TorchCall::dimensions(unsigned index, StringRef name,
                                    int64_t rank,
                                    SmallVectorImpl<int64_t> &result) {
  if (auto single = dyn_cast_or_null<IntegerAttr>(constantOf(index)))
    result.push_back(single.getInt());
  else if (!isNone(index) && failed(integers(index, name, result)))
    return failure();
  if (!rank)
    result.clear();
  else if (result.empty())
    llvm::append_range(result, llvm::seq<int64_t>(0, rank));
  for (int64_t &dim : result) {
    if (dim < -rank || dim >= rank)
      return emitArgumentError(name) << "has " << dim << ", which is not in ["
                                     << -rank << ", " << rank << ")";
    if (dim < 0)
      dim += rank;
  }
  llvm::sort(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

RankedTensorType TorchCall::getResultType(unsigned index) {
  std::string reason;
  RankedTensorType type;
  if (index < op->getNumResults())
    type = convertTensorType(op->getResult(index).getType(), reason);
  // `replace` reports unsupported types; until then, use a placeholder type.
  return type ? type : RankedTensorType::get({1}, builder.getF32Type());
}

LogicalResult TorchCall::replace(ValueRange results) {
  if (isMalformed)
    return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    Value value = index < results.size() ? results[index] : Value();
    if (!value) {
      if (!result.use_empty())
        return emitError() << "has a used result " << index
                           << "; only result 0 is supported";
      continue;
    }
    std::string reason;
    RankedTensorType type = convertTensorType(result.getType(), reason);
    if (!type)
      return mlir::emitError(op->getLoc())
             << "result " << index << " of '" << getName(op) << "' " << reason;
    if (value.getType() != type)
      return emitError() << "returns " << value.getType() << ", but its result "
                         << index << " is declared " << result.getType();
    values.tensors[result] = value;
  }
  return success();
}

LogicalResult TorchCall::replaceReshaped(ArrayRef<Value> results) {
  SmallVector<Value> shaped;
  for (auto [index, result] : llvm::enumerate(results)) {
    ArrayRef<int64_t> shape = getResultType(index).getShape();
    bool fits =
        result && typeOf(result).getNumElements() == llvm::product_of(shape);
    shaped.push_back(fits ? reshape(result, shape) : result);
  }
  return replace(shaped);
}

LogicalResult TorchCall::replaceWithList(ArrayRef<Value> list) {
  if (isMalformed)
    return failure();
  if (op->getNumResults() != 1)
    return emitError() << "has " << op->getNumResults()
                       << " results, but returns one list";
  llvm::append_range(values.lists[op->getResult(0)], list);
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

bool TorchCall::hasDimension(Value tensor, int64_t dim) {
  bool has = dim >= 0 && dim < rankOf(tensor);
  if (!has && !isMalformed)
    emitError() << "needs dimension " << dim << ", which " << tensor.getType()
                << " does not have";
  isMalformed |= !has;
  return has;
}

Value TorchCall::setInferredType(InferTypeOpInterface built) {
  // One error per call: the first may be the cause of others.
  std::optional<Location> loc;
  if (!isMalformed)
    loc = getLoc();
  SmallVector<Type> types;
  if (failed(built.inferReturnTypes(
          built.getContext(), loc, built->getOperands(),
          built->getDiscardableAttrDictionary(), built->getPropertiesStorage(),
          built->getRegions(), types))) {
    isMalformed = true;
    types.assign({built->getOperand(0).getType()});
  }
  built->getResult(0).setType(types.front());
  return built->getResult(0);
}

Value TorchCall::select(Value condition, Value x, Value y) {
  return infer<SelectOp>(condition, x, y);
}

Value TorchCall::compare(Predicate predicate, Value x, Value y) {
  return infer<CompareOp>(predicate, x, y);
}

Value TorchCall::scalarConstant(double value, Type element) {
  bool narrow =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16;
  return constant(value, narrow ? builder.getF32Type() : element);
}

Value TorchCall::constant(double value, Type element, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, element);
  Attribute attr;
  if (isa<FloatType>(element))
    attr = builder.getFloatAttr(element, value);
  else if (element.isInteger(1))
    attr = builder.getBoolAttr(value != 0);
  else
    attr = builder.getIntegerAttr(element, static_cast<int64_t>(value));
  return create<ConstantOp>(DenseElementsAttr::get(type, attr));
}

Value TorchCall::cast(Value tensor, Type element) {
  if (elementOf(tensor) == element)
    return tensor;
  return create<CastOp>(typeOf(tensor).clone(element), tensor);
}

Value TorchCall::reshape(Value tensor, ArrayRef<int64_t> shape) {
  if (typeOf(tensor).getShape() == shape)
    return tensor;
  return create<ReshapeOp>(typeOf(tensor).clone(shape), tensor);
}

Value TorchCall::expand(Value tensor, ArrayRef<int64_t> shape) {
  if (typeOf(tensor).getShape() == shape)
    return tensor;
  return create<ExpandOp>(typeOf(tensor).clone(shape), tensor);
}

Value TorchCall::permute(Value tensor, ArrayRef<int64_t> dims) {
  if (llvm::equal(dims, llvm::seq<int64_t>(0, rankOf(tensor))))
    return tensor;
  return infer<PermuteOp>(tensor, dims);
}

Value TorchCall::slice(Value tensor, int64_t dim, int64_t start, int64_t size,
                       int64_t step) {
  if (!hasDimension(tensor, dim))
    return tensor;
  SmallVector<int64_t> shape(typeOf(tensor).getShape());
  if (start == 0 && step == 1 && size == shape[dim])
    return tensor;
  shape[dim] = size;
  return create<SliceOp>(typeOf(tensor).clone(ArrayRef<int64_t>(shape)), tensor,
                         dim, start, step);
}

Value TorchCall::concat(ArrayRef<Value> tensors, int64_t dim) {
  if (tensors.size() == 1)
    return tensors.front();
  for (Value tensor : tensors)
    if (!hasDimension(tensor, dim))
      return tensor;
  return infer<ConcatOp>(tensors, dim);
}

Value TorchCall::gather(Value tensor, Value indices, int64_t dim) {
  if (!hasDimension(tensor, dim))
    return tensor;
  return infer<GatherOp>(tensor, indices, dim);
}

Value TorchCall::reduce(ReduceKind kind, Value tensor, ArrayRef<int64_t> dims,
                        bool keep) {
  if (!dims.empty())
    return infer<ReduceOp>(kind, tensor, dims, keep);
  // A 0-d tensor has no dimension to reduce; the index of its element is 0.
  bool isIndex = kind == ReduceKind::argmax || kind == ReduceKind::argmin;
  return isIndex ? constant(0, builder.getI64Type(), typeOf(tensor).getShape())
                 : tensor;
}
