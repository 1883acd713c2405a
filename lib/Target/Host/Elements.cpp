//===- Elements.cpp - A DAG of pointwise ops at one element ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elements.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>
#include <map>

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// A gather's source or its indices in the index space of its result: each has
/// the dimensions that come from the other with stride 0.
static StridedView spread(GatherOp gather, const StridedView &view,
                          bool isSource) {
  int64_t dim = gather.getDim();
  int64_t count = gather.getIndices().getType().getRank();
  StridedView result{view.base,
                     view.offset,
                     SmallVector<int64_t>(gather.getType().getShape()),
                     {}};
  result.strides.assign(result.shape.size(), 0);
  for (int64_t i = 0; i < static_cast<int64_t>(result.shape.size()); ++i) {
    bool ofIndices = i >= dim && i < dim + count;
    if (!isSource && ofIndices)
      result.strides[i] = view.strides[i - dim];
    else if (isSource && !ofIndices)
      result.strides[i] = view.strides[i < dim ? i : i - count + 1];
  }
  return result;
}

/// A view of an operand as a view of the op's result.
static FailureOr<StridedView> pushThrough(Operation *op,
                                          const StridedView &view) {
  if (auto viewOp = dyn_cast<ViewOpInterface>(op))
    return viewOp.applyView(view);
  if (auto gather = dyn_cast<GatherOp>(op))
    return spread(gather, view, /*isSource=*/false);
  // Pointwise ops broadcast their operands.
  return view.expand(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
}

class Elements::Planner {
public:
  Planner(Elements &elements,
          llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
          EmitError emitError, bool gathers)
      : elements(elements), isAnchor(isAnchor), emitError(emitError),
        gathers(gathers) {}

  /// The node of `value` seen through `path`, the ops from it up to the root.
  FailureOr<unsigned> visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<ViewOpInterface>(op) && !isLeafHere(value)) {
      path.push_back(op);
      FailureOr<unsigned> node = visit(op->getOperand(0));
      path.pop_back();
      return node;
    }
    FailureOr<StridedView> view = viewFromRoot(value);
    bool anchor = succeeded(view) && isAnchor(value, *view);
    bool memory = isMemory(op);
    if ((anchor || memory) && failed(view))
      return refuseOrder();
    if (memory && failed(checkMemory(op)))
      return failure();
    if (anchor || memory)
      return remember(value, &*view, [&] {
        elements.leaves.push_back({value, *view, anchor});
        Node node;
        node.leaf = elements.leaves.size() - 1;
        return node;
      });
    auto gather = dyn_cast<GatherOp>(op);
    if (!isa<PointwiseOpInterface>(op) && !(gather && gathers))
      return emitError() << "'" << op->getName()
                         << "' cannot be computed element by element here";
    auto known = find(value, succeeded(view) ? &*view : nullptr);
    if (known)
      return *known;
    Node node;
    node.op = op;
    if (gather && failed(addSource(gather, node)))
      return failure();
    path.push_back(op);
    for (Value operand :
         gather ? op->getOperands().drop_front() : op->getOperands()) {
      FailureOr<unsigned> at = visit(operand);
      if (failed(at))
        return failure();
      node.operands.push_back(*at);
    }
    path.pop_back();
    return remember(value, succeeded(view) ? &*view : nullptr,
                    [&] { return node; });
  }

private:
  using Key = std::tuple<void *, int64_t, SmallVector<int64_t>>;

  static bool isMemory(Operation *op) {
    return !op || isa<fact::ConstantOp>(op);
  }
  LogicalResult checkMemory(Operation *op) {
    auto constant = dyn_cast_or_null<fact::ConstantOp>(op);
    if (constant && !isa<DenseElementsAttr>(constant.getValue()))
      return emitError() << "needs constants with their elements in the IR";
    return success();
  }
  InFlightDiagnostic refuseOrder() {
    return emitError() << "needs an operand in an order that no strides "
                          "describe";
  }

  /// The leaf that a gather reads at its indices.
  LogicalResult addSource(GatherOp gather, Node &node) {
    FailureOr<StridedView> source = StridedView::get(gather.getSource());
    if (failed(source))
      return refuseOrder();
    Operation *op = source->base.getDefiningOp();
    if (!isMemory(op))
      return emitError() << "needs what a gather reads in memory";
    FailureOr<StridedView> view =
        fromRoot(spread(gather, *source, /*isSource=*/true));
    if (failed(checkMemory(op)) || failed(view))
      return failed(view) ? LogicalResult(refuseOrder()) : failure();
    node.leaf = elements.leaves.size();
    elements.leaves.push_back({source->base, *view, /*isAnchor=*/false,
                               source->strides[gather.getDim()]});
    return success();
  }

  bool isLeafHere(Value value) {
    FailureOr<StridedView> view = viewFromRoot(value);
    return succeeded(view) && isAnchor(value, *view);
  }

  FailureOr<StridedView> viewFromRoot(Value value) {
    return fromRoot(StridedView::identity(value));
  }

  FailureOr<StridedView> fromRoot(FailureOr<StridedView> view) {
    for (Operation *op : llvm::reverse(path)) {
      if (failed(view))
        break;
      view = pushThrough(op, *view);
    }
    return view;
  }

  std::optional<unsigned> find(Value value, const StridedView *view) {
    if (!view)
      return std::nullopt;
    auto found =
        known.find({value.getAsOpaquePointer(), view->offset, view->strides});
    if (found == known.end())
      return std::nullopt;
    return found->second;
  }

  unsigned remember(Value value, const StridedView *view,
                    llvm::function_ref<Node()> make) {
    if (std::optional<unsigned> found = find(value, view))
      return *found;
    elements.nodes.push_back(make());
    unsigned index = elements.nodes.size() - 1;
    if (view)
      known[{value.getAsOpaquePointer(), view->offset, view->strides}] = index;
    return index;
  }

  Elements &elements;
  llvm::function_ref<bool(Value, const StridedView &)> isAnchor;
  EmitError emitError;
  bool gathers;
  SmallVector<Operation *> path;
  std::map<Key, unsigned> known;
};

FailureOr<Elements>
Elements::plan(Value root,
               llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
               EmitError emitError, bool gathers) {
  Elements elements;
  Planner planner(elements, isAnchor, emitError, gathers);
  FailureOr<unsigned> last = planner.visit(root);
  if (failed(last))
    return failure();
  return elements;
}

/// A constant of equal elements needs no memory.
static Value buildSplat(KernelBuilder &b, Value value, int64_t width) {
  auto constant = value.getDefiningOp<fact::ConstantOp>();
  if (!constant)
    return {};
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return {};
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
    return leaves[node.leaf].view.strides.back() == 0;
  return llvm::all_of(node.operands, [&](unsigned operand) {
    return isUniform(nodes[operand]);
  });
}

/// Neighbours share one index, or each has its own. An index outside reads
/// element 0, and gives NaN, or 0.
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
    Value found =
        b.load(place.pointer, storage,
               b.add(offset, b.mul(safe, leaves[node.leaf].indexStride)), count,
               place.stride);
    bool isFloat = isa<FloatType>(storage);
    Value nothing =
        b.constant(isFloat ? std::numeric_limits<double>::quiet_NaN() : 0,
                   found.getType());
    return arith::SelectOp::create(b, inside, found, nothing);
  };
  if (width == 0)
    return read(index, place.offset, 0);
  if (isUniform(nodes[node.operands.front()]))
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
  for (const Node &node : nodes) {
    if (!node.op) {
      const Leaf &leaf = leaves[node.leaf];
      Value splat = buildSplat(b, leaf.value, width);
      values.push_back(splat ? splat : read(leaf));
      continue;
    }
    SmallVector<Value> operands;
    for (unsigned operand : node.operands)
      operands.push_back(values[operand]);
    if (isa<GatherOp>(node.op)) {
      values.push_back(buildGather(b, node, operands.front(), width,
                                   locate(leaves[node.leaf])));
      continue;
    }
    values.push_back(cast<PointwiseOpInterface>(node.op).buildScalar(
        b, b.getLoc(), operands));
  }
  return values.back();
}

int64_t Elements::getOpCount() const {
  return llvm::count_if(nodes, [](const Node &node) { return node.op; });
}

FailureOr<RowElements> RowElements::get(const Elements &elements, int64_t rows,
                                        int64_t columns, EmitError emitError) {
  RowElements result{elements, {}};
  for (const Elements::Leaf &leaf : elements.getLeaves()) {
    FailureOr<RowView> view = RowView::get(leaf.view, rows, columns);
    if (failed(view))
      return emitError() << "needs operands by rows of " << columns
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
                         llvm::function_ref<Value(Value)> anchor) const {
  ArrayRef<Elements::Leaf> all = elements.getLeaves();
  return elements.build(b, width, [&](const Elements::Leaf &leaf) {
    if (leaf.isAnchor)
      return anchor(leaf.value);
    size_t at = &leaf - all.data();
    int64_t stride = leaves[at].columnStride;
    Type storage =
        cast<RankedTensorType>(leaf.value.getType()).getElementType();
    return b.load(b.getPointer(leaf.value), storage,
                  b.add(rowOffsets[at], b.mul(column, stride)), width, stride);
  });
}
