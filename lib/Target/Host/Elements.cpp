//===- Elements.cpp - Code for a pointwise graph at one element -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
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
  options.readsGathers = gathers;
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
  // A double does not hold each integer of 64 bits.
  return b.constant(b.getIntegerAttr(getElementTypeOrSelf(type),
                                     elements.getSplatValue<APInt>()),
                    type);
}

bool Elements::isUniform(const Node &node) const {
  auto isUniformAt = [&](unsigned other) {
    return isUniform(graph.getNodes()[other]);
  };
  if (node.op)
    return llvm::all_of(node.operands, isUniformAt);
  const Leaf &leaf = getLeaves()[node.leaf];
  return leaf.view.strides.back() == 0 &&
         llvm::all_of(leaf.indices, [&](const PointwiseGraph::Index &index) {
           return isUniformAt(index.node);
         });
}

namespace {
/// Neighbors of a leaf that is read through gathers. An index out of range
/// reads as 0, so that the load is safe, and gives NaN, or 0 for integers.
class GatheredRead {
public:
  GatheredRead(KernelBuilder &b, Type storage, const Elements::Place &place,
               int64_t width)
      : b(b), storage(storage), place(place), width(width) {}

  /// One index for all neighbors.
  void addShared(Value index, const PointwiseGraph::Index &gather) {
    auto [safe, isInside] = getSafe(index, gather.size);
    place.offset = b.add(place.offset, b.mul(safe, gather.stride));
    inside = inside ? arith::AndIOp::create(b, inside, isInside) : isInside;
  }
  /// A vector of indices.
  void add(Value indices, const PointwiseGraph::Index &gather) {
    each.push_back({widen(indices), gather.stride, gather.size});
  }
  Value build();

private:
  struct Indices {
    Value vector;
    int64_t stride, size;
  };

  /// As 64 bits.
  Value widen(Value index);
  /// An index, or 0 if it is not in [0, size); and whether it is.
  std::pair<Value, Value> getSafe(Value index, int64_t size);
  /// `found` where `inside`.
  Value orNothing(Value inside, Value found);
  /// Each neighbor from its own place.
  Value readEach();
  /// Neighbors whose indices count up or down, as those of a reversed row do,
  /// lie beside each other in memory and are read at once. Only the indices
  /// tell, when the kernel runs: tries each of the steps between two indices,
  /// then `readEach`.
  Value readRun(ArrayRef<int64_t> steps);
  /// Whether all indices are in range and `step` apart.
  Value isRun(int64_t step);
  /// A run of neighbors that are `distance`, 1 or -1, apart in memory.
  Value read(int64_t distance);
  /// The numbers of the neighbors, times `step`.
  Value count(int64_t step);

  KernelBuilder &b;
  Type storage;
  Elements::Place place;
  int64_t width;
  /// Whether the shared indices are in range; null where there are none.
  Value inside;
  SmallVector<Indices> each;
};
} // namespace

Value GatheredRead::widen(Value index) {
  Type type = getElementTypeOrSelf(index.getType());
  if (type.isInteger(64))
    return index;
  auto vector = dyn_cast<VectorType>(index.getType());
  return arith::ExtSIOp::create(
      b, b.withWidth(b.getI64Type(), vector ? width : 0), index);
}

std::pair<Value, Value> GatheredRead::getSafe(Value index, int64_t size) {
  index = widen(index);
  // Compared as unsigned, so that a negative index fails the bound check.
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                            b.constant(double(size), index.getType()));
  Value safe = arith::SelectOp::create(b, isInside, index,
                                       b.constant(0, index.getType()));
  return {safe, isInside};
}

Value GatheredRead::orNothing(Value inside, Value found) {
  double nothing =
      isa<FloatType>(storage) ? std::numeric_limits<double>::quiet_NaN() : 0;
  return arith::SelectOp::create(b, inside, found,
                                 b.constant(nothing, found.getType()));
}

Value GatheredRead::count(int64_t step) {
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(i * step);
  return arith::ConstantOp::create(b, b.getI64VectorAttr(numbers));
}

Value GatheredRead::readEach() {
  Value offsets = count(place.stride), allInside;
  for (const Indices &indices : each) {
    auto [safe, isInside] = getSafe(indices.vector, indices.size);
    Value distances = safe;
    if (indices.stride != 1)
      distances = arith::MulIOp::create(
          b, safe, b.splat(b.integer(indices.stride), width));
    offsets = arith::AddIOp::create(b, offsets, distances);
    allInside =
        allInside ? arith::AndIOp::create(b, allInside, isInside) : isInside;
  }
  return orNothing(allInside,
                   b.gather(place.pointer, storage, place.offset, offsets));
}

Value GatheredRead::isRun(int64_t step) {
  using Predicate = arith::CmpIPredicate;
  const Indices &indices = each.front();
  Value expected = arith::AddIOp::create(
      b, b.splat(b.lane(indices.vector, 0), width), count(step));
  Value all = vector::ReductionOp::create(
      b, vector::CombiningKind::AND,
      arith::CmpIOp::create(b, Predicate::eq, indices.vector, expected));
  for (int64_t end : {int64_t(0), width - 1})
    all = arith::AndIOp::create(
        b, all,
        arith::CmpIOp::create(b, Predicate::ult, b.lane(indices.vector, end),
                              b.integer(indices.size)));
  return all;
}

Value GatheredRead::read(int64_t distance) {
  const Indices &indices = each.front();
  // The neighbor that comes first in memory.
  int64_t lane = distance > 0 ? 0 : width - 1;
  Value offset =
      b.add(place.offset, b.mul(b.lane(indices.vector, lane), indices.stride));
  offset = b.add(offset, lane * place.stride);
  Value found = b.load(place.pointer, storage, offset, width);
  if (distance > 0)
    return found;
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, width)));
  return vector::ShuffleOp::create(b, found, found, order);
}

Value GatheredRead::readRun(ArrayRef<int64_t> steps) {
  if (steps.empty())
    return readEach();
  int64_t distance = place.stride + steps.front() * each.front().stride;
  if (distance != 1 && distance != -1)
    return readRun(steps.drop_front());
  Type result = VectorType::get({width}, getComputeType(storage));
  auto branch = scf::IfOp::create(b, TypeRange(result), isRun(steps.front()),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, read(distance));
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, readRun(steps.drop_front()));
  return branch.getResult(0);
}

Value GatheredRead::build() {
  Value found;
  if (each.empty())
    found = b.load(place.pointer, storage, place.offset, width, place.stride);
  else if (each.size() == 1)
    found = readRun({1, -1});
  else
    found = readEach();
  return inside ? orNothing(inside, found) : found;
}

Value Elements::buildGather(KernelBuilder &b, const Leaf &leaf,
                            ArrayRef<Value> values, int64_t width,
                            const Place &place) const {
  Type storage = cast<RankedTensorType>(leaf.value.getType()).getElementType();
  GatheredRead gathered(b, storage, place, width);
  for (const PointwiseGraph::Index &index : leaf.indices) {
    Value value = values[index.node];
    if (width && !isUniform(graph.getNodes()[index.node]))
      gathered.add(value, index);
    else
      gathered.addShared(width ? b.lane(value, 0) : value, index);
  }
  return gathered.build();
}

Value Elements::build(KernelBuilder &b, int64_t width,
                      llvm::function_ref<Value(const Leaf &)> read,
                      llvm::function_ref<Place(const Leaf &)> locate) const {
  SmallVector<Value> values;
  for (const Node &node : graph.getNodes()) {
    SmallVector<Value> operands;
    for (unsigned operand : node.operands)
      operands.push_back(values[operand]);
    if (!node.op) {
      const Leaf &leaf = getLeaves()[node.leaf];
      values.push_back(leaf.indices.empty()
                           ? read(leaf)
                           : buildGather(b, leaf, values, width, locate(leaf)));
    } else if (auto constant = dyn_cast<fact::ConstantOp>(node.op)) {
      values.push_back(buildSplat(b, constant, width));
    } else {
      values.push_back(cast<PointwiseOpInterface>(node.op).buildScalar(
          b, b.getLoc(), operands));
    }
  }
  return values[graph.getResults().front()];
}

FailureOr<RowElements> RowElements::get(const Elements &elements, int64_t rows,
                                        int64_t columns, EmitError emitError,
                                        int64_t lanes) {
  RowElements result{elements, {}};
  for (const Elements::Leaf &leaf : elements.getLeaves()) {
    FailureOr<RowView> view = RowView::get(leaf.view, rows, columns, lanes);
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
    return b.load(
        b.getPointer(leaf.value), storage,
        b.add(rowOffsets[at], b.columnOffset(leaves[at], column)), width,
        neighbors == Neighbors::rows ? leaves[at].getRowStride() : stride);
  });
}
