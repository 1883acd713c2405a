//===- StagedReduction.cpp - Reductions over any dimension ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over the same dimensions of one shape, each of a pointwise
// function of the operands and of the reductions before it, and pointwise ops
// on all of that. A softmax is two such reductions. Reductions that do not need
// each other are one pass. Columns are read in vectors wherever their dimension
// lies.
//
//===----------------------------------------------------------------------===//

#include "StagedReduction.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
class StagedReductionPlan : public Plan {
public:
  StagedReductionPlan(const Family &family, FusedOp fused,
                      const MachineDescription &machine,
                      StagedReduction reduction)
      : Plan(family, fused, machine), reduction(std::move(reduction)) {}

  static FailureOr<StagedReduction> read(FusedOp fused, EmitError emitError) {
    return StagedReduction::read(fused, emitError);
  }

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  double getScatteredBytes() const override {
    return countElements() * reduction.getScatteredBytes();
  }
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  double countElements() const {
    return double(reduction.outer) * reduction.repeats * reduction.middle *
           reduction.length * reduction.inner;
  }
  int64_t countBlocks(CudaReductionAttr schedule) const {
    return llvm::divideCeilSigned(reduction.countColumns(getVector(schedule)),
                                  schedule.getColumns()) *
           schedule.getSplits();
  }

  /// Of the operands that a block reads, in each pass.
  int64_t getBlockBytes(CudaReductionAttr schedule) const {
    return schedule.getColumns() * getVector(schedule) *
           llvm::divideCeilSigned(reduction.getLength(), schedule.getSplits()) *
           reduction.getOperandBytes();
  }
  /// Blocks that share columns launch once per pass, and once more for results
  /// of columns alone.
  int64_t countLaunches(CudaReductionAttr schedule) const {
    if (schedule.getSplits() == 1)
      return 1;
    return countPasses(schedule) + reduction.full.views.empty();
  }
  /// What is held is reduced stage by stage: there is nothing to read again.
  static bool joins(CudaReductionAttr schedule) { return !schedule.isHeld(); }
  int64_t countPasses(CudaReductionAttr schedule) const {
    return reduction.countPasses(joins(schedule));
  }

  /// Whether operands are read once, and too many for the cache.
  bool streams(CudaReductionAttr schedule) const {
    bool once =
        schedule.isHeld() || schedule.isShared() || countPasses(schedule) == 1;
    return once && passesThroughCache(
                       countElements() * reduction.getOperandBytes(),
                       countElements() * reduction.getResultBytes(), machine);
  }

  /// Bytes of operands that a thread may hold.
  static int64_t getHeldLimit(CudaReductionAttr schedule) {
    return schedule.getColumns() * schedule.getLanes() > 512 ? 128 : 256;
  }
  int64_t getHeldBytes(CudaReductionAttr schedule, int64_t vector) const {
    return llvm::divideCeilSigned(reduction.getLength(), schedule.getLanes()) *
           reduction.getHeldBytes(vector);
  }
  /// Neighboring columns of a thread: fewer where it holds long parts of them.
  int64_t getVector(CudaReductionAttr schedule) const {
    int64_t vector = reduction.vector;
    if (schedule.isHeld() && !reduction.folds())
      while (vector > 1 &&
             getHeldBytes(schedule, vector) > getHeldLimit(schedule))
        vector /= 2;
    return vector;
  }
  /// Of shared memory: `shared_bytes` of StagedReduction.cuh, and those of them
  /// that keep operands.
  int64_t getScratchBytes(CudaReductionAttr schedule) const;
  int64_t getKeptBytes(CudaReductionAttr schedule) const;

  StagedReduction reduction;
};

class StagedReductionFamily : public FamilyOf<StagedReductionPlan> {
public:
  StagedReductionFamily()
      : FamilyOf(reductionRule, "cuda", {&CudaReductionAttr::kind}) {}

  StringRef getLimits() const override {
    return "All reductions are over the same dimensions of tensors of one "
           "shape, and these dimensions lie together or in two places in "
           "memory; a norm is two reductions, a softmax is two. Reductions "
           "that need each other are one kernel only over rows that fit in "
           "128 KB (32768 elements of f32), or as a mean with the squares "
           "around it or a maximum with the exponentials below it. "
           "Every result has the elements of the reduced tensor, or one "
           "per reduction. A reduction of a reduction (a mean of row "
           "sums) is another pattern. A gather is read in place, if its "
           "source and its indices come from outside of the pattern or "
           "are pointwise ops there. No matmul, concat, pad or scan.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult StagedReductionPlan::checkLimits(ScheduleAttr schedule,
                                               EmitError emitError) const {
  auto own = cast<CudaReductionAttr>(schedule);
  int64_t lanes = own.getLanes(), threads = own.getColumns() * lanes;
  if (threads < 32 || threads > 1024)
    return emitError() << "a block has 32 to 1024 threads, not " << threads;
  if (own.getSplits() > 1) {
    if (own.isHeld() || own.isShared())
      return emitError() << "blocks that share a column hold nothing";
    if (lanes * own.getSplits() > reduction.getLength())
      return emitError() << "a column of " << reduction.getLength()
                         << " elements cannot be shared by " << own.getSplits()
                         << " splits of " << lanes << " lanes";
  }
  if ((own.isHeld() || own.isShared()) && countPasses(own) == 1)
    return emitError() << "a single pass has nothing to hold";
  if (own.isHeld()) {
    int64_t limit = getHeldLimit(own);
    int64_t bytes = getHeldBytes(own, getVector(own));
    if (bytes > limit)
      return emitError() << "a thread holds at most " << limit
                         << " bytes of operands, not " << bytes;
  }
  // Few blocks leave most multiprocessors idle in every pass.
  constexpr int64_t longestRead = 512 << 10;
  int64_t blockBytes = getBlockBytes(own);
  if (countPasses(own) > 1 && blockBytes > longestRead &&
      countBlocks(own) < machine.multiprocessors)
    return emitError() << "fewer blocks than multiprocessors read at most "
                       << longestRead << " bytes each in several passes, not "
                       << blockBytes;
  if (countBlocks(own) >= INT32_MAX)
    return emitError() << "has too many columns for one grid: "
                       << reduction.countColumns(getVector(own));
  return requireSharedMemory(getScratchBytes(own), machine, emitError);
}

int64_t StagedReductionPlan::getScratchBytes(CudaReductionAttr schedule) const {
  int64_t lanes = schedule.getLanes(), columns = schedule.getColumns();
  int64_t width = reduction.folds() ? 1 : getVector(schedule);
  int64_t largest = 0;
  for (StagedReduction::Stage stage : reduction.stages) {
    int64_t state = StagedReduction::getStateBytes(stage, joins(schedule));
    // States of less than a word are not shuffled.
    int64_t apart = reduction.folds() ? 1 : columns;
    int64_t perWarp =
        state < 4 ? 1 : std::min(lanes, std::max<int64_t>(1, 32 / apart));
    if (lanes > perWarp)
      largest = std::max(largest, lanes / perWarp * columns * width * state);
  }
  // Stages take turns with two regions of whole vectors.
  int64_t regions = reduction.stages.size() > 1 ? 2 : 1;
  return regions * llvm::alignTo(largest, 16) + getKeptBytes(schedule);
}

/// Of all operands that are not broadcast.
int64_t StagedReductionPlan::getKeptBytes(CudaReductionAttr schedule) const {
  if (!schedule.isShared())
    return 0;
  int64_t places =
      llvm::divideCeilSigned(reduction.getLength(), schedule.getLanes()) *
      schedule.getLanes() * schedule.getColumns() * getVector(schedule);
  GatheringReads reads = reduction.getReads();
  int64_t bytes = 0;
  for (auto [i, operand] : llvm::enumerate(reduction.operands)) {
    bool isKept = !reads.isGathered(i);
    for (auto [size, stride] : llvm::zip_equal(operand.shape, operand.strides))
      isKept &= size == 1 || stride != 0;
    if (isKept)
      bytes += llvm::alignTo(
          places *
              getStorageBytes(getTensorType(operand.base).getElementType()),
          16);
  }
  return bytes;
}

SpaceAttrInterface StagedReductionPlan::getSpace() const {
  int64_t length = reduction.getLength();
  int64_t longest = llvm::PowerOf2Ceil(length);
  llvm::SmallSetVector<int64_t, 4> columns, lanes, splits;
  SmallVector<ReductionOperands> operands{ReductionOperands::read};
  // Columns are better held than joined.
  bool isMultiPass = reduction.countPasses(/*joins=*/reduction.folds()) > 1;
  if (reduction.folds()) {
    // A warp's loads are neighbors; short rows share a block.
    int64_t most =
        std::clamp<int64_t>(longest / 2, 1, isMultiPass ? 1024 : 512);
    lanes.insert(most);
    lanes.insert(std::max<int64_t>(1, most / 4));
    // A warp needs no barrier, as long as a row fits its registers.
    constexpr int64_t warp = 32, mostVectors = 8;
    if (most > warp && length <= mostVectors * warp)
      lanes.insert(warp);
    for (int64_t count : lanes)
      columns.insert(std::max<int64_t>(1, 128 / count));
  } else {
    // 128 bytes of a row are one line; short columns share a block.
    int64_t bytes = reduction.vector * reduction.getOperandBytes();
    int64_t line = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(128 / bytes), 1,
        llvm::PowerOf2Ceil(reduction.inner / reduction.vector));
    int64_t least = std::max(line, 128 / std::min<int64_t>(longest, 128));
    columns.insert(least);
    for (int64_t threads : {256, 512, 1024})
      lanes.insert(std::clamp<int64_t>(threads / least, 1, longest));
    // Lanes of short columns hold several elements each, or load several
    // before they wait.
    if (isMultiPass && longest <= 64)
      lanes.insert(std::max<int64_t>(1, longest / 4));
    if (!isMultiPass && longest <= 256)
      lanes.insert(std::max<int64_t>(1, longest / 8));
    // Few columns that cannot be split are spread over more blocks.
    bool isNarrow = isMultiPass && reduction.countColumns(reduction.vector) <
                                       least * machine.multiprocessors;
    if (isNarrow && least >= 4)
      lanes.insert(std::min<int64_t>(4096 / least, longest));
    columns.insert(isNarrow ? std::max<int64_t>(1, least / 4)
                            : std::min<int64_t>(256, 4 * least));
    // Half a line each, so that several blocks share a multiprocessor.
    if (isMultiPass && least >= 4)
      columns.insert(least / 2);
    // A thread, or a few, hold whole columns: nothing waits for others.
    constexpr int64_t mostElements = 64;
    if (isMultiPass && length <= 4 * mostElements) {
      lanes.insert(
          llvm::PowerOf2Ceil(llvm::divideCeilSigned(length, mostElements)));
      columns.insert(128);
    }
  }
  if (reduction.countPasses(/*joins=*/false) > 1)
    operands.push_back(ReductionOperands::held);
  // Rows that registers cannot hold.
  int64_t longestHeld = llvm::divideCeilSigned(length, 1024) *
                        reduction.getHeldBytes(reduction.vector);
  if (isMultiPass && reduction.folds() && longestHeld > 128)
    operands.push_back(ReductionOperands::shared);
  splits.insert(1);
  int64_t blocks = llvm::divideCeilSigned(
      reduction.countColumns(reduction.vector), columns.front());
  // Several passes launch again: only where blocks are few.
  if (!isMultiPass || blocks < 2 * machine.multiprocessors) {
    int64_t missing =
        llvm::divideCeilSigned(8 * machine.multiprocessors, blocks);
    int64_t most = length / (8 * (isMultiPass ? lanes.back() : lanes.front()));
    splits.insert(std::clamp<int64_t>(std::min(missing, most), 1, 1024));
  }
  return CudaReductionAttr::getSpace(fused.getContext(), columns.getArrayRef(),
                                     lanes.getArrayRef(), splits.getArrayRef(),
                                     operands);
}

double StagedReductionPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaReductionAttr>(schedule);
  int64_t vector = getVector(own);
  double elements = countElements();
  double threads = double(own.getColumns()) * own.getLanes();
  double blocks = double(countBlocks(own));
  // Threads that hold many elements are fewer.
  double steps = llvm::divideCeilSigned(reduction.getLength(),
                                        own.getLanes() * own.getSplits());
  double registers =
      std::clamp(own.isHeld() ? 32 + 1.25 * steps * vector
                              : 16 + reduction.getHeldBytes(vector) / 4.0 +
                                    double(reduction.stages.size() * vector),
                 32.0, 255.0);
  double perMultiprocessor =
      std::max(1.0, std::floor(std::min(2048.0, 65536 / registers) / threads));
  if (own.isShared())
    perMultiprocessor = std::min(
        perMultiprocessor,
        std::floor(double(machine.sharedMemoryBytes) / getScratchBytes(own)));
  double resident =
      std::min(blocks, machine.multiprocessors * perMultiprocessor);
  // Passes after the first read from the cache what fits there.
  bool isOnChip = own.isHeld() || own.isShared();
  double passes = isOnChip ? 1 : countPasses(own);
  double perPass =
      (own.getSplits() > 1 ? blocks : resident) * getBlockBytes(own);
  double again = perPass < 0.7 * machine.cacheBytes ? 0.4 : 1;
  double bytes =
      elements * ((1 + (passes - 1) * again) * reduction.getOperandBytes() +
                  reduction.getResultBytes() + reduction.getScatteredBytes());
  // Bytes in flight: four vectors per thread, more of small ones, all of what
  // is held. Multiprocessors without a block do not take part.
  double step = vector * reduction.getOperandBytes();
  double inFlight =
      step * std::min(steps, own.isHeld() ? 16.0 : std::max(4.0, 32 / step));
  double busy = std::min(resident, double(machine.multiprocessors));
  double efficiency =
      0.9 * busy / machine.multiprocessors *
      std::min(1.0, resident * threads * inFlight / busy / 32e3);
  // Blocks too small to fill a multiprocessor, parts of lines, and idle lanes.
  if (threads < 64)
    efficiency *= 0.8;
  double line = std::min(own.getColumns() * vector, reduction.inner) *
                reduction.getOperandBytes();
  if (own.getColumns() * vector < reduction.inner && line < 64)
    efficiency *= line / 64;
  // A block that is alone loads nothing while it computes, and threads that
  // hold many values are few.
  if (isOnChip && perMultiprocessor == 1)
    efficiency *= 0.85;
  double crowding = own.isHeld() && steps * vector > 32 ? 1.1 : 1;
  efficiency *= double(reduction.getLength()) /
                (steps * own.getLanes() * own.getSplits());
  double memory = bytes / (machine.bandwidth * std::max(efficiency, 1e-3));
  // Each pass that reads again computes again; launches of their own compute
  // only what they need, about half.
  double visits = own.isHeld() ? 1 : countPasses(own);
  double computed = own.getSplits() > 1 ? 0.5 * (1 + visits) : visits;
  double slots =
      visits * (2 + 4.0 / vector) +
      computed * reduction.body->getCost(reduction.stages.size()) / 2 +
      2 * reduction.stages.size();
  // Joint stages keep more than a sum, most of all for columns that have a
  // state each: the squares of 1024 columns took an H200 32 slots per element.
  for (StagedReduction::Stage stage : reduction.stages)
    if (joins(own) && stage.joint != StagedReduction::Joint::none)
      slots += reduction.folds() ? 2 : 20;
  double compute =
      elements * slots / (0.7 * 128 * machine.multiprocessors * machine.clock);
  // Warps shuffle; blocks of several warps of a column meet at two barriers.
  double together =
      reduction.folds() ? own.getLanes() : own.getLanes() * own.getColumns();
  double waits = own.getLanes() == 1 ? 0 : together > 32 ? 1e-7 : 4e-8;
  double combining =
      waits * reduction.stages.size() *
      std::ceil(blocks / (machine.multiprocessors * perMultiprocessor));
  double streaming = 0.9 * std::max(memory, compute) + 0.1 * (memory + compute);
  return 1e6 * (crowding * streaming + combining +
                machine.launchSeconds * countLaunches(own));
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// A boolean is 0 or 1, and a sum of both is 1.
StringRef fact::getReductionWord(ReduceKind kind, Type element) {
  bool isBoolean = element.isInteger(1);
  switch (kind) {
  case ReduceKind::sum:
    return isBoolean ? "Folded<RunningMaximum>" : "Folded<RunningSum>";
  case ReduceKind::mean:
    return "Folded<RunningSum, true>";
  case ReduceKind::max:
    return "Folded<RunningMaximum>";
  case ReduceKind::min:
    return "Folded<RunningMinimum>";
  case ReduceKind::prod:
    return isBoolean ? "Folded<RunningMinimum>" : "Folded<RunningProduct>";
  case ReduceKind::argmax:
    return "Place<RunningMaximum>";
  case ReduceKind::argmin:
    return "Place<RunningMinimum>";
  }
  llvm_unreachable("all kinds are above");
}

/// What ReductionStages.cuh calls a reduction beside the one that it needs.
static StringRef getJointWord(StagedReduction::Stage stage) {
  if (stage.joint == StagedReduction::Joint::exponentialsBelowMaximum)
    return "ExponentialsBelowMaximum";
  return stage.op.getKind() == ReduceKind::mean ? "SquaresAroundMean<true>"
                                                : "SquaresAroundMean<false>";
}

/// `Operands<Strided<...>, Gathered<...>, ...>`.
static void printReads(raw_ostream &os, const GatheringReads &reads,
                       ArrayRef<std::string> indices, bool streams = false) {
  os << "Operands<";
  llvm::interleave(
      llvm::seq<size_t>(0, reads.views.size()),
      [&](size_t operand) { reads.print(os, operand, indices, streams); },
      [&] { os << ",\n             "; });
  os << ">";
}

/// `Results<Result<functor, Strided<...>>, ...>`.
static void printReductionResults(raw_ostream &os,
                                  ArrayRef<std::string> functors,
                                  const ReductionResults &results) {
  os << "Results<";
  llvm::interleave(
      llvm::zip_equal(functors, results.views, results.buffers),
      [&](auto result) {
        os << "Result<" << std::get<0>(result) << ", ";
        printStrided(os, std::get<1>(result), std::get<2>(result));
        os << ">";
      },
      [&] { os << ",\n            "; });
  os << ">";
}

LogicalResult StagedReductionPlan::emit(ArrayRef<KernelVariant> variants,
                                        KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<CudaReductionAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "StagedReduction.cuh");

  SmallVector<std::string> names;
  for (size_t i = 0; i < reduction.stages.size(); ++i)
    names.push_back("reduced" + std::to_string(i));
  SmallVector<StringRef> leading(names.begin(), names.end());
  auto print = [&](const ScalarFunction &function, StringRef name,
                   size_t count) {
    SmallVector<std::string> functors;
    for (size_t i = 0; i < count; ++i) {
      functors.push_back((name + Twine(i)).str());
      function.printFunctor(os, functors.back(),
                            getArgumentNames(function, leading), i);
      os << '\n';
    }
    return functors;
  };
  size_t stages = reduction.stages.size();
  SmallVector<std::string> functors =
      print(*reduction.body, "Body", stages + reduction.full.views.size());
  auto printIndices = [&](const GatheringReads &reads, StringRef name) {
    return reads.printFunctors(os, name,
                               getArgumentNames(reads.function, leading));
  };
  SmallVector<std::string> indices =
      printIndices(reduction.getReads(), "Index");
  SmallVector<std::string> columnFunctors, columnIndices;
  if (reduction.columnBody) {
    columnFunctors =
        print(*reduction.columnBody, "Column", reduction.column.views.size());
    columnIndices = printIndices(reduction.getColumnReads(), "ColumnIndex");
  }

  os << llvm::formatv(
      "using Kernel = StagedReduction<\n    ReductionShape<{0}, {1}, {2}{3}",
      reduction.outer, reduction.getLength() / reduction.repeats,
      reduction.folds() ? reduction.vector : reduction.inner,
      reduction.folds()     ? ", true"
      : reduction.isApart() ? ", false"
                            : "");
  if (reduction.isApart())
    os << ", " << reduction.repeats << ", " << reduction.middle;
  os << ">,\n    Stages<";
  llvm::interleave(
      llvm::enumerate(reduction.stages),
      [&](auto stage) {
        StagedReduction::Stage each = stage.value();
        bool isJoint = joins(own) && each.joint != StagedReduction::Joint::none;
        Type element = getTensorType(each.op.getOperand()).getElementType();
        os << "Stage<"
           << (isJoint ? getJointWord(each)
                       : getReductionWord(each.op.getKind(), element))
           << ", " << getScalarName(getComputeType(element)) << ", "
           << functors[isJoint ? each.first : stage.index()];
        if (int64_t pass = each.getPass(joins(own)))
          os << ", " << pass;
        os << ">";
      },
      [&] { os << ",\n           "; });
  os << ">,\n    ";
  printReads(os, reduction.getReads(), indices, streams(own));
  os << ",\n    ";
  printReductionResults(os, ArrayRef(functors).drop_front(stages),
                        reduction.full);
  os << ",\n    ";
  if (reduction.columnBody)
    printReads(os, reduction.getColumnReads(), columnIndices);
  else
    os << "Operands<>";
  os << ",\n    ";
  printReductionResults(os, columnFunctors, reduction.column);
  os << llvm::formatv(
      ",\n    ReductionSchedule<{0}, {1}, {2}, {3}, {4}{5}>>;\n",
      getVector(own), own.getColumns(), own.getLanes(), own.getSplits(),
      own.isHeld(), own.isShared() ? ", true" : "");
  printFooter(os, symbol);
  return success();
}

void fact::registerStagedReductionFamily(DialectRegistry &registry) {
  registerFamily<StagedReductionFamily>(registry);
}
