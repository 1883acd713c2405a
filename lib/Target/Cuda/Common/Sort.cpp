//===- Sort.cpp - Places of sorted rows -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowsOf.h"

using namespace mlir;
using namespace fact;

namespace {
class SortPlan : public Plan {
public:
  SortPlan(const Family &family, FusedOp fused,
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
  ArgsortOp getOp() const { return getOnly<ArgsortOp>(fused); }
  int64_t getCount() const {
    ArgsortOp op = getOp();
    return op.getType().getDimSize(op.getDim());
  }
  /// An element and its place.
  int64_t getKeyBytes() const {
    return getStorageBytes(rows.element) == 8 ? 16 : 8;
  }
  int64_t countRuns(int64_t tile) const {
    return llvm::divideCeilSigned(rows.length, tile);
  }

  RowsOf rows;
};

class SortFamily : public FamilyOf<SortPlan> {
public:
  SortFamily() : FamilyOf(sortRule, "cuda", {&CudaSortAttr::kind}) {}
};
} // namespace

FailureOr<RowsOf> SortPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<RowsOf> rows = RowsOf::read<ArgsortOp>(fused, emitError);
  if (succeeded(rows) && rows->length >= int64_t(1) << 32)
    return emitError() << "a row has less than 2^32 elements, not "
                       << rows->length;
  return rows;
}

LogicalResult SortPlan::checkLimits(ScheduleAttr schedule,
                                    EmitError emitError) const {
  auto own = cast<CudaSortAttr>(schedule);
  int64_t elements = std::max<int64_t>(own.getTile(), 1024);
  if (failed(requireSharedMemory(elements * getKeyBytes(), machine, emitError)))
    return failure();
  if (rows.countRows() * countRuns(own.getTile()) >= INT32_MAX)
    return emitError() << "has too many rows for one grid: "
                       << rows.countRows();
  return success();
}

SpaceAttrInterface SortPlan::getSpace() const {
  int64_t whole =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(rows.length), 32, 16384);
  while (whole > 1024 && whole * getKeyBytes() > machine.sharedMemoryBytes)
    whole /= 2;
  // Long rows also as short runs: a network's steps grow faster than merges.
  llvm::SmallSetVector<int64_t, 3> tiles;
  tiles.insert(whole);
  for (int64_t tile : {4096, 2048})
    tiles.insert(std::min(whole, tile));
  SmallVector<int64_t> threads{512, 1024};
  if (whole <= 1024)
    threads = {256, 512};
  return CudaSortAttr::getSpace(fused.getContext(), tiles.getArrayRef(),
                                threads);
}

double SortPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaSortAttr>(schedule);
  int64_t tile = own.getTile(), runs = countRuns(tile);
  double elements = double(rows.countRows()) * runs * tile;
  // A comparison is about 12 instructions, with accesses of shared memory.
  double stages = llvm::Log2_64(tile) * (llvm::Log2_64(tile) + 1) / 2.0;
  double rate = 128.0 * machine.clock * machine.multiprocessors;
  double resident =
      std::min(1.0, machine.sharedMemoryBytes /
                        double(std::max<int64_t>(tile, 1024) * getKeyBytes()) *
                        double(own.getThreads()) / 2048);
  resident *= std::min(1.0, elements / std::max<int64_t>(tile, 1024) /
                                machine.multiprocessors);
  double seconds = elements / 2 * stages * 12 / (rate * resident);
  seconds += elements * getStorageBytes(rows.element) / machine.bandwidth;
  // Merges search in the cache.
  double kept = std::min(getCount(), tile) / double(tile);
  for (int64_t count = runs; count > 1; count = (count + 1) / 2)
    seconds += machine.launchSeconds +
               elements * kept * 8 * getKeyBytes() / machine.bandwidth;
  return 1e6 * (seconds + machine.launchSeconds);
}

LogicalResult SortPlan::emit(ArrayRef<KernelVariant> variants,
                             KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaSortAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Sort.cuh");
  os << "using Kernel = Sort<" << rows << ", " << getElementName(rows.element)
     << ", " << getCount() << ", /*Descending=*/"
     << (getOp().getDescending() ? "true" : "false")
     << ",\n                    SortSchedule<" << own.getTile() << ", "
     << own.getThreads() << ">>;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerSortFamily(DialectRegistry &registry) {
  registerFamily<SortFamily>(registry);
}
