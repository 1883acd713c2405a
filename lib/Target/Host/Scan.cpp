//===- Scan.cpp - Running reductions --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row whose elements are adjacent is scanned in vectors: each lane combines
// those before it in log2(lanes) steps, and then what came before the vector.
// Several such rows are scanned in one loop, whose chains do not wait for each
// other. Where neighboring rows are adjacent, each lane scans a row of its own.
// What is scanned, what scans of scans are made of, and the results are
// computed in the same pass.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "fact/Target/RowsOf.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

using vector::CombiningKind;

namespace {
struct ScanRegion {
  /// The rows of all values.
  RowsOf rows;
  /// In the order of the region, with what they scan; the scans before are
  /// anchors. Leaves are views of [outer, length, inner].
  std::vector<std::pair<ScanOp, Elements>> scans;
  std::vector<Elements> results;

  static FailureOr<ScanRegion> read(FusedOp fused, EmitError emitError);

private:
  FailureOr<Elements> plan(Value value, EmitError emitError) const;
};

class ScanPlan : public HostPlan {
public:
  ScanPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, ScanRegion region)
      : HostPlan(family, fused, machine), region(std::move(region)) {}

  static FailureOr<ScanRegion> read(FusedOp fused, EmitError emitError) {
    return ScanRegion::read(fused, emitError);
  }

  SpaceAttrInterface getSpace() const override {
    return getRowsSpace(fused, region.rows.countRows(), region.rows.length,
                        16384);
  }

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  ScanRegion region;
};

class ScanFamily : public FamilyOf<ScanPlan> {
public:
  ScanFamily() : FamilyOf(scanRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Sums, products, maxima and minima of numbers. All results have the "
           "shape of the scans. Of fewer than 4 rows, at most 65536 elements "
           "are "
           "computed on the way.";
  }
};

/// The running reduction of one scan.
class Running {
public:
  Running(KernelBuilder &b, ScanOp op);

  Type getType() const { return type; }
  Value getNeutral() { return arith::ConstantOp::create(b, neutral); }
  Value combine(Value x, Value y) {
    return vector::makeArithReduction(b, b.getLoc(), combining, x, y);
  }
  /// The same where lanes of `x` are neutral, for LLVM to drop. The sign of a
  /// zero does not matter, since sums begin with one.
  Value combineLanes(Value x, Value y) {
    arith::FastMathFlagsAttr flags;
    if (isa<FloatType>(type) && combining == CombiningKind::ADD)
      flags = arith::FastMathFlagsAttr::get(b.getContext(),
                                            arith::FastMathFlags::nsz);
    return vector::makeArithReduction(b, b.getLoc(), combining, x, y, flags);
  }
  /// Elements in the type of the running reduction, and back.
  Value widen(Value value);
  Value narrow(Value value);
  /// Each lane combined with those before it.
  Value scanLanes(Value vector);
  /// Whether elements may be combined with others first than those before.
  /// Running sums of f64 could then overflow, and those of less cannot.
  bool mayReassociate() const { return !rounds || !element.isF64(); }
  /// How many may be combined first: products of eight floats of f32 are within
  /// the range of f64.
  int64_t getMostLanes() const {
    return combining == CombiningKind::MUL && rounds && isa<FloatType>(element)
               ? 8
               : std::numeric_limits<int64_t>::max();
  }

private:
  Value convert(Value value, Type to);

  KernelBuilder &b;
  Type element;
  CombiningKind combining;
  bool rounds;
  Type type;
  /// A number that changes no other one.
  TypedAttr neutral;
};

class ScanBuilder {
public:
  ScanBuilder(KernelBuilder &b, const ScanRegion &region);

  void build(int64_t grain);

private:
  /// Elements whose first is in a column of a row: [outer, length, inner].
  /// Neighbors are those in the next columns, or those in the next rows.
  struct Position {
    Value outer, column, inner;
    enum { columns = 1, rows = 2 } neighbors;
  };
  Value load(const Elements::Leaf &leaf, const Position &at, int64_t width);
  /// All scans and results at one position. `state` are the running reductions
  /// before it; returns those after it.
  SmallVector<Value> step(const Position &at, int64_t width, ValueRange state);
  /// Rows [first, first + count), each in vectors of columns.
  void scanRows(Value first, int64_t count);
  /// Rows [begin, begin + width), whose elements are adjacent.
  void scanTogether(Value begin, int64_t width);

  KernelBuilder &b;
  const ScanRegion &region;
  const RowsOf &rows;
  SmallVector<Running> running;
  /// Of vectors of rows, and of the columns of one row.
  int64_t lanes, rowLanes;
  /// Rows that are scanned in vectors of columns in one loop.
  int64_t rowsAtOnce;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

FailureOr<Elements> ScanRegion::plan(Value value, EmitError emitError) const {
  auto isScan = [](Value value, const StridedView &view) {
    return value.getDefiningOp<ScanOp>() && view.offset == 0 &&
           view.isRowMajor();
  };
  FailureOr<Elements> elements = Elements::plan(value, isScan, emitError);
  if (failed(elements))
    return failure();
  for (Elements::Leaf &leaf : elements->getLeaves()) {
    FailureOr<StridedView> view =
        leaf.view.reshape({rows.outer, rows.length, rows.inner});
    if (failed(view))
      return emitError() << "an operand of type " << leaf.value.getType()
                         << " must lie in rows of " << rows.length
                         << " elements at one stride";
    leaf.view = *view;
  }
  return elements;
}

/// Rows that are too few to share among threads.
static constexpr int64_t fewRows = 4;

FailureOr<ScanRegion> ScanRegion::read(FusedOp fused, EmitError emitError) {
  auto scans = fused.getBody().getOps<ScanOp>();
  if (scans.empty())
    return emitError() << "needs a 'fact.scan'";
  if (failed(requireElements(fused, emitError)))
    return failure();
  ScanOp first = *scans.begin();
  ScanRegion region{RowsOf::get(first), {}, {}};
  ArrayRef<int64_t> shape = first.getType().getShape();
  for (ScanOp scan : scans) {
    if (scan.getType().getElementType().isInteger(1))
      return emitError() << "takes numbers, not i1";
    if (scan.getKind() == ScanKind::logsumexp)
      return emitError() << "takes sums, products, maxima and minima, not "
                            "'logsumexp'";
    if (scan.getDim() != first.getDim() || scan.getType().getShape() != shape)
      return emitError() << "needs scans of one shape over one dimension";
    FailureOr<Elements> elements = region.plan(scan.getOperand(), emitError);
    if (failed(elements))
      return failure();
    region.scans.emplace_back(scan, std::move(*elements));
  }
  for (Value yielded : fused.getYield()->getOperands()) {
    if (cast<RankedTensorType>(yielded.getType()).getShape() != shape)
      return emitError() << "needs results of the shape of its scans";
    FailureOr<Elements> elements = region.plan(yielded, emitError);
    if (failed(elements))
      return failure();
    region.results.push_back(std::move(*elements));
  }
  auto computes = [](const Elements &elements) { return elements.computes(); };
  if (region.rows.countRows() < fewRows &&
      first.getType().getNumElements() > mostComputed &&
      (llvm::any_of(llvm::make_second_range(region.scans), computes) ||
       llvm::any_of(region.results, computes)))
    return emitError() << "computes at most " << mostComputed
                       << " elements of fewer than " << fewRows
                       << " rows, of which " << first.getType().getNumElements()
                       << " are needed";
  return region;
}

//===----------------------------------------------------------------------===//
// Running reductions
//===----------------------------------------------------------------------===//

static CombiningKind getCombining(ScanKind kind, bool isFloat) {
  switch (kind) {
  case ScanKind::sum:
    return CombiningKind::ADD;
  case ScanKind::prod:
    return CombiningKind::MUL;
  case ScanKind::max:
    return isFloat ? CombiningKind::MAXIMUMF : CombiningKind::MAXSI;
  case ScanKind::min:
    return isFloat ? CombiningKind::MINIMUMF : CombiningKind::MINSI;
  case ScanKind::logsumexp:
    break;
  }
  llvm_unreachable("no kind of a combination");
}

static TypedAttr getNeutral(Builder &b, ScanKind kind, Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned bits = integer.getWidth();
    return b.getIntegerAttr(type, kind == ScanKind::sum    ? APInt(bits, 0)
                                  : kind == ScanKind::prod ? APInt(bits, 1)
                                  : kind == ScanKind::max
                                      ? APInt::getSignedMinValue(bits)
                                      : APInt::getSignedMaxValue(bits));
  }
  double infinity = std::numeric_limits<double>::infinity();
  return b.getFloatAttr(type, kind == ScanKind::sum    ? 0
                              : kind == ScanKind::prod ? 1
                              : kind == ScanKind::max  ? -infinity
                                                       : infinity);
}

/// A chain of as many roundings as a row is long needs f64, which PyTorch uses
/// on CPUs too.
static Type getRunningType(bool rounds, Type element) {
  if (rounds && isa<FloatType>(element))
    return Float64Type::get(element.getContext());
  return getComputeType(element);
}

Running::Running(KernelBuilder &b, ScanOp op)
    : b(b), element(op.getType().getElementType()),
      combining(getCombining(op.getKind(), isa<FloatType>(element))),
      rounds(op.getKind() == ScanKind::sum || op.getKind() == ScanKind::prod),
      type(getRunningType(rounds, element)),
      neutral(::getNeutral(b, op.getKind(), type)) {}

Value Running::convert(Value value, Type to) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Type from = getElementTypeOrSelf(value.getType());
  Type result = b.withWidth(to, vector ? vector.getNumElements() : 0);
  if (from == to)
    return value;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, result, value);
  return arith::TruncFOp::create(b, result, value);
}

Value Running::widen(Value value) { return convert(value, type); }

Value Running::narrow(Value value) {
  return convert(value, getComputeType(element));
}

Value Running::scanLanes(Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  Value none = b.splat(getNeutral(), lanes);
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int64_t> places;
    for (int64_t i = 0; i < lanes; ++i)
      places.push_back(i < distance ? lanes + i : i - distance);
    Value before = vector::ShuffleOp::create(b, vector, none, places);
    vector = combineLanes(before, vector);
  }
  return vector;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

ScanBuilder::ScanBuilder(KernelBuilder &b, const ScanRegion &region)
    : b(b), region(region), rows(region.rows) {
  for (const auto &[scan, elements] : region.scans)
    running.emplace_back(b, scan);
  // One register of the widest type.
  lanes = b.getRegisterLanes(running.front().getType());
  for (const Running &each : running)
    lanes = std::min(lanes, b.getRegisterLanes(each.getType()));
  // Two where ops compute elements, which are narrower than running sums.
  bool computes = false;
  for (const auto &[scan, elements] : region.scans)
    computes |= !elements.isLeaf();
  for (const Elements &elements : region.results)
    computes |= !elements.isLeaf();
  // Of short registers, enough for eight lanes: most steps between lanes are
  // then between registers, which takes no shuffle, and one row has enough to
  // do. Rows side by side would evict each other from the first cache, if a
  // power of two is their length.
  bool isNarrow = b.getCpu().getVectorBytes() == 16;
  rowLanes = computes ? 2 * lanes : lanes;
  if (isNarrow)
    rowLanes = std::max<int64_t>(rowLanes, 8);
  rowsAtOnce = isNarrow ? 1 : 4;
  for (const Running &each : running)
    rowLanes = std::min(rowLanes, each.getMostLanes());
}

Value ScanBuilder::load(const Elements::Leaf &leaf, const Position &at,
                        int64_t width) {
  Value offset = b.integer(leaf.view.offset);
  ArrayRef<int64_t> strides = leaf.view.strides;
  Value coordinates[] = {at.outer, at.column, at.inner};
  for (auto [coordinate, stride] : llvm::zip_equal(coordinates, strides))
    if (stride != 0)
      offset = b.add(offset, b.mul(coordinate, stride));
  return b.load(b.getPointer(leaf.value), getElementTypeOrSelf(leaf.value),
                offset, width, strides[at.neighbors]);
}

SmallVector<Value> ScanBuilder::step(const Position &at, int64_t width,
                                     ValueRange state) {
  DenseMap<Value, Value> scanned;
  SmallVector<Value> next;
  auto read = [&](const Elements::Leaf &leaf) {
    return leaf.isAnchor ? scanned.lookup(leaf.value) : load(leaf, at, width);
  };
  bool isRow = at.neighbors == Position::columns;
  for (auto [i, scan] : llvm::enumerate(region.scans)) {
    auto [op, operand] = scan;
    Value x = running[i].widen(operand.build(b, width, read));
    Value before = state[i];
    if (isRow && width) {
      x = running[i].scanLanes(x);
      before = b.splat(before, width);
    }
    Value result = running[i].combine(before, x);
    scanned[op.getResult()] = running[i].narrow(result);
    next.push_back(isRow && width ? b.lane(result, width - 1) : result);
  }
  Value offset =
      b.add(b.mul(b.add(b.mul(at.outer, rows.length), at.column), rows.inner),
            at.inner);
  for (auto [i, elements] : llvm::enumerate(region.results))
    b.store(elements.build(b, width, read), b.getResultPointer(i),
            getElementTypeOrSelf(b.getFused()->getResult(i)), offset);
  return next;
}

void ScanBuilder::scanRows(Value begin, int64_t count) {
  SmallVector<Value> first;
  for (int64_t i = 0; i < count; ++i)
    for (Running &each : running)
      first.push_back(each.getNeutral());
  Value inner = b.integer(0);
  b.columns(
      b.integer(0), b.integer(rows.length), rowLanes, first,
      [&](Value column, int64_t width, ValueRange before) {
        SmallVector<Value> next;
        for (int64_t i = 0; i < count; ++i)
          llvm::append_range(
              next,
              step({b.add(begin, i), column, inner, Position::columns}, width,
                   before.slice(i * running.size(), running.size())));
        return next;
      },
      [](ValueRange last) { return SmallVector<Value>(last); });
}

void ScanBuilder::scanTogether(Value begin, int64_t width) {
  SmallVector<Value> first;
  for (Running &each : running)
    first.push_back(b.splat(each.getNeutral(), width));
  Value outer = b.div(begin, rows.inner), inner = b.rem(begin, rows.inner);
  b.loop(b.integer(0), b.integer(rows.length), 1, first,
         [&](Value column, ValueRange before) {
           return step({outer, column, inner, Position::rows}, width, before);
         });
}

void ScanBuilder::build(int64_t grain) {
  // Four registers, so that the steps of one do not wait for each other.
  int64_t together =
      std::min<int64_t>(llvm::bit_floor<uint64_t>(rows.inner), 4 * lanes);
  bool inColumns =
      rows.inner == 1 && llvm::all_of(running, [](const Running &each) {
        return each.mayReassociate();
      });
  // Blocks of rows of a run, which are scanned together.
  int64_t run = inColumns ? rows.outer : rows.inner;
  int64_t block = inColumns ? std::min({run, grain, rowsAtOnce}) : together;
  int64_t blocks = rows.countRows() / run * (run / block);
  grain = std::max<int64_t>(grain / block, 1);
  b.getLayout().tiles = ceilDivide(blocks, grain);
  Value from = b.mul(b.beginTile(), grain);
  b.loop(from, b.min(b.add(from, grain), blocks), 1, [&](Value index) {
    b.blockOfRun(index, run, block, [&](Value first) {
      if (inColumns)
        scanRows(first, block);
      else
        scanTogether(first, together == 1 ? 0 : together);
    });
  });
  b.endFunction();
}

void ScanPlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  ScanBuilder(b, region).build(cast<HostRowsAttr>(schedule).getGrain());
}

void host::registerScanFamily(DialectRegistry &registry) {
  registerFamily<ScanFamily>(registry);
}
