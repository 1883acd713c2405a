//===- Sort.cpp - Places of sorted rows -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole rows are sorted by networks and merges (Sort.cuh). The first places, or
// the last of these alone, are selected (Select.cuh).
//
//===----------------------------------------------------------------------===//

#include "RowsOf.h"
#include "fact/Target/SortedRows.h"

using namespace mlir;
using namespace fact;

namespace {
class SortPlan : public Plan {
public:
  SortPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, SortedRows rows)
      : Plan(family, fused, machine), rows(rows) {}

  static FailureOr<SortedRows> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override {
    return selects() ? getSelectSpace() : getSortSpace();
  }
  /// A network is at times faster than a selection, of short rows above all.
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t getElementBytes() const { return getStorageBytes(rows.element); }
  /// An element and its place, as in SortKeys.cuh.
  int64_t getKeyBytes() const {
    int64_t bytes = getElementBytes();
    return bytes <= 2 && rows.length < (1 << 16) ? 4 : bytes <= 4 ? 8 : 16;
  }
  int64_t getPaddedKeys() const { return llvm::PowerOf2Ceil(rows.count); }
  /// Instructions that compare and exchange two keys.
  double countComparison() const {
    return getKeyBytes() == 4 ? 2 : getKeyBytes() == 8 ? 6 : 14;
  }
  /// Instructions of all multiprocessors per second.
  double getRate() const {
    return 128.0 * machine.clock * machine.multiprocessors;
  }

  /// Whether so few places are wanted that a selection is worth its passes.
  bool selects() const;
  SpaceAttrInterface getSortSpace() const;
  SpaceAttrInterface getSelectSpace() const;

  int64_t countRuns(int64_t tile) const {
    return llvm::divideCeilSigned(rows.length, tile);
  }
  int64_t getBlockRows(CudaSortAttr schedule) const;
  int64_t getSharedBytes(CudaSortAttr schedule) const;
  LogicalResult check(CudaSortAttr schedule, EmitError emitError) const;
  double predictSeconds(CudaSortAttr schedule) const;

  int64_t getPartLength(int64_t splits) const {
    return llvm::divideCeilSigned(rows.length, splits);
  }
  /// The bytes that a thread keeps of a row's elements; 0 if it reads them
  /// again in each pass.
  int64_t getHeldBytes(CudaSelectAttr schedule) const;
  /// Whether the blocks of a row add their counts in each pass: the last place
  /// needs no elements before it.
  bool countsTogether(CudaSelectAttr schedule) const {
    return rows.onlyLast && schedule.getSplits() > 1;
  }
  int64_t getSharedBytes(CudaSelectAttr schedule) const;
  LogicalResult check(CudaSelectAttr schedule, EmitError emitError) const;
  double predictSeconds(CudaSelectAttr schedule) const;

  SortedRows rows;
};

class SortFamily : public FamilyOf<SortPlan> {
public:
  SortFamily()
      : FamilyOf(sortRule, "cuda",
                 {&CudaSortAttr::kind, &CudaSelectAttr::kind}) {}

  StringRef getLimits() const override {
    return "The `argsort`, and a `slice` of the last of its places where "
           "nothing else reads them.";
  }
};
} // namespace

FailureOr<SortedRows> SortPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<SortedRows> rows = SortedRows::read(fused, emitError);
  if (succeeded(rows) && rows->length >= int64_t(1) << 32)
    return emitError() << "a row has less than 2^32 elements, not "
                       << rows->length;
  return rows;
}

bool SortPlan::selects() const {
  if (rows.onlyLast)
    return true;
  return 2 * rows.count <= rows.length &&
         2 * getPaddedKeys() * getKeyBytes() <= machine.sharedMemoryBytes;
}

SmallVector<ScheduleAttr> SortPlan::getFixedSchedules() const {
  if (!selects() || rows.onlyLast)
    return {};
  std::optional<Prediction> sort = findBest(getSortSpace());
  std::optional<Prediction> selection = findBest(getSelectSpace());
  if (!sort ||
      (selection && sort->microseconds > 1.5 * selection->microseconds))
    return {};
  return {sort->schedule};
}

LogicalResult SortPlan::checkLimits(ScheduleAttr schedule,
                                    EmitError emitError) const {
  if (auto select = dyn_cast<CudaSelectAttr>(schedule))
    return check(select, emitError);
  return check(cast<CudaSortAttr>(schedule), emitError);
}

double SortPlan::predict(ScheduleAttr schedule) const {
  if (auto select = dyn_cast<CudaSelectAttr>(schedule))
    return 1e6 * predictSeconds(select);
  return 1e6 * predictSeconds(cast<CudaSortAttr>(schedule));
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

/// At least four warps, and of rows that lie across memory as many as share a
/// sector of 32 bytes.
int64_t SortPlan::getBlockRows(CudaSortAttr schedule) const {
  int64_t threads =
      std::max<int64_t>(1, schedule.getTile() / schedule.getItems());
  int64_t count = std::max<int64_t>(1, 128 / threads);
  if (rows.inner == 1)
    return count;
  while (count * getElementBytes() < 32 && 2 * count * threads <= 512 &&
         4 * count * schedule.getTile() * getKeyBytes() <=
             machine.sharedMemoryBytes)
    count *= 2;
  return count;
}

int64_t SortPlan::getSharedBytes(CudaSortAttr schedule) const {
  int64_t elements = getBlockRows(schedule) * schedule.getTile();
  // One key more after each 128 bytes or a thread's keys, against conflicts.
  int64_t padded = std::max(128 / getKeyBytes(), schedule.getItems());
  return (elements + elements / padded) * getKeyBytes();
}

LogicalResult SortPlan::check(CudaSortAttr schedule,
                              EmitError emitError) const {
  int64_t tile = schedule.getTile(), items = schedule.getItems();
  if (rows.onlyLast)
    return emitError() << "sorts all places: use cuda_select for the last one";
  if (items > tile || tile / items > 1024)
    return emitError() << "a block has at most 1024 threads, and a thread no "
                          "more than a tile of "
                       << tile << " elements, not " << items;
  if (items * getKeyBytes() > 256)
    return emitError() << "a thread has at most " << 256 / getKeyBytes()
                       << " keys of " << getKeyBytes() << " bytes, not "
                       << items;
  if (failed(requireSharedMemory(getSharedBytes(schedule), machine, emitError)))
    return failure();
  if (rows.countRows() * countRuns(tile) >= INT32_MAX)
    return emitError() << "has too many rows for one grid: "
                       << rows.countRows();
  return success();
}

SpaceAttrInterface SortPlan::getSortSpace() const {
  int64_t largest = getKeyBytes() == 4 ? 32768 : 16384;
  while (9 * largest / 8 * getKeyBytes() > machine.sharedMemoryBytes)
    largest /= 2;
  int64_t whole =
      std::clamp<int64_t>(llvm::PowerOf2Ceil(rows.length), 32, largest);
  // Long rows also as short runs: a network's steps grow faster than merges.
  llvm::SmallSetVector<int64_t, 3> tiles;
  tiles.insert(whole);
  for (int64_t tile : {4096, 2048})
    tiles.insert(std::min(whole, tile));
  return CudaSortAttr::getSpace(fused.getContext(), tiles.getArrayRef(),
                                {8, 16, 32});
}

double SortPlan::predictSeconds(CudaSortAttr schedule) const {
  int64_t tile = schedule.getTile(), runs = countRuns(tile);
  double elements = double(rows.countRows()) * runs * tile;
  int64_t levels = llvm::Log2_64(tile),
          bits = llvm::Log2_64(schedule.getItems());
  double comparisons = levels * (levels + 1) / 4.0;
  // Moves through shared memory, which passes 128 bytes per cycle.
  double moves = 3;
  for (int64_t level = bits + 1; level <= levels; ++level)
    moves += llvm::divideCeilSigned(level, bits);
  double work =
      24 + comparisons * countComparison() + moves * (4 + 2.0 * getKeyBytes());
  // A few warps of a multiprocessor do not hide what they wait for.
  int64_t blockRows = getBlockRows(schedule);
  int64_t threads = blockRows * tile / schedule.getItems();
  double blocks = std::min<double>(
      {std::floor(double(machine.sharedMemoryBytes) / getSharedBytes(schedule)),
       2048.0 / threads,
       65536.0 / (threads * (32 + schedule.getItems() * getKeyBytes() / 4.0)),
       std::ceil(double(rows.countRows()) * runs / blockRows /
                 machine.multiprocessors)});
  double resident = std::min(1.0, std::max(1.0, blocks) * threads / 512);
  double busy = std::min(1.0, double(rows.countRows()) * runs / blockRows /
                                  machine.multiprocessors);
  double seconds = elements * work / (getRate() * resident * busy);
  seconds += elements * getElementBytes() / machine.bandwidth;
  // Merges read and write, and search in the cache.
  double kept = std::min(rows.count, tile) / double(tile);
  for (int64_t count = runs; count > 1; count = (count + 1) / 2)
    seconds += machine.launchSeconds +
               elements * kept * 3 * getKeyBytes() / machine.bandwidth;
  return seconds + machine.launchSeconds;
}

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

int64_t SortPlan::getHeldBytes(CudaSelectAttr schedule) const {
  int64_t items = llvm::divideCeilSigned(getPartLength(schedule.getSplits()),
                                         schedule.getThreads());
  int64_t bytes = items * std::max<int64_t>(4, getElementBytes());
  int64_t limit = schedule.getThreads() * schedule.getRows() > 512 ? 64 : 128;
  return bytes <= limit && !countsTogether(schedule) ? bytes : 0;
}

int64_t SortPlan::getSharedBytes(CudaSelectAttr schedule) const {
  // A second kernel has one row per block, of the same keys.
  int64_t keys = (rows.onlyLast ? 1 : getPaddedKeys()) + 1;
  // Counters of 256 digits, and a few numbers.
  return schedule.getRows() * (keys * getKeyBytes() + int64_t{4} * 257 + 16) +
         16;
}

LogicalResult SortPlan::check(CudaSelectAttr schedule,
                              EmitError emitError) const {
  int64_t threads = schedule.getThreads() * schedule.getRows();
  int64_t splits = schedule.getSplits(), part = getPartLength(splits);
  if (threads < 32 || threads > 1024)
    return emitError() << "a block has 32 to 1024 threads, not " << threads;
  if (part * (splits - 1) >= rows.length)
    return emitError() << "a row of " << rows.length << " has no " << splits
                       << " parts";
  if (splits > 1 && !rows.onlyLast && part < rows.count)
    return emitError() << "a part of a row has at least the " << rows.count
                       << " elements that are wanted, not " << part;
  if (failed(requireSharedMemory(getSharedBytes(schedule), machine, emitError)))
    return failure();
  if (rows.countRows() * splits >= INT32_MAX)
    return emitError() << "has too many rows for one grid: "
                       << rows.countRows();
  return success();
}

SpaceAttrInterface SortPlan::getSelectSpace() const {
  SmallVector<int64_t> blockRows, splits{1}, threads;
  // Few long rows: parts for two blocks per multiprocessor.
  int64_t parts =
      llvm::divideCeilSigned(2 * machine.multiprocessors, rows.countRows());
  int64_t least =
      rows.onlyLast ? 4096 : std::max<int64_t>(8 * rows.count, 2048);
  parts = std::min(parts, rows.length / least);
  if (parts > 1)
    splits.push_back(std::min<int64_t>(parts, 1024));
  if (rows.inner > 1) {
    // Rows of a sector, and of two.
    int64_t sector = std::max<int64_t>(4, 32 / getElementBytes());
    blockRows = {8, std::min<int64_t>(sector, 32),
                 std::min<int64_t>(2 * sector, 32)};
  } else {
    blockRows = {1, 4};
  }
  // Rows that registers hold, by few threads and by more.
  int64_t held = 128 / std::max<int64_t>(4, getElementBytes());
  for (int64_t part : splits) {
    int64_t few = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeilSigned(getPartLength(part), held)),
        8, 1024);
    for (int64_t count : {few, 2 * few, 4 * few})
      if (count <= 1024 && !llvm::is_contained(threads, count))
        threads.push_back(count);
  }
  return CudaSelectAttr::getSpace(fused.getContext(), threads, blockRows,
                                  splits);
}

double SortPlan::predictSeconds(CudaSelectAttr schedule) const {
  int64_t splits = schedule.getSplits(), part = getPartLength(splits);
  int64_t threads = schedule.getThreads() * schedule.getRows();
  double elements = double(rows.countRows()) * rows.length;
  double blocks =
      std::ceil(double(rows.countRows()) * splits / schedule.getRows());
  // Most rows end before the places are counted.
  double passes = std::min<int64_t>(getElementBytes(), 3) + 1;
  double bytes = elements * getElementBytes();
  int64_t neighbors = rows.inner > 1 ? schedule.getRows() : rows.length;
  bytes *= std::max(1.0, 32.0 / (neighbors * getElementBytes()));
  int64_t held = getHeldBytes(schedule);
  if (!held)
    bytes *= passes;
  double resident = std::floor(std::min<double>(
      {32.0,
       std::floor(double(machine.sharedMemoryBytes) / getSharedBytes(schedule)),
       2048.0 / threads, 65536.0 / (threads * (32 + held / 4.0))}));
  resident = std::max(1.0, resident);
  double waves = std::ceil(blocks / (machine.multiprocessors * resident));
  // Each thread's own elements, one after the other, and barriers of all warps.
  double items = llvm::divideCeilSigned(part, schedule.getThreads());
  double barriers = 500 + 20.0 * threads / 32;
  double cycles = passes * (10 * items + barriers) + 8 * items + 1000;
  if (!rows.onlyLast) {
    int64_t keys = getPaddedKeys(), levels = llvm::Log2_64(keys);
    cycles += levels * (levels + 1) / 2.0 *
              (50 + 16.0 * keys * schedule.getRows() / threads);
  }
  double busy = std::min(1.0, blocks / machine.multiprocessors);
  // The last blocks wait for nothing but themselves.
  double seconds = std::max({(waves - 1) * cycles / machine.clock,
                             elements * (16 + 10 * passes) / (getRate() * busy),
                             bytes / (machine.bandwidth * busy)}) +
                   cycles / machine.clock;
  if (countsTogether(schedule))
    seconds += (2 + getElementBytes() + 4) * machine.launchSeconds;
  else if (splits > 1)
    seconds += machine.launchSeconds +
               (3000 + 30.0 * splits * rows.count / 256) / machine.clock;
  return seconds + machine.launchSeconds;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult SortPlan::emit(ArrayRef<KernelVariant> variants,
                             KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto select = dyn_cast<CudaSelectAttr>(schedule);
  StringRef name = !select                  ? "Sort"
                   : countsTogether(select) ? "SelectTogether"
                                            : "Select";
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, (name + ".cuh").str());
  os << "using Kernel = " << name << "<" << rows << ", "
     << getElementName(rows.element) << ", " << rows.count
     << ", /*Descending=*/" << (rows.descending ? "true" : "false")
     << ",\n    ";
  if (select) {
    if (!countsTogether(select))
      os << "/*OnlyLast=*/" << (rows.onlyLast ? "true" : "false") << ", ";
    os << "SelectSchedule<" << select.getThreads() << ", " << select.getRows()
       << ", " << select.getSplits();
  } else {
    auto own = cast<CudaSortAttr>(schedule);
    os << "SortSchedule<" << own.getTile() << ", " << own.getItems() << ", "
       << getBlockRows(own);
  }
  os << ">>;\n";
  printFooter(os, symbol);
  return success();
}

void fact::registerSortFamily(DialectRegistry &registry) {
  registerFamily<SortFamily>(registry);
}
