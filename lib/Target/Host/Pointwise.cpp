//===- Pointwise.cpp - Elements computed one by one, and copies of views --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are computed in parts. One part computes all results that are neither
// concatenations nor rotary embeddings, over one index space; each input of a
// concatenation, and each half of a rotary embedding, is a part that writes its
// own piece of the result.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
struct PointwisePlan {
  struct Result {
    unsigned number;
    Elements elements;
    StridedView destination;
  };
  struct Part {
    std::vector<Result> results;
    /// The index space, with as few dimensions as possible. Loops over the last
    /// dimension are vectorized.
    SmallVector<int64_t> shape;

    int64_t getInner() const { return shape.back(); }
    int64_t getOuter() const {
      return llvm::product_of(ArrayRef(shape).drop_back());
    }
    LogicalResult shareIndexSpace(EmitError emitError);
  };
  std::vector<Part> parts;

  static FailureOr<PointwisePlan> get(FusedOp fused, EmitError emitError);

private:
  /// Adds the computation of a result, or of a piece of it.
  LogicalResult add(unsigned number, const Destination &destination,
                    bool isPiece, EmitError emitError);
  LogicalResult addResult(unsigned number, Value yielded, EmitError emitError);
};

/// The parts of a region.
struct PointwiseRegion {
  /// The region, with ops for the halves of rotary embeddings; null where there
  /// are none.
  OwningOpRef<FusedOp> copy;
  PointwisePlan plan;
};

class HostPointwisePlan : public HostPlan {
public:
  HostPointwisePlan(const Family &family, FusedOp fused,
                    const MachineDescription &machine, PointwiseRegion region)
      : HostPlan(family, fused, machine), region(std::move(region)) {}

  static FailureOr<PointwiseRegion> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override {
    int64_t row = getRowElements();
    return getRowsSpace(fused, getResultType().getNumElements() / row, row,
                        16384);
  }

protected:
  FusedOp getBuiltRegion() const override {
    return region.copy ? region.copy.get() : fused;
  }
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  RankedTensorType getResultType() const {
    return cast<RankedTensorType>(fused->getResult(0).getType());
  }
  int64_t getRowElements() const {
    RankedTensorType type = getResultType();
    return type.getRank() ? type.getShape().back() : 1;
  }

  PointwiseRegion region;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Gives all results and leaves one index space.
LogicalResult PointwisePlan::Part::shareIndexSpace(EmitError emitError) {
  SmallVector<StridedView> views;
  for (const Result &result : results) {
    views.push_back(result.destination);
    for (const Elements::Leaf &leaf : result.elements.getLeaves())
      views.push_back(leaf.view);
  }
  if (failed(fact::shareIndexSpace(views, emitError)))
    return failure();
  collapseDimensions(views);
  shape = views.front().shape;
  size_t next = 0;
  for (Result &result : results) {
    result.destination = views[next++];
    for (Elements::Leaf &leaf : result.elements.getLeaves())
      leaf.view = views[next++];
  }
  return success();
}

LogicalResult PointwisePlan::add(unsigned number,
                                 const Destination &destination, bool isPiece,
                                 EmitError emitError) {
  SmallVector<Destination> pieces;
  if (auto concat = destination.value.getDefiningOp<ConcatOp>())
    pieces = getParts(concat, destination.view);
  // A rotary embedding that is concatenated is a kernel of its own.
  auto rotary = destination.value.getDefiningOp<RotaryOp>();
  if (rotary && !isPiece)
    pieces = expandRotary(rotary, destination.view);
  for (const Destination &piece : pieces)
    if (failed(add(number, piece, /*isPiece=*/true, emitError)))
      return failure();
  if (!pieces.empty())
    return success();
  auto nothing = [](Value, const StridedView &) { return false; };
  FailureOr<Elements> elements =
      Elements::plan(destination.value, nothing, emitError, /*gathers=*/true);
  if (failed(elements))
    return failure();
  // The first part has the whole results.
  if (isPiece)
    parts.emplace_back();
  (isPiece ? parts.back() : parts.front())
      .results.push_back({number, *elements, destination.view});
  return success();
}

LogicalResult PointwisePlan::addResult(unsigned number, Value yielded,
                                       EmitError emitError) {
  SmallVector<Destination> destinations = getDestinations(yielded);
  for (auto [i, destination] : llvm::enumerate(destinations)) {
    std::optional<Silence> silence;
    if (i + 1 < destinations.size())
      silence.emplace(yielded.getParentBlock()->getParentOp());
    PointwisePlan trial = *this;
    if (succeeded(trial.add(number, destination, /*isPiece=*/false,
                            silence ? EmitError(*silence) : emitError))) {
      *this = std::move(trial);
      return success();
    }
  }
  return failure();
}

FailureOr<PointwisePlan> PointwisePlan::get(FusedOp fused,
                                            EmitError emitError) {
  PointwisePlan plan;
  plan.parts.emplace_back();
  for (auto [i, yielded] : llvm::enumerate(fused.getYield()->getOperands()))
    if (failed(plan.addResult(i, yielded, emitError)))
      return failure();
  llvm::erase_if(plan.parts,
                 [](const Part &part) { return part.results.empty(); });
  for (Part &part : plan.parts)
    if (failed(part.shareIndexSpace(emitError)))
      return failure();
  return plan;
}

FailureOr<PointwiseRegion> HostPointwisePlan::read(FusedOp fused,
                                                   EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  PointwiseRegion region;
  FusedOp read = fused;
  if (!fused.getBody().getOps<RotaryOp>().empty()) {
    region.copy = cast<FusedOp>(fused->clone());
    read = *region.copy;
  }
  FailureOr<PointwisePlan> plan = PointwisePlan::get(read, emitError);
  if (failed(plan))
    return failure();
  region.plan = std::move(*plan);
  return std::move(region);
}

namespace {
class PointwiseFamily : public FamilyOf<HostPointwisePlan> {
public:
  PointwiseFamily() : FamilyOf(pointwiseRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "All results have the same number of elements.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Splits off the last dimension as the columns.
static RowView splitLast(const StridedView &view) {
  RowView row{view.base, view.offset, view.shape, view.strides,
              view.strides.back()};
  row.rowShape.pop_back();
  row.rowStrides.pop_back();
  return row;
}

static Type storageOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Writes columns [from, to) of a row of all results of a part.
static void writeColumns(KernelBuilder &b, const PointwisePlan::Part &part,
                         Value row, Value from, Value to) {
  int64_t lanes = b.getLoopLanes(b.getF32Type());
  for (const PointwisePlan::Result &result : part.results) {
    DenseMap<const Elements::Leaf *, Value> offsets;
    for (const Elements::Leaf &leaf : result.elements.getLeaves())
      offsets[&leaf] = b.rowOffset(splitLast(leaf.view), row);
    RowView destination = splitLast(result.destination);
    Value target = b.rowOffset(destination, row);
    b.columns(from, to, lanes, [&](Value column, int64_t width) {
      auto locate = [&](const Elements::Leaf &leaf) {
        int64_t stride = leaf.view.strides.back();
        return Elements::Place{b.getPointer(leaf.value),
                               b.add(offsets[&leaf], b.mul(column, stride)),
                               stride};
      };
      auto read = [&](const Elements::Leaf &leaf) {
        Elements::Place place = locate(leaf);
        return b.load(place.pointer, storageOf(leaf.value), place.offset, width,
                      place.stride);
      };
      b.store(result.elements.build(b, width, read, locate),
              b.getResultPointer(result.number),
              storageOf(b.getFused()->getResult(result.number)),
              b.add(target, b.mul(column, destination.columnStride)),
              destination.columnStride);
    });
  }
}

/// The number of tiles of a part, of about `perTile` elements each.
static int64_t countTiles(const PointwisePlan::Part &part, int64_t perTile) {
  if (part.getOuter() == 1)
    return ceilDivide(part.getInner(), perTile);
  int64_t rows = std::max<int64_t>(perTile / part.getInner(), 1);
  return ceilDivide(part.getOuter(), rows);
}

/// Tile `index` of a part.
static void buildPart(KernelBuilder &b, const PointwisePlan::Part &part,
                      Value index, int64_t perTile) {
  int64_t inner = part.getInner(), outer = part.getOuter();
  if (outer == 1) {
    // One run of elements, cut into tiles.
    Value from = b.mul(index, perTile);
    Value to = b.min(b.add(from, perTile), inner);
    writeColumns(b, part, b.integer(0), from, to);
    return;
  }
  int64_t rows = std::max<int64_t>(perTile / inner, 1);
  Value from = b.mul(index, rows);
  b.loop(from, b.min(b.add(from, rows), outer), 1, [&](Value row) {
    writeColumns(b, part, row, b.integer(0), b.integer(inner));
  });
}

/// Tile `index` of these parts, whose tiles are numbered one after the other.
static void buildParts(KernelBuilder &b, ArrayRef<PointwisePlan::Part> parts,
                       Value index, int64_t perTile) {
  if (parts.size() == 1)
    return buildPart(b, parts.front(), index, perTile);
  Value count = b.integer(countTiles(parts.front(), perTile));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, count);
  b.ifThen(
      isFirst, [&] { buildPart(b, parts.front(), index, perTile); },
      [&] { buildParts(b, parts.drop_front(), b.sub(index, count), perTile); });
}

void HostPointwisePlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  ArrayRef<PointwisePlan::Part> parts = region.plan.parts;
  int64_t perTile = cast<HostRowsAttr>(schedule).getGrain() * getRowElements();
  b.getLayout().tiles = 0;
  for (const PointwisePlan::Part &part : parts)
    b.getLayout().tiles += countTiles(part, perTile);
  Value index = b.beginTile();
  buildParts(b, parts, index, perTile);
  b.endFunction();
}

void host::registerPointwiseFamily(DialectRegistry &registry) {
  registerFamily<PointwiseFamily>(registry);
}
