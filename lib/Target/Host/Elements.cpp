//===- Elements.cpp - Code for a pointwise graph at one element -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

namespace {
/// Neighbors whose indices count up or down, as those of a reversed row do, lie
/// beside each other in memory and are read at once. Only the indices tell,
/// when the kernel runs.
struct GatheredRun {
  const Elements::Place &place;
  Type storage;
  /// A vector of `width` indices below `size`, each times `indexStride`.
  Value index;
  int64_t size, indexStride, width;

  /// Tries each of the steps between two indices, then `otherwise`.
  Value build(KernelBuilder &b, ArrayRef<int64_t> steps,
              llvm::function_ref<Value()> otherwise) const;

private:
  Value getIndex(KernelBuilder &b, int64_t lane) const {
    Value found = b.lane(index, lane);
    if (!found.getType().isInteger(64))
      found = arith::ExtSIOp::create(b, b.getI64Type(), found);
    return found;
  }
  /// Whether all indices are in range and `step` apart.
  Value isRun(KernelBuilder &b, int64_t step) const;
  Value read(KernelBuilder &b, int64_t distance) const;
};
} // namespace

Value GatheredRun::isRun(KernelBuilder &b, int64_t step) const {
  using Predicate = arith::CmpIPredicate;
  auto type = cast<VectorType>(index.getType());
  SmallVector<Attribute> steps;
  for (int64_t i = 0; i < width; ++i)
    steps.push_back(b.getIntegerAttr(type.getElementType(), i * step));
  Value expected = arith::AddIOp::create(
      b, b.splat(b.lane(index, 0), width),
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, steps)));
  Value all = vector::ReductionOp::create(
      b, vector::CombiningKind::AND,
      arith::CmpIOp::create(b, Predicate::eq, index, expected));
  // Compared as unsigned, so that a negative index fails the bound check.
  for (int64_t end : {int64_t(0), width - 1})
    all = arith::AndIOp::create(b, all,
                                arith::CmpIOp::create(b, Predicate::ult,
                                                      getIndex(b, end),
                                                      b.integer(size)));
  return all;
}

Value GatheredRun::read(KernelBuilder &b, int64_t distance) const {
  Value first = getIndex(b, distance > 0 ? 0 : width - 1);
  Value offset = b.add(place.offset, b.mul(first, indexStride));
  if (distance > 0)
    return b.load(place.pointer, storage, offset, width);
  offset = b.add(offset, (width - 1) * place.stride);
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, width)));
  Value found = b.load(place.pointer, storage, offset, width);
  return vector::ShuffleOp::create(b, found, found, order);
}

Value GatheredRun::build(KernelBuilder &b, ArrayRef<int64_t> steps,
                         llvm::function_ref<Value()> otherwise) const {
  if (steps.empty())
    return otherwise();
  int64_t distance = place.stride + steps.front() * indexStride;
  if (distance != 1 && distance != -1)
    return build(b, steps.drop_front(), otherwise);
  Type result = VectorType::get({width}, getComputeType(storage));
  auto branch = scf::IfOp::create(b, TypeRange(result), isRun(b, steps.front()),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, read(b, distance));
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, build(b, steps.drop_front(), otherwise));
  return branch.getResult(0);
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
  auto readEach = [&]() -> Value {
    SmallVector<Value> lanes;
    for (int64_t i = 0; i < width; ++i)
      lanes.push_back(
          read(b.lane(index, i), b.add(place.offset, i * place.stride), 0));
    return vector::FromElementsOp::create(
        b, VectorType::get({width}, lanes.front().getType()), lanes);
  };
  GatheredRun run{
      place, storage, index, size, getLeaves()[node.leaf].indexStride, width};
  return run.build(b, {1, -1}, readEach);
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
