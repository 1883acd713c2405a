//===- InferTypes.cpp - Result types from operands and attributes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `inferType` checks the constraints on an op's operands and attributes, and
// returns the type that its result must have. Builders use this type, and the
// verifier compares the declared one with it.
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"
#include "fact/Dialect/Fact/Types.h"

using namespace mlir;
using namespace fact;

LogicalResult fact::detail::verifyResultType(Operation *op,
                                             RankedTensorType expected,
                                             int constraint) {
  Type type = op->getResult(0).getType();
  if (type == expected)
    return success();
  InFlightDiagnostic diagnostic =
      constraint ? violates(op, constraint) : op->emitOpError();
  return diagnostic << "result is " << type << ", but should be " << expected;
}

InFlightDiagnostic fact::detail::emitInferenceError(
    MLIRContext *context, std::optional<Location> location, StringRef opName) {
  InFlightDiagnostic diagnostic =
      emitError(location.value_or(UnknownLoc::get(context)));
  diagnostic << "'" << opName << "' op ";
  if (!location)
    diagnostic.abandon();
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Pointwise ops
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>>
fact::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &size = result[rank - shape.size() + i];
      if (shape[i] == 1 || shape[i] == size)
        continue;
      if (size != 1)
        return std::nullopt;
      size = shape[i];
    }
  return result;
}

static FailureOr<RankedTensorType>
inferBroadcast(TypeRange operands, Type element, EmitError emitError) {
  SmallVector<ArrayRef<int64_t>> shapes;
  for (Type type : operands)
    shapes.push_back(cast<RankedTensorType>(type).getShape());
  auto shape = broadcastShapes(shapes);
  if (!shape)
    return emitError() << "operand shapes do not broadcast: " << operands;
  return RankedTensorType::get(*shape, element);
}

/// The element type that all operands have but for wider floats of rank 0. Null
/// if there is none.
static Type findCommonElement(TypeRange operands) {
  for (Type candidate : operands) {
    Type element = cast<RankedTensorType>(candidate).getElementType();
    auto matches = [element](Type type) {
      auto tensor = cast<RankedTensorType>(type);
      Type own = tensor.getElementType();
      return own == element ||
             (tensor.getRank() == 0 && isa<FloatType>(own) &&
              isa<FloatType>(element) &&
              own.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth());
    };
    if (llvm::all_of(operands, matches))
      return element;
  }
  return {};
}

FailureOr<RankedTensorType>
fact::detail::inferPointwiseType(TypeRange operands, EmitError emitError) {
  Type element = findCommonElement(operands);
  if (!element)
    return emitError() << "operands need one element type, not " << operands
                       << "; only a float of rank 0 may be wider";
  return inferBroadcast(operands, element, emitError);
}

FailureOr<RankedTensorType> CompareOp::inferType(Adaptor op,
                                                 EmitError emitError) {
  TypeRange operands = op.getOperands().getTypes();
  if (!findCommonElement(operands))
    return violates(emitError, 1)
           << "compares " << operands[0] << " with " << operands[1]
           << "; operands need one element type";
  Type boolean = IntegerType::get(operands[0].getContext(), 1);
  return inferBroadcast(operands, boolean, emitError);
}

FailureOr<RankedTensorType> SelectOp::inferType(Adaptor op,
                                                EmitError emitError) {
  TypeRange operands = op.getOperands().getTypes();
  Type element = findCommonElement(operands.drop_front());
  if (!element)
    return violates(emitError, 1)
           << "selects between " << operands[1] << " and " << operands[2]
           << "; both need one element type";
  return inferBroadcast(operands, element, emitError);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

FailureOr<RankedTensorType> MatmulOp::inferType(Adaptor op,
                                                EmitError emitError) {
  RankedTensorType lhs = typeOf(op.getLhs()), rhs = typeOf(op.getRhs());
  if (lhs.getRank() < 2 || rhs.getRank() < 2)
    return violates(emitError, 1)
           << "operands need rank 2 or more, not " << lhs << " and " << rhs;
  if (lhs.getElementType() != rhs.getElementType())
    return violates(emitError, 1)
           << "operands need one element type, not " << lhs << " and " << rhs;
  auto matrix = [](RankedTensorType type, bool transpose) {
    int64_t rows = type.getDimSize(type.getRank() - 2);
    int64_t columns = type.getDimSize(type.getRank() - 1);
    return transpose ? std::pair(columns, rows) : std::pair(rows, columns);
  };
  auto [m, k] = matrix(lhs, op.getTransposeA());
  auto [k2, n] = matrix(rhs, op.getTransposeB());
  if (k != k2)
    return violates(emitError, 2)
           << "contracted sizes differ: " << k << " and " << k2;
  auto shape = broadcastShapes(
      {lhs.getShape().drop_back(2), rhs.getShape().drop_back(2)});
  if (!shape)
    return violates(emitError, 3) << "batch dimensions of " << lhs << " and "
                                  << rhs << " do not broadcast";
  if (op.getTf32() && !lhs.getElementType().isF32())
    return violates(emitError, 5) << "tf32 needs f32 operands, not " << lhs;
  shape->append({m, n});
  return lhs.clone(*shape);
}

FailureOr<RankedTensorType> AttentionOp::inferType(Adaptor op,
                                                   EmitError emitError) {
  RankedTensorType q = typeOf(op.getQuery()), k = typeOf(op.getKey()),
                   v = typeOf(op.getValue());
  for (RankedTensorType type : {q, k, v})
    if (type.getRank() != 4 || type.getElementType() != q.getElementType())
      return violates(emitError, 1)
             << "query, key and value need rank 4 and one element type, not "
             << q << ", " << k << " and " << v;
  if (k.getDimSize(0) != q.getDimSize(0) ||
      v.getDimSize(0) != q.getDimSize(0) ||
      k.getDimSize(3) != q.getDimSize(3) ||
      v.getDimSize(1) != k.getDimSize(1) || v.getDimSize(2) != k.getDimSize(2))
    return violates(emitError, 2) << "sizes of query, key and value do not "
                                     "match: "
                                  << q << ", " << k << " and " << v;
  if (!k.getDimSize(1) || q.getDimSize(1) % k.getDimSize(1))
    return violates(emitError, 3)
           << q.getDimSize(1) << " query heads are not a multiple of "
           << k.getDimSize(1) << " key heads";
  SmallVector<int64_t> shape(q.getShape());
  shape.back() = k.getDimSize(2);
  if (op.getMask() && !broadcastsTo(typeOf(op.getMask()).getShape(), shape))
    return violates(emitError, 4)
           << "mask " << op.getMask().getType()
           << " does not broadcast to the scores, [" << shape << "]";
  if (op.getTf32() && !q.getElementType().isF32())
    return violates(emitError, 6) << "tf32 needs f32 operands, not " << q;
  shape.back() = v.getDimSize(3);
  return q.clone(shape);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

FailureOr<RankedTensorType> NormOp::inferType(Adaptor op, EmitError emitError) {
  RankedTensorType type = typeOf(op.getOperand());
  int64_t dims = op.getDims(), rank = type.getRank();
  if (dims < 1 || dims > rank)
    return violates(emitError, 1)
           << "dims " << dims << " is not in [1, " << rank << "]";
  ArrayRef<int64_t> normalized = type.getShape().take_back(dims);
  for (Value parameter : {op.getWeight(), op.getBias()})
    if (parameter && typeOf(parameter).getShape() != normalized)
      return violates(emitError, 2)
             << "weight and bias need shape [" << normalized << "], not "
             << parameter.getType();
  return type;
}

FailureOr<RankedTensorType> ReduceOp::inferType(Adaptor op,
                                                EmitError emitError) {
  RankedTensorType operand = typeOf(op.getOperand());
  ReduceKind kind = op.getKind();
  int64_t previous = -1;
  for (int64_t dim : op.getDims()) {
    if (dim <= previous || dim >= operand.getRank())
      return violates(emitError, 1)
             << "dims [" << op.getDims() << "] are not ascending in [0, "
             << operand.getRank() << ")";
    previous = dim;
  }
  Type element = operand.getElementType();
  if (kind == ReduceKind::mean && !isa<FloatType>(element))
    return violates(emitError, 2) << "mean needs floats, not " << element;
  bool hasIdentity = kind == ReduceKind::sum || kind == ReduceKind::mean ||
                     kind == ReduceKind::prod;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(operand.getShape())) {
    if (!llvm::is_contained(op.getDims(), int64_t(dim))) {
      shape.push_back(size);
      continue;
    }
    if (!hasIdentity && size == 0)
      return violates(emitError, 2)
             << stringifyReduceKind(kind) << " has no value over dimension "
             << dim << ", whose size is 0";
    if (op.getKeep())
      shape.push_back(1);
  }
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin)
    element = IntegerType::get(operand.getContext(), 64);
  return RankedTensorType::get(shape, element);
}

FailureOr<RankedTensorType> ArgsortOp::inferType(Adaptor op,
                                                 EmitError emitError) {
  RankedTensorType operand = typeOf(op.getOperand());
  int64_t dim = op.getDim();
  if (dim < 0 || dim >= operand.getRank())
    return violates(emitError, 1)
           << "dim " << dim << " is not in [0, " << operand.getRank() << ")";
  SmallVector<int64_t> shape(operand.getShape());
  int64_t count = op.getCount().value_or(shape[dim]);
  if (count < 0 || count > shape[dim])
    return violates(emitError, 2)
           << "count " << count << " is not in [0, " << shape[dim] << "]";
  shape[dim] = count;
  return RankedTensorType::get(shape,
                               IntegerType::get(operand.getContext(), 64));
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

/// The type of slices of `source` along `dim`, in place of which are the
/// dimensions of `indices`.
static FailureOr<RankedTensorType> inferSlices(RankedTensorType source,
                                               RankedTensorType indices,
                                               int64_t dim,
                                               EmitError emitError) {
  if (dim < 0 || dim >= source.getRank())
    return violates(emitError, 1)
           << "dim " << dim << " is not in [0, " << source.getRank() << ")";
  Type index = indices.getElementType();
  if (!index.isInteger(32) && !index.isInteger(64))
    return violates(emitError, 2)
           << "indices need elements of i32 or i64, not " << index;
  SmallVector<int64_t> shape(source.getShape().take_front(dim));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, source.getShape().drop_front(dim + 1));
  return source.clone(shape);
}

FailureOr<RankedTensorType> GatherOp::inferType(Adaptor op,
                                                EmitError emitError) {
  return inferSlices(typeOf(op.getSource()), typeOf(op.getIndices()),
                     op.getDim(), emitError);
}

FailureOr<RankedTensorType> ScatterOp::inferType(Adaptor op,
                                                 EmitError emitError) {
  RankedTensorType source = typeOf(op.getSource());
  FailureOr<RankedTensorType> updates =
      inferSlices(source, typeOf(op.getIndices()), op.getDim(), emitError);
  if (failed(updates))
    return failure();
  if (typeOf(op.getUpdates()) != *updates)
    return violates(emitError, 3) << "updates are " << op.getUpdates().getType()
                                  << ", but should be " << *updates;
  return source;
}

FailureOr<RankedTensorType> RotaryOp::inferType(Adaptor op,
                                                EmitError emitError) {
  RankedTensorType type = typeOf(op.getOperand());
  if (type.getRank() < 1 || type.getShape().back() % 2)
    return violates(emitError, 1)
           << "operand needs rank 1 or more and an even last size, not "
           << type;
  for (Value angles : {op.getCos(), op.getSin()}) {
    RankedTensorType given = typeOf(angles);
    if (given.getElementType() != type.getElementType() ||
        !broadcastsTo(given.getShape(), type.getShape()))
      return violates(emitError, 2)
             << "cos and sin need the operand's element type and a shape that "
                "broadcasts: "
             << given << " does not broadcast to " << type;
  }
  return type;
}

FailureOr<RankedTensorType> PermuteOp::inferType(Adaptor op,
                                                 EmitError emitError) {
  RankedTensorType operand = typeOf(op.getOperand());
  SmallVector<int64_t> sorted(op.getDims());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, operand.getRank())))
    return violates(emitError, 1)
           << "[" << op.getDims() << "] is not a permutation of "
           << operand.getRank() << " dimensions";
  SmallVector<int64_t> shape;
  for (int64_t dim : op.getDims())
    shape.push_back(operand.getDimSize(dim));
  return operand.clone(shape);
}

FailureOr<RankedTensorType> WindowsOp::inferType(Adaptor op,
                                                 EmitError emitError) {
  RankedTensorType operand = typeOf(op.getOperand());
  ArrayRef<int64_t> kernel = op.getKernel(), strides = op.getStrides(),
                    dilations = op.getDilations();
  auto isPositive = [](int64_t number) { return number >= 1; };
  if (kernel.empty() || kernel.size() != strides.size() ||
      kernel.size() != dilations.size() || !llvm::all_of(kernel, isPositive) ||
      !llvm::all_of(strides, isPositive) ||
      !llvm::all_of(dilations, isPositive))
    return violates(emitError, 1)
           << "kernel, strides and dilations need a positive number for each "
              "dimension of a window";
  int64_t dim = op.getDim(), count = kernel.size();
  if (dim < 0 || dim + count > operand.getRank())
    return violates(emitError, 1)
           << operand << " has no " << count << " dimensions from dim " << dim;
  ArrayRef<int64_t> from = operand.getShape();
  SmallVector<int64_t> shape(from.take_front(dim));
  for (int64_t i = 0; i < count; ++i) {
    int64_t reach = (kernel[i] - 1) * dilations[i] + 1, size = from[dim + i];
    if (reach > size)
      return violates(emitError, 2)
             << "a window reaches over " << reach << " elements of dim "
             << dim + i << ", which has " << size;
    shape.push_back((size - reach) / strides[i] + 1);
  }
  llvm::append_range(shape, kernel);
  llvm::append_range(shape, from.drop_front(dim + count));
  return operand.clone(shape);
}

FailureOr<RankedTensorType> ConcatOp::inferType(Adaptor op,
                                                EmitError emitError) {
  if (op.getInputs().empty())
    return violates(emitError, 1) << "needs an operand";
  RankedTensorType first = typeOf(op.getInputs().front());
  int64_t dim = op.getDim(), rank = first.getRank();
  if (dim < 0 || dim >= rank)
    return violates(emitError, 1)
           << "dim " << dim << " is not in [0, " << rank << ")";
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  for (Value value : op.getInputs()) {
    RankedTensorType input = typeOf(value);
    bool fits = input.getRank() == rank &&
                input.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < rank; ++i)
      fits = i == dim || input.getDimSize(i) == shape[i];
    if (!fits)
      return violates(emitError, 2)
             << "cannot concatenate " << first << " and " << input
             << " along dim " << dim
             << "; all else but the size of this dim must be equal";
    shape[dim] += input.getDimSize(dim);
  }
  return first.clone(shape);
}
