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
  enum Kind { View, Broadcast, Reshape, Indices, Source, Part } kind;
  Operation *op = nullptr;
  ArrayRef<int64_t> shape = {};
  /// The node of a gather's index, or where a part of a concatenation begins.
  int64_t number = 0;

  /// Whether it keeps all elements in their order.
  bool reshapes() const {
    return kind == Reshape || (kind == View && isa<ReshapeOp>(op));
  }

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
    case Source:
      return spread(cast<GatherOp>(op), from, /*isSource=*/true);
    case Part:
      return extend(cast<ConcatOp>(op), from);
    }
    llvm_unreachable("all kinds are above");
  }

private:
  /// A part as far as the whole concatenation; what lies outside of the part is
  /// not read.
  StridedView extend(ConcatOp concat, const StridedView &part) const {
    StridedView whole = part;
    whole.shape.assign(getShape(concat).begin(), getShape(concat).end());
    whole.offset -= number * part.strides[concat.getDim()];
    return whole;
  }
};

/// Where a value's elements are in the index space: the gathers between them,
/// and a view, unless strides cannot describe it.
struct Access {
  FailureOr<StridedView> view;
  std::vector<PointwiseGraph::Index> indices = {};
};
} // namespace

/// Whether a constant is zero in all bits.
static bool isZero(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  if (!constant)
    return false;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return false;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().isPosZero();
  return elements.getElementType().isIntOrIndex() &&
         elements.getSplatValue<APInt>().isZero();
}

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
    Access access = getAccess(StridedView::identity(value));
    Key key = getKey(value, access);
    if (auto known = visited.find(key); known != visited.end())
      return known->second;
    FailureOr<unsigned> node = readValue(value, access);
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

  FailureOr<unsigned> readValue(Value value, const Access &access) {
    const FailureOr<StridedView> &view = access.view;
    Operation *op = value.getDefiningOp();
    if (options.isAnchor &&
        options.isAnchor(value, succeeded(view) ? &*view : nullptr))
      return readAnchor(value, access);
    if (!op)
      return addLeaf(value, access);
    if (isa<ViewOpInterface>(op))
      return visitThrough({Step::View, op}, op->getOperand(0));
    if (isa<GatherOp>(op) && options.readsGathers)
      return readThroughGather(cast<GatherOp>(op));
    if (!access.indices.empty() &&
        !(options.readsConstants && isa<ConstantOp>(op)))
      return emitError() << "the source of 'fact.gather' must be an argument "
                            "of the region, or gathered from one";
    if (auto constant = dyn_cast<ConstantOp>(op))
      return readConstant(constant, access);
    if (isa<ConcatOp>(op) && options.readsConcats)
      return readConcat(cast<ConcatOp>(op));
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

  FailureOr<unsigned> readAnchor(Value value, const Access &access) {
    FailureOr<unsigned> leaf = addLeaf(value, access, /*isAnchor=*/true);
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

  FailureOr<unsigned> readConstant(ConstantOp constant, const Access &access) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && elements.isSplat() && access.indices.empty())
      return addNode({constant, {}});
    if (!options.readsConstants)
      return emitError() << "a constant with different elements must be an "
                            "operand of the kernel";
    if (!elements)
      return emitError() << "a constant of type " << constant.getType()
                         << " must have its elements in the IR";
    return addLeaf(constant, access);
  }

  FailureOr<unsigned> readThroughGather(GatherOp gather) {
    FailureOr<unsigned> index =
        visitThrough({Step::Indices, gather}, gather.getIndices());
    if (failed(index))
      return failure();
    return visitThrough({Step::Source, gather, {}, *index}, gather.getSource());
  }

  /// The coordinates along a concatenation that the points within the current
  /// bounds have: [first, last).
  std::pair<int64_t, int64_t> getRange(const StridedView &coordinate) const {
    int64_t first = coordinate.offset, last = first + 1;
    for (auto [size, stride] :
         llvm::zip_equal(coordinate.shape, coordinate.strides))
      (stride < 0 ? first : last) += (size - 1) * stride;
    for (const Bound &bound : bounds) {
      if (bound.coordinate.strides != coordinate.strides)
        continue;
      int64_t shift = coordinate.offset - bound.coordinate.offset;
      first = std::max(first, bound.lower + shift);
      last = std::min(last, bound.upper + shift);
    }
    return {first, last};
  }

  /// Reads all parts that some point is in, each within its bound, and selects
  /// one. Zeros around a leaf are what the leaf reads outside of its bound, and
  /// parts of one value are one leaf, which is read at other places.
  FailureOr<unsigned> readConcat(ConcatOp concat) {
    StridedView identity = StridedView::identity(concat);
    identity.strides.assign(identity.strides.size(), 0);
    identity.strides[concat.getDim()] = 1;
    FailureOr<StridedView> coordinate = getAccess(identity).view;
    if (failed(coordinate))
      return refuseOrder(concat);
    auto [first, last] = getRange(*coordinate);
    Node node{concat, {}};
    SmallVector<unsigned> nonzero;
    size_t known = graph.nodes.size();
    int64_t start = 0;
    for (Value input : concat.getInputs()) {
      int64_t end = start + getShape(input)[concat.getDim()];
      if (end > first && start < last && end > start) {
        bool isAll = start <= first && end >= last;
        if (!isAll)
          bounds.push_back({*coordinate, start, end});
        FailureOr<unsigned> part =
            visitThrough({Step::Part, concat, {}, start}, input);
        if (!isAll)
          bounds.pop_back();
        if (failed(part))
          return failure();
        node.operands.push_back(*part);
        node.ends.push_back(end);
        if (!isZero(graph.nodes[*part].op))
          nonzero.push_back(*part);
      }
      start = end;
    }
    if (node.operands.empty())
      return emitError() << "no point reads any part of 'fact.concat'";
    if (node.operands.size() == 1)
      return node.operands.front();
    if (nonzero.size() == 1 && isPaddedLeaf(graph.nodes[nonzero.front()]))
      return nonzero.front();
    SmallVector<unsigned> parts = node.operands;
    SmallVector<Operation *> casts = takeCasts(node);
    if (std::optional<Leaf> leaf = joinParts(node, *coordinate)) {
      forgetNodes(known);
      unsigned joined = addLeaf(std::move(*leaf));
      for (Operation *cast : llvm::reverse(casts))
        joined = addNode({cast, {joined}});
      return joined;
    }
    node.operands = parts;
    node.operands.insert(node.operands.begin(), addCoordinate(*coordinate));
    return addNode(std::move(node));
  }

  /// Replaces the parts of a concatenation by what they are converted from, if
  /// all are by the same ops, which are returned from the last one on.
  SmallVector<Operation *> takeCasts(Node &concat) const {
    SmallVector<Operation *> casts;
    while (auto cast = dyn_cast_or_null<CastOp>(
               graph.nodes[concat.operands.front()].op)) {
      if (llvm::any_of(concat.operands, [&](unsigned part) {
            return graph.nodes[part].op != cast;
          }))
        break;
      for (unsigned &part : concat.operands)
        part = graph.nodes[part].operands.front();
      casts.push_back(cast);
    }
    return casts;
  }

  /// The parts of a concatenation as one leaf, if they are the same view of one
  /// value but for where it begins.
  std::optional<Leaf> joinParts(const Node &concat,
                                const StridedView &coordinate) const {
    if (!llvm::all_of(concat.operands, [&](unsigned part) {
          return isPaddedLeaf(graph.nodes[part]);
        }))
      return std::nullopt;
    auto getPart = [&](size_t i) -> const Leaf & {
      return graph.leaves[graph.nodes[concat.operands[i]].leaf];
    };
    Leaf joined = getPart(concat.operands.size() - 1);
    for (size_t i = 0; i < concat.operands.size(); ++i)
      if (!isSameButForPlace(getPart(i), joined))
        return std::nullopt;
    StridedView point = coordinate;
    point.offset = 0;
    for (size_t i = 0; i + 1 < concat.operands.size(); ++i)
      joined.shifts.push_back(
          {point, concat.ends[i] - coordinate.offset,
           getPart(i).view.offset - getPart(i + 1).view.offset});
    joined.bounds = bounds;
    return joined;
  }

  /// Whether two parts are the same view of one value but for the offset, and
  /// have no bounds but that of the part, the last of the current ones.
  bool isSameButForPlace(const Leaf &a, const Leaf &b) const {
    size_t count = bounds.size() + 1;
    return a.value == b.value && a.view.strides == b.view.strides &&
           a.indices.empty() && b.indices.empty() && a.bounds.size() == count &&
           b.bounds.size() == count &&
           llvm::equal(
               a.shifts, b.shifts, [](const Shift &one, const Shift &other) {
                 return one.coordinate.strides == other.coordinate.strides &&
                        one.before == other.before &&
                        one.distance == other.distance;
               });
  }

  /// Removes the nodes from one on, and their leaves.
  void forgetNodes(size_t first) {
    size_t leaves = llvm::count_if(ArrayRef(graph.nodes).drop_front(first),
                                   [](const Node &node) { return !node.op; });
    graph.nodes.truncate(first);
    graph.leaves.truncate(graph.leaves.size() - leaves);
    for (auto at = visited.begin(); at != visited.end();)
      at = at->second >= first ? visited.erase(at) : std::next(at);
  }

  /// Whether a node is a leaf that reads zero outside of its bounds.
  bool isPaddedLeaf(const Node &node) const {
    return !node.op && !graph.leaves[node.leaf].isCoordinate &&
           !graph.leaves[node.leaf].isAnchor;
  }

  unsigned addCoordinate(const StridedView &view) {
    for (auto [i, node] : llvm::enumerate(graph.nodes)) {
      if (node.op)
        continue;
      const Leaf &leaf = graph.leaves[node.leaf];
      if (leaf.isCoordinate && leaf.view.offset == view.offset &&
          leaf.view.strides == view.strides)
        return i;
    }
    Leaf leaf{view.base, view};
    leaf.isCoordinate = true;
    return addLeaf(std::move(leaf));
  }

  InFlightDiagnostic refuseOrder(Value value) {
    return emitError() << "an operand of type " << value.getType()
                       << " is read through views that strides cannot "
                          "describe";
  }

  FailureOr<unsigned> addLeaf(Value value, const Access &access,
                              bool isAnchor = false) {
    if (failed(access.view))
      return refuseOrder(value);
    Leaf leaf{value, *access.view, isAnchor};
    leaf.indices = access.indices;
    leaf.bounds = bounds;
    return addLeaf(std::move(leaf));
  }

  unsigned addLeaf(Leaf leaf) {
    graph.leaves.push_back(std::move(leaf));
    return addNode(
        {nullptr, {}, static_cast<unsigned>(graph.leaves.size() - 1)});
  }

  unsigned addNode(Node node) {
    graph.nodes.push_back(std::move(node));
    return graph.nodes.size() - 1;
  }

  /// The current value in the index space, from a view of it.
  Access getAccess(const StridedView &of) const {
    Access access{of};
    FailureOr<StridedView> &view = access.view;
    bool isIndex = false;
    for (const Step *at = path.end(); at != path.begin();) {
      const Step &step = *--at;
      // Of several reshapes the last one decides: strides may describe its
      // shape, and not those before it.
      if (step.reshapes() && at != path.begin() && at[-1].reshapes())
        continue;
      isIndex |= step.kind == Step::Indices;
      if (step.kind == Step::Source) {
        auto gather = cast<GatherOp>(step.op);
        int64_t stride = failed(view) ? 0 : view->strides[gather.getDim()];
        // An index that another one does not move; the source has both.
        if (failed(view) || stride != 0 || !isIndex)
          access.indices.push_back(
              {static_cast<unsigned>(step.number), stride,
               getShape(gather.getSource())[gather.getDim()]});
      }
      if (succeeded(view))
        view = step.apply(*view);
    }
    // Dimensions of size 1 may carry any stride.
    if (succeeded(view))
      for (auto [size, stride] : llvm::zip_equal(view->shape, view->strides))
        if (size == 1)
          stride = 0;
    return access;
  }

  /// A value, its elements in the index space (the path, where strides cannot
  /// describe them), and the current bounds.
  using Key = std::pair<void *, SmallVector<int64_t>>;
  Key getKey(Value value, const Access &access) const {
    Key key{value.getAsOpaquePointer(), {succeeded(access.view)}};
    auto add = [&](const StridedView &view) {
      key.second.push_back(view.offset);
      key.second.append(view.strides);
    };
    for (const Bound &bound : bounds) {
      add(bound.coordinate);
      key.second.append({bound.lower, bound.upper});
    }
    if (succeeded(access.view)) {
      add(*access.view);
      for (const Index &index : access.indices)
        key.second.append({index.node, index.stride, index.size});
      return key;
    }
    for (const Step &step : path) {
      key.second.append({step.kind, reinterpret_cast<int64_t>(step.op),
                         static_cast<int64_t>(step.shape.size()), step.number});
      llvm::append_range(key.second, step.shape);
    }
    return key;
  }

  PointwiseGraph &graph;
  ArrayRef<int64_t> indexSpace;
  const Options &options;
  EmitError emitError;
  SmallVector<Step> path;
  /// Where the value that is read is part of the concatenations on the path.
  std::vector<Bound> bounds;
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
