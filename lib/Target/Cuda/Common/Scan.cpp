//===- Scan.cpp - Running reductions --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One scan, with the pointwise ops and views before it and after it.
//
//===----------------------------------------------------------------------===//

#include "RowsOf.h"

using namespace mlir;
using namespace fact;

namespace {
/// A scan as `ScanRows` of ScanRows.cuh.
struct FusedScan {
  RowsOf rows;
  /// What is scanned, and the results.
  ScalarFunction prologue, epilogue;
  /// Views of [outer, inner, length].
  SmallVector<StridedView> inputs, operands, results;

  static int64_t getBytes(const StridedView &view) {
    return getStorageBytes(getTensorType(view.base).getElementType());
  }
  /// Of what a row reads or writes per element; what rows or elements share is
  /// in the cache.
  static int64_t countBytes(ArrayRef<StridedView> views) {
    int64_t bytes = 0;
    for (const StridedView &view : views) {
      bool isShared = false;
      for (auto [size, stride] : llvm::zip_equal(view.shape, view.strides))
        isShared |= size > 1 && stride == 0;
      bytes += isShared ? 0 : getBytes(view);
    }
    return bytes;
  }
};

class ScanPlan : public Plan {
public:
  ScanPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, FusedScan scan)
      : Plan(family, fused, machine), scan(std::move(scan)) {}

  static FailureOr<FusedScan> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t countBlocks(int64_t lanes) const {
    return llvm::divideCeilSigned(scan.rows.countRows(), blockThreads / lanes);
  }
  int64_t getVector() const;

  static constexpr int64_t blockThreads = 256;
  /// Elements of a thread at a time.
  static constexpr int64_t items = 8;

  FusedScan scan;
};

class ScanFamily : public FamilyOf<ScanPlan> {
public:
  ScanFamily() : FamilyOf(scanRule, "cuda", {&CudaScanAttr::kind}) {}

  StringRef getLimits() const override {
    return "Exactly one scan, of numbers. Every other op is pointwise or a "
           "view, and every result has the elements of the scanned tensor. No "
           "gather, concat or reduce.";
  }
};
} // namespace

/// Views of the scanned tensor as [outer, inner, length].
static LogicalResult arrange(const RowsOf &rows,
                             MutableArrayRef<StridedView> views,
                             EmitError emitError) {
  for (StridedView &view : views) {
    FailureOr<StridedView> arranged =
        view.reshape({rows.outer, rows.length, rows.inner});
    if (failed(arranged))
      return emitError() << "an operand or result of type "
                         << view.base.getType()
                         << " lies in another order than the scanned tensor";
    view = arranged->permute({0, 2, 1});
  }
  return success();
}

static SmallVector<StridedView>
getViews(ArrayRef<ScalarFunction::Argument> arguments) {
  return llvm::map_to_vector(
      arguments,
      [](const ScalarFunction::Argument &argument) { return argument.view; });
}

FailureOr<FusedScan> ScanPlan::read(FusedOp fused, EmitError emitError) {
  auto op = getOnly<ScanOp>(fused);
  if (!op)
    return emitError() << "needs exactly one 'fact.scan'";
  for (Operation &other : fused.getBodyOps())
    if (!isa<ScanOp, PointwiseOpInterface, ViewOpInterface, ConstantOp>(other))
      return emitError() << "'" << other.getName()
                         << "' is not a scan, a pointwise op or a view";
  if (failed(requireElements(fused, emitError)))
    return failure();
  RowsOf rows = RowsOf::get(op);
  if (rows.element.isInteger(1))
    return emitError() << "takes numbers, not i1";

  ArrayRef<int64_t> shape = getTensorType(op.getOperand()).getShape();
  ScalarFunction::Options options;
  options.fast = hasOnly16BitResults(fused);
  FailureOr<ScalarFunction> prologue =
      ScalarFunction::get(op.getOperand(), shape, options, emitError);
  if (failed(prologue))
    return failure();
  SmallVector<Value> values;
  SmallVector<StridedView> results;
  for (Value yielded : fused.getYield()->getOperands()) {
    FailureOr<Destination> destination = getDestination(yielded, emitError);
    if (failed(destination))
      return failure();
    FailureOr<StridedView> view = destination->view.reshape(shape);
    if (failed(view))
      return emitError() << "a result of type " << yielded.getType()
                         << " must have the elements of the scanned tensor, "
                            "whose dimensions its views keep apart";
    values.push_back(destination->value);
    results.push_back(*view);
  }
  options.leading = {op.getResult()};
  FailureOr<ScalarFunction> epilogue =
      ScalarFunction::get(values, shape, options, emitError);
  if (failed(epilogue))
    return failure();
  FusedScan scan{rows, std::move(*prologue), std::move(*epilogue), {},
                 {},   std::move(results)};
  scan.inputs = getViews(scan.prologue.getArguments());
  scan.operands = getViews(scan.epilogue.getArguments().drop_front());
  if (scan.inputs.empty())
    return emitError() << "the scanned elements are constants";
  for (auto *views : {&scan.inputs, &scan.operands, &scan.results})
    if (failed(arrange(rows, *views, emitError)))
      return failure();
  return std::move(scan);
}

/// Elements per access: 16 bytes of the widest, where rows are contiguous and
/// of whole vectors.
int64_t ScanPlan::getVector() const {
  int64_t vector = items;
  for (auto *views : {&scan.inputs, &scan.operands, &scan.results})
    for (const StridedView &view : *views)
      vector = std::min(vector, 16 / FusedScan::getBytes(view));
  while (vector > 1 && (scan.rows.inner > 1 || scan.rows.length % vector))
    vector /= 2;
  return vector;
}

LogicalResult ScanPlan::checkLimits(ScheduleAttr schedule,
                                    EmitError emitError) const {
  auto own = cast<CudaScanAttr>(schedule);
  int64_t lanes = own.getLanes(), splits = own.getSplits();
  if (splits > 1 && lanes * splits > scan.rows.length)
    return emitError() << "a row of " << scan.rows.length
                       << " elements cannot be shared by " << splits
                       << " splits of " << lanes << " lanes";
  if (countBlocks(lanes) * splits >= INT32_MAX)
    return emitError() << "has too many rows for one grid: "
                       << scan.rows.countRows();
  return success();
}

SpaceAttrInterface ScanPlan::getSpace() const {
  // As many lanes as a row has use for; across rows, neighboring threads read
  // neighboring columns.
  int64_t needed = std::min<int64_t>(
      blockThreads,
      llvm::PowerOf2Ceil(llvm::divideCeilSigned(scan.rows.length, items)));
  llvm::SmallSetVector<int64_t, 3> lanes, splits;
  if (scan.rows.inner == 1) {
    lanes.insert(needed);
    lanes.insert(std::max<int64_t>(1, needed / 4));
  } else {
    for (int64_t count : {8, 32})
      lanes.insert(std::min(count, needed));
  }
  splits.insert(1);
  int64_t missing = llvm::divideCeilSigned(4 * machine.multiprocessors,
                                           countBlocks(lanes.front()));
  int64_t most = scan.rows.length / (4 * items * lanes.front());
  splits.insert(std::min(missing, std::clamp<int64_t>(most, 1, 256)));
  return CudaScanAttr::getSpace(fused.getContext(), lanes.getArrayRef(),
                                splits.getArrayRef());
}

double ScanPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaScanAttr>(schedule);
  // Blocks that share a row read it twice. What results read again is in the
  // cache.
  double reads = own.getSplits() > 1 ? 2 : 1;
  SmallVector<StridedView> others = scan.results;
  for (const StridedView &operand : scan.operands)
    if (llvm::none_of(scan.inputs, [&](const StridedView &input) {
          return input.base == operand.base;
        }))
      others.push_back(operand);
  double bytes = double(scan.rows.countRows()) * scan.rows.length *
                 (reads * FusedScan::countBytes(scan.inputs) +
                  FusedScan::countBytes(others));
  double threads =
      double(countBlocks(own.getLanes())) * own.getSplits() * blockThreads;
  double efficiency =
      0.8 * std::min(1.0, threads / (1024.0 * machine.multiprocessors));
  double tiles =
      double(scan.rows.length) / (own.getLanes() * own.getSplits() * items);
  // A tile's latency: loads, and a barrier per step over the lanes.
  double latency = 1e-6 + 0.03e-6 * llvm::Log2_64_Ceil(own.getLanes());
  return 1e6 * (bytes / (machine.bandwidth * efficiency) + latency * tiles +
                machine.launchSeconds * (own.getSplits() > 1 ? 2 : 1));
}

static StringRef getWord(ScanKind kind) {
  switch (kind) {
  case ScanKind::sum:
    return "RunningSum";
  case ScanKind::prod:
    return "RunningProduct";
  case ScanKind::max:
    return "RunningMaximum";
  case ScanKind::min:
    return "RunningMinimum";
  case ScanKind::logsumexp:
    return "RunningLogSumExp";
  }
  llvm_unreachable("all kinds are above");
}

LogicalResult ScanPlan::emit(ArrayRef<KernelVariant> variants,
                             KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaScanAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "ScanRows.cuh");
  std::string prologue =
      printFunctors(os, scan.prologue, {}, "Prologue", 1).front();
  SmallVector<std::string> functors = printFunctors(
      os, scan.epilogue, {"scanned"}, "Epilogue", scan.results.size());
  os << "using Kernel = ScanRows<\n    " << scan.rows << ", "
     << getScalarName(getComputeType(scan.rows.element)) << ", "
     << getWord(getOnly<ScanOp>(fused).getKind()) << ", " << prologue;
  for (auto *views : {&scan.inputs, &scan.operands}) {
    os << ",\n    ";
    printOperands(os, *views);
  }
  os << ",\n    ";
  printResults(os, functors, scan.results, fused);
  os << ",\n    ScanSchedule<" << own.getLanes() << ", " << own.getSplits()
     << ", " << getVector() << ">>;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerScanFamily(DialectRegistry &registry) {
  registerFamily<ScanFamily>(registry);
}
