//===- ElementBuilder.cpp - linalg.generic the way it reads ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementBuilder.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fact;

using utils::IteratorType;

static void yield(OpBuilder &nested, Location loc, ValueRange args,
                  ElementBuilder::Body body) {
  ImplicitLocOpBuilder b(loc, nested);
  linalg::YieldOp::create(b, body(b, args));
}

Value ElementBuilder::map(RankedTensorType result, ValueRange inputs,
                          ArrayRef<AffineMap> maps, Body body) {
  Value empty = tensor::EmptyOp::create(*this, result.getShape(),
                                        result.getElementType());
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(getMultiDimIdentityMap(result.getRank()));
  SmallVector<IteratorType> iterators(result.getRank(), IteratorType::parallel);
  return linalg::GenericOp::create(
             *this, result, inputs, empty, allMaps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               yield(nested, loc, args.drop_back(), body);
             })
      .getResult(0);
}

AffineMap ElementBuilder::broadcastMap(ArrayRef<int64_t> from,
                                       ArrayRef<int64_t> to) {
  size_t leading = to.size() - from.size();
  SmallVector<AffineExpr> results;
  for (size_t i = 0; i < from.size(); ++i)
    results.push_back(from[i] == to[leading + i] ? getAffineDimExpr(leading + i)
                                                 : getAffineConstantExpr(0));
  return AffineMap::get(to.size(), 0, results, getContext());
}

Value ElementBuilder::mapBroadcast(RankedTensorType result, ValueRange inputs,
                                   Body body) {
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(
        broadcastMap(tensorType(input).getShape(), result.getShape()));
  return map(result, inputs, maps, body);
}

Value ElementBuilder::reduce(Value input, ArrayRef<int64_t> dims, Value initial,
                             Body body) {
  RankedTensorType type = tensorType(input);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> kept;
  SmallVector<IteratorType> iterators(type.getRank(), IteratorType::parallel);
  for (int64_t dim : dims)
    iterators[dim] = IteratorType::reduction;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (iterators[i] == IteratorType::reduction)
      continue;
    shape.push_back(type.getDimSize(i));
    kept.push_back(getAffineDimExpr(i));
  }
  auto result = RankedTensorType::get(shape, initial.getType());
  Value empty = tensor::EmptyOp::create(*this, shape, initial.getType());
  Value filled = linalg::FillOp::create(*this, initial, empty).getResult(0);
  SmallVector<AffineMap> maps{
      getMultiDimIdentityMap(type.getRank()),
      AffineMap::get(type.getRank(), 0, kept, getContext())};
  return linalg::GenericOp::create(
             *this, result, input, filled, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               yield(nested, loc, args, body);
             })
      .getResult(0);
}

Value ElementBuilder::contract(RankedTensorType result, Value lhs, Value rhs,
                               ArrayRef<AffineMap> maps,
                               ArrayRef<IteratorType> iterators) {
  Type element = result.getElementType();
  Value empty = tensor::EmptyOp::create(*this, result.getShape(), element);
  Value zeros =
      linalg::FillOp::create(*this, constant(0, element), empty).getResult(0);
  return linalg::GenericOp::create(
             *this, result, ValueRange{lhs, rhs}, zeros, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               yield(nested, loc, args, [](auto &b, ValueRange x) -> Value {
                 Value product = arith::MulFOp::create(b, x[0], x[1]);
                 return arith::AddFOp::create(b, x[2], product);
               });
             })
      .getResult(0);
}

Value ElementBuilder::convertScalar(Value value, Type to) {
  Type from = value.getType();
  if (from == to || !isa<FloatType>(from) || !isa<FloatType>(to))
    return value;
  unsigned fromBits = from.getIntOrFloatBitWidth();
  unsigned toBits = to.getIntOrFloatBitWidth();
  bool far =
      (fromBits == 16 && toBits != 32) || (toBits == 16 && fromBits != 32);
  if (far)
    return convertScalar(convertScalar(value, getF32Type()), to);
  if (toBits > fromBits)
    return arith::ExtFOp::create(*this, to, value);
  return arith::TruncFOp::create(*this, to, value);
}

Value ElementBuilder::convertElements(Value tensor, Type to) {
  RankedTensorType type = tensorType(tensor);
  if (type.getElementType() == to)
    return tensor;
  return mapBroadcast(type.clone(to), tensor, [&](auto &b, ValueRange x) {
    return ElementBuilder(b, getLoc()).convertScalar(x[0], to);
  });
}

Value ElementBuilder::round(Value tensor, Type storage) {
  Type type = tensorType(tensor).getElementType();
  if (type == storage)
    return tensor;
  return mapBroadcast(tensorType(tensor), tensor, [&](auto &b, ValueRange x) {
    ElementBuilder nested(b, getLoc());
    return nested.convertScalar(nested.convertScalar(x[0], storage), type);
  });
}

Value ElementBuilder::constant(double value, Type type) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(*this, getFloatAttr(type, value));
  return arith::ConstantOp::create(*this, getIntegerAttr(type, value));
}

Value ElementBuilder::reshape(Value tensor, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(tensor);
  if (type.getShape() == shape)
    return tensor;
  auto allDims = [](size_t rank) {
    SmallVector<ReassociationIndices> groups;
    if (rank)
      groups.push_back(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
    return groups;
  };
  int64_t count = type.getNumElements();
  auto flat = RankedTensorType::get({count}, type.getElementType());
  // Reshape through one dimension; a rank-0 tensor has none to collapse.
  if (type.getRank() == 0)
    tensor = tensor::ExpandShapeOp::create(*this, flat, tensor,
                                           SmallVector<ReassociationIndices>{});
  else if (type.getRank() > 1)
    tensor = tensor::CollapseShapeOp::create(*this, flat, tensor,
                                             allDims(type.getRank()));
  if (shape.size() == 1)
    return tensor;
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (shape.empty())
    return tensor::CollapseShapeOp::create(*this, result, tensor,
                                           SmallVector<ReassociationIndices>{});
  return tensor::ExpandShapeOp::create(*this, result, tensor,
                                       allDims(shape.size()));
}

Value ElementBuilder::reshapeAround(Value tensor, int64_t dim) {
  ArrayRef<int64_t> shape = tensorType(tensor).getShape();
  return reshape(tensor, {llvm::product_of(shape.take_front(dim)), shape[dim],
                          llvm::product_of(shape.drop_front(dim + 1))});
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value fact::addScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::AddFOp::create(b, x[0], x[1]);
  // A boolean is 0 or 1, and a sum of both is 1.
  if (x[0].getType().isInteger(1))
    return arith::OrIOp::create(b, x[0], x[1]);
  return arith::AddIOp::create(b, x[0], x[1]);
}

Value fact::maximumScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Type type = x[0].getType();
  if (isa<FloatType>(type))
    return arith::MaximumFOp::create(b, x[0], x[1]);
  // And not 0 or -1.
  if (type.isInteger(1))
    return arith::MaxUIOp::create(b, x[0], x[1]);
  return arith::MaxSIOp::create(b, x[0], x[1]);
}

Value fact::minimumScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  Type type = x[0].getType();
  if (isa<FloatType>(type))
    return arith::MinimumFOp::create(b, x[0], x[1]);
  if (type.isInteger(1))
    return arith::MinUIOp::create(b, x[0], x[1]);
  return arith::MinSIOp::create(b, x[0], x[1]);
}

Value fact::multiplyScalars(ImplicitLocOpBuilder &b, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::MulFOp::create(b, x[0], x[1]);
  return arith::MulIOp::create(b, x[0], x[1]);
}
