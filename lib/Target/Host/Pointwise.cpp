//===- Pointwise.cpp - Elements computed one by one, and copies of views --===//

#include "HostRealiser.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
struct PointwisePlan {
  struct Result {
    Elements elements;
    StridedView destination;
  };
  std::vector<Result> results;
  /// The index space after dimensions were merged: outer ones, and an inner
  /// one.
  SmallVector<int64_t> shape;

  static FailureOr<PointwisePlan> get(FusedOp fused, EmitError emitError);
};

class PointwiseRealiser : public HostRealiser {
public:
  using HostRealiser::HostRealiser;
  StringRef getRule() const override { return "pointwise"; }
  LogicalResult canRealise(FusedOp fused, EmitError emitError) const override {
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    return LogicalResult(PointwisePlan::get(fused, emitError));
  }
  SpaceAttrInterface getDefaultSpace(FusedOp fused) const override {
    auto type = cast<RankedTensorType>(fused->getResult(0).getType());
    int64_t row = type.getRank() ? type.getShape().back() : 1;
    return getRowsSpace(fused, type.getNumElements() / row, row, 16384);
  }

protected:
  LogicalResult build(KernelBuilder &b,
                      ScheduleAttrInterface schedule) const override;
};
} // namespace

static FailureOr<PointwisePlan::Result> planResult(Value yielded,
                                                   EmitError emitError) {
  auto nothing = [](Value, const StridedView &) { return false; };
  SmallVector<Destination> destinations = getDestinations(yielded);
  for (auto [i, destination] : llvm::enumerate(destinations)) {
    bool last = i + 1 == destinations.size();
    FailureOr<Elements> elements = Elements::plan(
        destination.value, nothing, last ? emitError : EmitError(noDiagnostic));
    if (succeeded(elements))
      return PointwisePlan::Result{*elements, destination.view};
  }
  return failure();
}

FailureOr<PointwisePlan> PointwisePlan::get(FusedOp fused,
                                            EmitError emitError) {
  PointwisePlan plan;
  SmallVector<StridedView> views;
  for (Value yielded : fused.getYield()->getOperands()) {
    FailureOr<Result> result = planResult(yielded, emitError);
    if (failed(result))
      return failure();
    plan.results.push_back(*result);
    views.push_back(result->destination);
    for (const Elements::Leaf &leaf : result->elements.getLeaves())
      views.push_back(leaf.view);
  }
  // One index space for everything, as few dimensions as it takes.
  SmallVector<int64_t> shape = views.front().shape;
  for (StridedView &view : views) {
    FailureOr<StridedView> same = view.reshape(shape);
    if (failed(same))
      return emitError() << "results are computed over different shapes";
    view = *same;
  }
  collapseDimensions(views);
  plan.shape = views.front().shape;
  size_t next = 0;
  for (Result &result : plan.results) {
    result.destination = views[next++];
    for (Elements::Leaf &leaf : result.elements.getLeaves())
      leaf.view = views[next++];
  }
  return plan;
}

/// The last dimension is the column.
static RowView splitLast(const StridedView &view) {
  RowView row{view.base, view.offset, view.shape, view.strides,
              view.strides.back()};
  row.rowShape.pop_back();
  row.rowStrides.pop_back();
  return row;
}

LogicalResult PointwiseRealiser::build(KernelBuilder &b,
                                       ScheduleAttrInterface schedule) const {
  FusedOp fused = b.getFused();
  FailureOr<PointwisePlan> plan = PointwisePlan::get(fused, noDiagnostic);
  if (failed(plan))
    return failure();
  int64_t grain = cast<HostRowsAttr>(schedule).getGrain();
  auto type = cast<RankedTensorType>(fused->getResult(0).getType());
  int64_t perTile = grain * (type.getRank() ? type.getShape().back() : 1);
  int64_t inner = plan->shape.back();
  int64_t outer = type.getNumElements() / inner;
  int64_t lanes = b.getLoopLanes(b.getF32Type());
  Value index = b.beginTile();

  auto writeColumns = [&](Value row, Value from, Value to) {
    for (unsigned i = 0; i < plan->results.size(); ++i) {
      const PointwisePlan::Result &result = plan->results[i];
      Type storage = cast<RankedTensorType>(fused->getResult(i).getType())
                         .getElementType();
      DenseMap<const Elements::Leaf *, Value> offsets;
      for (const Elements::Leaf &leaf : result.elements.getLeaves())
        offsets[&leaf] = b.rowOffset(splitLast(leaf.view), row);
      RowView destination = splitLast(result.destination);
      Value target = b.rowOffset(destination, row);
      b.columns(from, to, lanes, [&](Value column, int64_t width) {
        Value value =
            result.elements.build(b, width, [&](const Elements::Leaf &leaf) {
              int64_t stride = leaf.view.strides.back();
              return b.load(
                  b.getPointer(leaf.value),
                  cast<RankedTensorType>(leaf.value.getType()).getElementType(),
                  b.add(offsets[&leaf], b.mul(column, stride)), width, stride);
            });
        b.store(value, b.getResultPointer(i), storage,
                b.add(target, b.mul(column, destination.columnStride)),
                destination.columnStride);
      });
    }
  };

  if (outer == 1) {
    // One run of elements: tiles cut it into pieces.
    b.getLayout().tiles = ceilDivide(inner, perTile);
    Value from = b.mul(index, perTile);
    writeColumns(b.integer(0), from, b.min(b.add(from, perTile), inner));
  } else {
    int64_t rows = std::max<int64_t>(perTile / inner, 1);
    b.getLayout().tiles = ceilDivide(outer, rows);
    Value from = b.mul(index, rows);
    b.loop(from, b.min(b.add(from, rows), outer), 1, [&](Value row) {
      writeColumns(row, b.integer(0), b.integer(inner));
    });
  }
  b.endFunction();
  return success();
}

std::unique_ptr<Realiser>
host::createPointwiseRealiser(const MachineDescription &machine) {
  return std::make_unique<PointwiseRealiser>(machine);
}
