//===- Elements.cpp - A DAG of pointwise ops at one element ---------------===//

#include "Elements.h"
#include "llvm/ADT/TypeSwitch.h"
#include <map>

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// A view of an operand as a view of the op's result.
static FailureOr<StridedView> pushThrough(Operation *op,
                                          const StridedView &view) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return TypeSwitch<Operation *, FailureOr<StridedView>>(op)
      .Case([&](ReshapeOp) { return view.reshape(shape); })
      .Case([&](PermuteOp permute) { return view.permute(permute.getDims()); })
      .Case([&](SliceOp slice) {
        return view.slice(slice.getDim(), slice.getStart(),
                          shape[slice.getDim()], slice.getStep());
      })
      .Default([&](Operation *) { return view.expand(shape); });
}

class Elements::Planner {
public:
  Planner(Elements &elements,
          llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
          EmitError emitError)
      : elements(elements), isAnchor(isAnchor), emitError(emitError) {}

  /// The node of `value` seen through `path`, the ops from it up to the root.
  FailureOr<unsigned> visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<fact::ViewOp>() && !isLeafHere(value)) {
      path.push_back(op);
      FailureOr<unsigned> node = visit(op->getOperand(0));
      path.pop_back();
      return node;
    }
    FailureOr<StridedView> view = viewFromRoot(value);
    bool anchor = succeeded(view) && isAnchor(value, *view);
    bool memory = !op || isa<fact::ConstantOp>(op);
    if ((anchor || memory) && failed(view))
      return emitError() << "needs an operand in an order that no strides "
                            "describe";
    if (auto constant = dyn_cast_or_null<fact::ConstantOp>(op);
        constant && !isa<DenseElementsAttr>(constant.getValue()))
      return emitError() << "needs constants with their elements in the IR";
    if (anchor || memory)
      return remember(value, &*view, [&] {
        elements.leaves.push_back({value, *view, anchor});
        Node node;
        node.leaf = elements.leaves.size() - 1;
        return node;
      });
    if (!isa<PointwiseOpInterface>(op))
      return emitError() << "'" << op->getName()
                         << "' cannot be computed element by element here";
    auto known = find(value, succeeded(view) ? &*view : nullptr);
    if (known)
      return *known;
    Node node;
    node.op = op;
    path.push_back(op);
    for (Value operand : op->getOperands()) {
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

  bool isLeafHere(Value value) {
    FailureOr<StridedView> view = viewFromRoot(value);
    return succeeded(view) && isAnchor(value, *view);
  }

  FailureOr<StridedView> viewFromRoot(Value value) {
    FailureOr<StridedView> view = StridedView::identity(value);
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
  SmallVector<Operation *> path;
  std::map<Key, unsigned> known;
};

FailureOr<Elements>
Elements::plan(Value root,
               llvm::function_ref<bool(Value, const StridedView &)> isAnchor,
               EmitError emitError) {
  Elements elements;
  Planner planner(elements, isAnchor, emitError);
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
  Type type = b.withWidth(computeType(storage), width);
  if (isa<FloatType>(storage)) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool lossy;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return b.constant(number.convertToDouble(), type);
  }
  return b.constant(elements.getSplatValue<APInt>().getSExtValue(), type);
}

Value Elements::build(KernelBuilder &b, int64_t width,
                      llvm::function_ref<Value(const Leaf &)> read) const {
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
    values.push_back(cast<PointwiseOpInterface>(node.op).buildScalar(
        b, b.getLoc(), operands));
  }
  return values.back();
}

int64_t Elements::getOpCount() const {
  return llvm::count_if(nodes, [](const Node &node) { return node.op; });
}

SmallVector<Destination> host::getDestinations(Value yielded) {
  SmallVector<Destination> destinations;
  for (Value value = yielded;;) {
    FailureOr<StridedView> view = StridedView::getDestination(value, yielded);
    if (failed(view))
      return destinations;
    destinations.push_back({value, *view});
    Operation *op = value.getDefiningOp();
    if (!op || !isa<ReshapeOp, PermuteOp>(op))
      return destinations;
    value = op->getOperand(0);
  }
}
