//===- Scan.cpp - Running reductions --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row whose elements are adjacent is scanned in vectors: each lane combines
// those before it in log2(lanes) steps, and then what came before the vector.
// Where neighboring rows are adjacent, each lane scans a row of its own.
//
//===----------------------------------------------------------------------===//

#include "RowsPlan.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

using vector::CombiningKind;

namespace {
class ScanPlan : public RowsPlan<RowsOf, 16384> {
public:
  using RowsPlan::RowsPlan;

  static FailureOr<RowsOf> read(FusedOp fused, EmitError emitError);

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;
};

class ScanFamily : public FamilyOf<ScanPlan> {
public:
  ScanFamily() : FamilyOf(scanRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Sums, products, maxima and minima of numbers.";
  }
};

class ScanBuilder {
public:
  ScanBuilder(KernelBuilder &b, const RowsOf &rows, ScanKind kind);

  void build(int64_t grain);

private:
  Value combine(Value x, Value y) {
    return vector::makeArithReduction(b, b.getLoc(), combining, x, y);
  }
  /// Elements in the type of the running reduction, and back.
  Value load(Value offset, int64_t width);
  void store(Value value, Value offset);
  /// Each lane combined with those before it.
  Value scanLanes(Value vector, int64_t lanes);
  void scanRow(Value row);
  /// Whether elements may be combined with others first than those before.
  /// Running sums of f64 could then overflow, and those of less cannot.
  bool mayReassociate() const { return !rounds || !rows.element.isF64(); }
  /// Rows [begin, begin + width), whose elements are adjacent.
  void scanTogether(Value begin, int64_t width);

  KernelBuilder &b;
  RowsOf rows;
  CombiningKind combining;
  bool rounds;
  Type running;
  /// A number that changes no other one.
  TypedAttr neutral;
};
} // namespace

FailureOr<RowsOf> ScanPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<RowsOf> rows = RowsOf::read<ScanOp>(fused, emitError);
  if (failed(rows))
    return failure();
  if (rows->element.isInteger(1))
    return emitError() << "takes numbers, not i1";
  if (getOnly<ScanOp>(fused).getKind() == ScanKind::logsumexp)
    return emitError() << "takes sums, products, maxima and minima, not "
                          "'logsumexp'";
  return rows;
}

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

ScanBuilder::ScanBuilder(KernelBuilder &b, const RowsOf &rows, ScanKind kind)
    : b(b), rows(rows),
      combining(getCombining(kind, isa<FloatType>(rows.element))),
      rounds(kind == ScanKind::sum || kind == ScanKind::prod),
      running(getRunningType(rounds, rows.element)),
      neutral(getNeutral(b, kind, running)) {}

Value ScanBuilder::load(Value offset, int64_t width) {
  Value operand = b.getFused().getBody().getArgument(0);
  Value value = b.load(b.getPointer(operand), rows.element, offset, width);
  if (running == getComputeType(rows.element))
    return value;
  return arith::ExtFOp::create(b, b.withWidth(running, width), value);
}

void ScanBuilder::store(Value value, Value offset) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Type compute = getComputeType(rows.element);
  if (running != compute)
    value = arith::TruncFOp::create(
        b, b.withWidth(compute, vector ? vector.getNumElements() : 0), value);
  b.store(value, b.getResultPointer(0), rows.element, offset);
}

Value ScanBuilder::scanLanes(Value vector, int64_t lanes) {
  Value none = b.splat(arith::ConstantOp::create(b, neutral), lanes);
  for (int64_t distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int64_t> places;
    for (int64_t i = 0; i < lanes; ++i)
      places.push_back(i < distance ? lanes + i : i - distance);
    Value before = vector::ShuffleOp::create(b, vector, none, places);
    vector = combine(before, vector);
  }
  return vector;
}

void ScanBuilder::scanRow(Value row) {
  Value begin = b.mul(row, rows.length);
  Value first = arith::ConstantOp::create(b, neutral);
  b.columns(
      b.integer(0), b.integer(rows.length), b.getRegisterLanes(running), first,
      [&](Value column, int64_t width, ValueRange before) {
        Value offset = b.add(begin, column);
        Value x = load(offset, width);
        if (width)
          x = scanLanes(x, width);
        Value result = combine(b.splat(before[0], width), x);
        store(result, offset);
        return SmallVector<Value>{width ? b.lane(result, width - 1) : result};
      },
      [](ValueRange last) { return SmallVector<Value>(last); });
}

void ScanBuilder::scanTogether(Value begin, int64_t width) {
  Value first = b.splat(arith::ConstantOp::create(b, neutral), width);
  Value offset =
      b.add(b.mul(b.div(begin, rows.inner), rows.length * rows.inner),
            b.rem(begin, rows.inner));
  b.loop(b.integer(0), b.integer(rows.length), 1, first,
         [&](Value i, ValueRange before) {
           Value at = b.add(offset, b.mul(i, rows.inner));
           Value result = combine(before[0], load(at, width));
           store(result, at);
           return SmallVector<Value>{result};
         });
}

void ScanBuilder::build(int64_t grain) {
  // Four registers, so that the steps of one do not wait for each other.
  int64_t together = std::min<int64_t>(llvm::bit_floor<uint64_t>(rows.inner),
                                       4 * b.getRegisterLanes(running));
  int64_t perRun = ceilDivide(rows.inner, together);
  int64_t blocks = rows.outer * perRun;
  grain = std::max<int64_t>(grain / together, 1);
  b.getLayout().tiles = ceilDivide(blocks, grain);
  Value from = b.mul(b.beginTile(), grain);
  b.loop(from, b.min(b.add(from, grain), blocks), 1, [&](Value block) {
    if (rows.inner == 1 && mayReassociate())
      return scanRow(block);
    // The last block ends with the rows, and can share some with the one
    // before.
    Value first =
        b.min(b.mul(b.rem(block, perRun), together), rows.inner - together);
    scanTogether(b.add(b.mul(b.div(block, perRun), rows.inner), first),
                 together == 1 ? 0 : together);
  });
  b.endFunction();
}

void ScanPlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  ScanKind kind = getOnly<ScanOp>(b.getFused()).getKind();
  ScanBuilder(b, rows, kind).build(cast<HostRowsAttr>(schedule).getGrain());
}

void host::registerScanFamily(DialectRegistry &registry) {
  registerFamily<ScanFamily>(registry);
}
