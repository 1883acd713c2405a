//===- Elements.cpp - Code for a pointwise graph at one element -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

FailureOr<Elements>
Elements::plan(Value root,
               llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
               EmitError emitError, bool gathers) {
  auto isAnchorHere = [&](Value value, const StridedView *view) {
    return view && isAnchor(value, *view);
  };
  PointwiseGraph::Options options;
  options.isAnchor = isAnchorHere;
  options.readsConstants = true;
  if (gathers)
    options.gathers = PointwiseGraph::Gathers::Nodes;
  FailureOr<PointwiseGraph> graph = PointwiseGraph::read(
      root, cast<RankedTensorType>(root.getType()).getShape(), options,
      emitError);
  if (failed(graph))
    return failure();
  Elements elements;
  elements.graph = std::move(*graph);
  return elements;
}

/// A constant of equal elements, which needs no memory.
static Value buildSplat(KernelBuilder &b, fact::ConstantOp constant,
                        int64_t width) {
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  Type storage = elements.getElementType();
  Type type = b.withWidth(getComputeType(storage), width);
  if (isa<FloatType>(storage)) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool lossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return b.constant(number.convertToDouble(), type);
  }
  return b.constant(elements.getSplatValue<APInt>().getSExtValue(), type);
}

bool Elements::isUniform(const Node &node) const {
  if (!node.op)
    return getLeaves()[node.leaf].view.strides.back() == 0;
  return llvm::all_of(node.operands, [&](unsigned operand) {
    return isUniform(graph.getNodes()[operand]);
  });
}

/// Neighbors share one index, or each has its own. An index out of range reads
/// element 0, so that the load is safe, and gives NaN, or 0 for integers.
Value Elements::buildGather(KernelBuilder &b, const Node &node, Value index,
                            int64_t width, const Place &place) const {
  auto gather = cast<GatherOp>(node.op);
  int64_t size = gather.getSource().getType().getDimSize(gather.getDim());
  Type storage = gather.getType().getElementType();
  auto read = [&](Value at, Value offset, int64_t count) -> Value {
    if (!at.getType().isInteger(64))
      at = arith::ExtSIOp::create(b, b.getI64Type(), at);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                         b.integer(size));
    Value safe = arith::SelectOp::create(b, inside, at, b.integer(0));
    Value distance = b.mul(safe, getLeaves()[node.leaf].indexStride);
    Value found = b.load(place.pointer, storage, b.add(offset, distance), count,
                         place.stride);
    bool isFloat = isa<FloatType>(storage);
    Value nothing =
        b.constant(isFloat ? std::numeric_limits<double>::quiet_NaN() : 0,
                   found.getType());
    return arith::SelectOp::create(b, inside, found, nothing);
  };
  if (width == 0)
    return read(index, place.offset, 0);
  if (isUniform(graph.getNodes()[node.operands.front()]))
    return read(b.lane(index, 0), place.offset, width);
  SmallVector<Value> lanes;
  for (int64_t i = 0; i < width; ++i)
    lanes.push_back(
        read(b.lane(index, i), b.add(place.offset, i * place.stride), 0));
  return vector::FromElementsOp::create(
      b, VectorType::get({width}, lanes.front().getType()), lanes);
}

Value Elements::build(KernelBuilder &b, int64_t width,
                      llvm::function_ref<Value(const Leaf &)> read,
                      llvm::function_ref<Place(const Leaf &)> locate) const {
  SmallVector<Value> values;
  for (const Node &node : graph.getNodes()) {
    SmallVector<Value> operands;
    for (unsigned operand : node.operands)
      operands.push_back(values[operand]);
    if (!node.op)
      values.push_back(read(getLeaves()[node.leaf]));
    else if (auto constant = dyn_cast<fact::ConstantOp>(node.op))
      values.push_back(buildSplat(b, constant, width));
    else if (isa<GatherOp>(node.op))
      values.push_back(buildGather(b, node, operands.front(), width,
                                   locate(getLeaves()[node.leaf])));
    else
      values.push_back(cast<PointwiseOpInterface>(node.op).buildScalar(
          b, b.getLoc(), operands));
  }
  return values[graph.getResults().front()];
}

FailureOr<RowElements> RowElements::get(const Elements &elements, int64_t rows,
                                        int64_t columns, EmitError emitError) {
  RowElements result{elements, {}};
  for (const Elements::Leaf &leaf : elements.getLeaves()) {
    FailureOr<RowView> view = RowView::get(leaf.view, rows, columns);
    if (failed(view))
      return emitError() << "an operand of type " << leaf.value.getType()
                         << " must lie in rows of " << columns
                         << " elements at one stride";
    result.leaves.push_back(*view);
  }
  return result;
}

SmallVector<Value> RowElements::rowOffsets(KernelBuilder &b, Value row) const {
  SmallVector<Value> offsets;
  for (const RowView &view : leaves)
    offsets.push_back(b.rowOffset(view, row));
  return offsets;
}

Value RowElements::build(KernelBuilder &b, ArrayRef<Value> rowOffsets,
                         Value column, int64_t width,
                         llvm::function_ref<Value(Value)> anchor,
                         Neighbors neighbors) const {
  ArrayRef<Elements::Leaf> all = elements.getLeaves();
  return elements.build(b, width, [&](const Elements::Leaf &leaf) {
    if (leaf.isAnchor)
      return anchor(leaf.value);
    size_t at = &leaf - all.data();
    int64_t stride = leaves[at].columnStride;
    Type storage =
        cast<RankedTensorType>(leaf.value.getType()).getElementType();
    return b.load(b.getPointer(leaf.value), storage,
                  b.add(rowOffsets[at], b.mul(column, stride)), width,
                  neighbors == Neighbors::rows ? leaves[at].getRowStride()
                                               : stride);
  });
}
