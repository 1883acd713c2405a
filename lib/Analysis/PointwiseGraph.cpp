//===- PointwiseGraph.cpp - What is computed per point --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/PointwiseGraph.h"
#include <map>

using namespace mlir;
using namespace fact;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// A view of a gather's source, or of its indices, as a view of its result. The
/// dimensions that come from the other operand have stride 0.
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

namespace {
/// A step from the elements of a value to those of its user.
struct Step {
  enum Kind { View, Broadcast, Reshape, Indices } kind;
  Operation *op = nullptr;
  ArrayRef<int64_t> shape = {};

  FailureOr<StridedView> apply(const StridedView &from) const {
    switch (kind) {
    case View:
      return cast<ViewOpInterface>(op).applyView(from);
    case Broadcast:
      return from.broadcastTo(shape);
    case Reshape:
      return from.reshape(shape);
    case Indices:
      return spread(cast<GatherOp>(op), from, /*isSource=*/false);
    }
    llvm_unreachable("all kinds are above");
  }
};
} // namespace

/// Walks from the results to the leaves. `path` leads from the current value
/// back to the index space; it has the steps that change a shape or an order.
class PointwiseGraph::Reader {
public:
  Reader(PointwiseGraph &graph, ArrayRef<int64_t> indexSpace,
         const Options &options, EmitError emitError)
      : graph(graph), indexSpace(indexSpace), options(options),
        emitError(emitError) {}

  LogicalResult readResult(Value value) {
    FailureOr<unsigned> node =
        getShape(value) == indexSpace
            ? visit(value)
            : visitThrough({Step::Reshape, nullptr, indexSpace}, value);
    if (failed(node))
      return failure();
    graph.results.push_back(*node);
    return success();
  }

private:
  FailureOr<unsigned> visit(Value value) {
    FailureOr<StridedView> view = getView(StridedView::identity(value));
    Key key = getKey(value, view);
    if (auto known = visited.find(key); known != visited.end())
      return known->second;
    FailureOr<unsigned> node = readValue(value, view);
    if (succeeded(node))
      visited.emplace(std::move(key), *node);
    return node;
  }

  FailureOr<unsigned> visitThrough(const Step &step, Value value) {
    path.push_back(step);
    FailureOr<unsigned> node = visit(value);
    path.pop_back();
    return node;
  }

  /// `value`, broadcast to the shape of its user.
  FailureOr<unsigned> visitAs(Value value, ArrayRef<int64_t> shape) {
    if (getShape(value) == shape)
      return visit(value);
    return visitThrough({Step::Broadcast, nullptr, shape}, value);
  }

  FailureOr<unsigned> readValue(Value value,
                                const FailureOr<StridedView> &view) {
    Operation *op = value.getDefiningOp();
    if (options.isAnchor &&
        options.isAnchor(value, succeeded(view) ? &*view : nullptr))
      return readAnchor(value, view);
    if (!op || (isa<GatherOp>(op) && options.gathers == Gathers::Leaves))
      return addLeaf(value, view);
    if (isa<ViewOpInterface>(op))
      return visitThrough({Step::View, op}, op->getOperand(0));
    if (auto constant = dyn_cast<ConstantOp>(op))
      return readConstant(constant, view);
    if (isa<GatherOp>(op) && options.gathers == Gathers::Nodes)
      return readGather(cast<GatherOp>(op));
    if (!isa<PointwiseOpInterface>(op))
      return emitError() << "'" << op->getName()
                         << "' is not a pointwise op or a view";
    Node node{op, {}};
    if (failed(addOperands(node, op->getOperands(), getShape(value))))
      return failure();
    return addNode(std::move(node));
  }

  LogicalResult addOperands(Node &node, ValueRange operands,
                            ArrayRef<int64_t> shape) {
    for (Value operand : operands) {
      FailureOr<unsigned> at = visitAs(operand, shape);
      if (failed(at))
        return failure();
      node.operands.push_back(*at);
    }
    return success();
  }

  FailureOr<unsigned> readAnchor(Value value,
                                 const FailureOr<StridedView> &view) {
    FailureOr<unsigned> leaf = addLeaf(value, view, /*isAnchor=*/true);
    auto norm = value.getDefiningOp<NormOp>();
    if (failed(leaf) || !norm || !options.appliesNormWeights ||
        (!norm.getWeight() && !norm.getBias()))
      return leaf;
    Node node{norm, {*leaf}};
    if (failed(addOperands(node, norm->getOperands().drop_front(),
                           getShape(value))))
      return failure();
    return addNode(std::move(node));
  }

  FailureOr<unsigned> readConstant(ConstantOp constant,
                                   const FailureOr<StridedView> &view) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && elements.isSplat())
      return addNode({constant, {}});
    if (!options.readsConstants)
      return emitError() << "a constant with different elements must be an "
                            "operand of the kernel";
    if (!elements)
      return emitError() << "a constant of type " << constant.getType()
                         << " must have its elements in the IR";
    return addLeaf(constant, view);
  }

  FailureOr<unsigned> readGather(GatherOp gather) {
    FailureOr<StridedView> source = StridedView::get(gather.getSource());
    if (failed(source))
      return refuseOrder(gather.getSource());
    auto constant = source->base.getDefiningOp<ConstantOp>();
    if (!isa<BlockArgument>(source->base) &&
        !(constant && options.readsConstants &&
          isa<DenseElementsAttr>(constant.getValue())))
      return emitError() << "the source of 'fact.gather' must be an argument "
                            "of the region or a constant in the IR";
    FailureOr<StridedView> view =
        getView(spread(gather, *source, /*isSource=*/true));
    if (failed(view))
      return refuseOrder(gather.getSource());
    Node node{gather, {}, static_cast<unsigned>(graph.leaves.size())};
    graph.leaves.push_back({source->base, *view, /*isAnchor=*/false,
                            source->strides[gather.getDim()]});
    FailureOr<unsigned> index =
        visitThrough({Step::Indices, gather}, gather.getIndices());
    if (failed(index))
      return failure();
    node.operands.push_back(*index);
    return addNode(std::move(node));
  }

  InFlightDiagnostic refuseOrder(Value value) {
    return emitError() << "an operand of type " << value.getType()
                       << " is read through views that strides cannot "
                          "describe";
  }

  FailureOr<unsigned> addLeaf(Value value, const FailureOr<StridedView> &view,
                              bool isAnchor = false) {
    if (failed(view))
      return refuseOrder(value);
    graph.leaves.push_back({value, *view, isAnchor});
    return addNode(
        {nullptr, {}, static_cast<unsigned>(graph.leaves.size() - 1)});
  }

  unsigned addNode(Node node) {
    graph.nodes.push_back(std::move(node));
    return graph.nodes.size() - 1;
  }

  /// A view of the current value in the index space.
  FailureOr<StridedView> getView(FailureOr<StridedView> view) const {
    for (const Step &step : llvm::reverse(path)) {
      if (failed(view))
        return failure();
      view = step.apply(*view);
    }
    // Dimensions of size 1 may carry any stride.
    if (succeeded(view))
      for (auto [size, stride] : llvm::zip_equal(view->shape, view->strides))
        if (size == 1)
          stride = 0;
    return view;
  }

  /// A value and its view in the index space; the path, where there is none.
  using Key = std::pair<void *, SmallVector<int64_t>>;
  Key getKey(Value value, const FailureOr<StridedView> &view) const {
    Key key{value.getAsOpaquePointer(), {succeeded(view)}};
    if (succeeded(view)) {
      key.second.push_back(view->offset);
      key.second.append(view->strides);
      return key;
    }
    for (const Step &step : path) {
      key.second.append({step.kind, reinterpret_cast<int64_t>(step.op),
                         static_cast<int64_t>(step.shape.size())});
      llvm::append_range(key.second, step.shape);
    }
    return key;
  }

  PointwiseGraph &graph;
  ArrayRef<int64_t> indexSpace;
  const Options &options;
  EmitError emitError;
  SmallVector<Step> path;
  std::map<Key, unsigned> visited;
};

FailureOr<PointwiseGraph> PointwiseGraph::read(ArrayRef<Value> results,
                                               ArrayRef<int64_t> indexSpace,
                                               const Options &options,
                                               EmitError emitError) {
  PointwiseGraph graph;
  Reader reader(graph, indexSpace, options, emitError);
  for (Value result : results)
    if (failed(reader.readResult(result)))
      return failure();
  return graph;
}
