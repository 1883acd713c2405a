//===- Scan.cpp - Running reductions --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowsOf.h"

using namespace mlir;
using namespace fact;

namespace {
class ScanPlan : public Plan {
public:
  ScanPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, RowsOf rows)
      : Plan(family, fused, machine), rows(rows) {}

  static FailureOr<RowsOf> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t countBlocks(int64_t lanes) const {
    return llvm::divideCeilSigned(rows.countRows(), blockThreads / lanes);
  }
  int64_t getVector() const;

  static constexpr int64_t blockThreads = 256;
  /// Elements of a thread at a time.
  static constexpr int64_t items = 8;

  RowsOf rows;
};

class ScanFamily : public FamilyOf<ScanPlan> {
public:
  ScanFamily() : FamilyOf(scanRule, "cuda", {&CudaScanAttr::kind}) {}
};
} // namespace

FailureOr<RowsOf> ScanPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<RowsOf> rows = RowsOf::read<ScanOp>(fused, emitError);
  if (succeeded(rows) && rows->element.isInteger(1))
    return emitError() << "takes numbers, not i1";
  return rows;
}

/// Elements per access: 16 bytes, where rows are contiguous and aligned.
int64_t ScanPlan::getVector() const {
  int64_t vector = 16 / getStorageBytes(rows.element);
  while (vector > 1 && (rows.inner > 1 || rows.length % vector))
    vector /= 2;
  return std::min(vector, items);
}

LogicalResult ScanPlan::checkLimits(ScheduleAttr schedule,
                                    EmitError emitError) const {
  auto own = cast<CudaScanAttr>(schedule);
  int64_t lanes = own.getLanes(), splits = own.getSplits();
  if (splits > 1 && lanes * splits > rows.length)
    return emitError() << "a row of " << rows.length
                       << " elements cannot be shared by " << splits
                       << " splits of " << lanes << " lanes";
  if (countBlocks(lanes) * splits >= INT32_MAX)
    return emitError() << "has too many rows for one grid: "
                       << rows.countRows();
  return success();
}

SpaceAttrInterface ScanPlan::getSpace() const {
  // As many lanes as a row has use for; across rows, neighboring threads read
  // neighboring columns.
  int64_t needed = std::min<int64_t>(
      blockThreads,
      llvm::PowerOf2Ceil(llvm::divideCeilSigned(rows.length, items)));
  llvm::SmallSetVector<int64_t, 3> lanes, splits;
  if (rows.inner == 1) {
    lanes.insert(needed);
    lanes.insert(std::max<int64_t>(1, needed / 4));
  } else {
    for (int64_t count : {8, 32})
      lanes.insert(std::min(count, needed));
  }
  splits.insert(1);
  int64_t missing = llvm::divideCeilSigned(4 * machine.multiprocessors,
                                           countBlocks(lanes.front()));
  int64_t most = rows.length / (4 * items * lanes.front());
  splits.insert(std::min(missing, std::clamp<int64_t>(most, 1, 256)));
  return CudaScanAttr::getSpace(fused.getContext(), lanes.getArrayRef(),
                                splits.getArrayRef());
}

double ScanPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaScanAttr>(schedule);
  double bytes =
      double(rows.countRows()) * rows.length * getStorageBytes(rows.element);
  double threads =
      double(countBlocks(own.getLanes())) * own.getSplits() * blockThreads;
  double efficiency =
      0.8 * std::min(1.0, threads / (1024.0 * machine.multiprocessors));
  double passes = own.getSplits() > 1 ? 3 : 2;
  double tiles =
      double(rows.length) / (own.getLanes() * own.getSplits() * items);
  // A tile's latency: loads, and a barrier per step over the lanes.
  double latency = 1e-6 + 0.03e-6 * llvm::Log2_64_Ceil(own.getLanes());
  return 1e6 *
         (passes * bytes / (machine.bandwidth * efficiency) + latency * tiles +
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
  printHeader(os, fused, schedule, symbol, "Scan.cuh");
  os << "using Kernel = Scan<" << rows << ", " << getElementName(rows.element)
     << ", " << getWord(getOnly<ScanOp>(fused).getKind())
     << ",\n                    ScanSchedule<" << own.getLanes() << ", "
     << own.getSplits() << ", " << getVector() << ">>;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerScanFamily(DialectRegistry &registry) {
  registerFamily<ScanFamily>(registry);
}
