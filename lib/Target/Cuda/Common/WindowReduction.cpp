//===- WindowReduction.cpp - Pools and depthwise convolutions -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One reduction over the taps of windows, with operands of the taps (a
// depthwise filter), padding that is never stored, cheap pointwise ops before
// it and any after it. Channels come first or last.
//
//===----------------------------------------------------------------------===//

#include "WindowReduction.h"
#include "StagedReduction.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

namespace {
/// `WindowTraversal` of WindowReduction.cuh.
enum class Traversal { sweep, rows, taps };

/// What a thread does with one schedule.
struct ThreadWork {
  int64_t rows, columns;
  /// Lanes, and columns of the images per load.
  int64_t vector, access;
  Traversal traversal;

  /// Taps of a row that are taken together.
  int64_t taps;
  /// Elements of a row of images that a thread holds, in loads.
  int64_t width, loadsPerRow;
  /// Rows of images that it reads.
  int64_t rowsRead;
  /// Elements of filters that it holds.
  int64_t filter;

  static ThreadWork get(const WindowReduction &reduction,
                        CudaWindowsAttr schedule);
  int64_t countWindows() const { return rows * columns * vector; }
};

class WindowReductionPlan : public Plan {
public:
  WindowReductionPlan(const Family &family, FusedOp fused,
                      const MachineDescription &machine,
                      WindowReduction reduction)
      : Plan(family, fused, machine), reduction(std::move(reduction)) {}

  static FailureOr<WindowReduction> read(FusedOp fused, EmitError emitError) {
    return WindowReduction::read(fused, emitError);
  }

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t countTiles(CudaWindowsAttr schedule) const;
  void printKernel(raw_ostream &os, CudaWindowsAttr schedule, StringRef load,
                   StringRef tap, ArrayRef<std::string> functors) const;

  WindowReduction reduction;
};

class WindowReductionFamily : public FamilyOf<WindowReductionPlan> {
public:
  WindowReductionFamily()
      : FamilyOf(windowsRule, "cuda", {&CudaWindowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Exactly one windows and one reduce, of all places of a window "
           "and nothing else (channels are not summed: that is a matmul). "
           "Every result has one element per window. No matmul, norm or "
           "softmax.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// A thread holds at most so many elements of a row, of filters, of results.
static constexpr int64_t mostHeld = 64;

ThreadWork ThreadWork::get(const WindowReduction &reduction,
                           CudaWindowsAttr schedule) {
  const WindowAxis &rows = reduction.getRows();
  const WindowAxis &columns = reduction.getColumns();
  ThreadWork work;
  work.rows = schedule.getRows();
  work.columns = schedule.getColumns();
  work.vector = reduction.hasLanes() ? schedule.getVector() : 1;
  work.access = reduction.hasLanes() ? 1 : schedule.getVector();

  // All that is unrolled stays in registers and in the instruction cache.
  constexpr int64_t mostUnrolled = 1024;
  int64_t filters = reduction.taps.size() * work.vector;
  int64_t row = columns.getSpan(work.columns, columns.kernel) * work.vector;
  bool holdsRow = row <= mostHeld && columns.kernel * filters <= mostHeld;
  bool sweeps =
      holdsRow && rows.kernel * columns.kernel * filters <= mostHeld &&
      work.countWindows() * rows.kernel * columns.kernel <= mostUnrolled;
  work.traversal = sweeps     ? Traversal::sweep
                   : holdsRow ? Traversal::rows
                              : Traversal::taps;
  work.taps = work.traversal == Traversal::taps ? 1 : columns.kernel;
  work.filter = (sweeps ? rows.kernel : 1) * work.taps * filters;
  work.width = columns.getSpan(work.columns, work.taps);
  int64_t shift = ((-columns.low) % work.access + work.access) % work.access;
  work.loadsPerRow = work.access > 1
                         ? llvm::divideCeil(shift + work.width, work.access)
                         : columns.countRead(work.columns, work.taps);
  work.rowsRead =
      reduction.axes[0].kernel *
      (sweeps ? rows.countRead(work.rows, rows.kernel)
              : work.rows * rows.kernel * (columns.kernel / work.taps));
  return work;
}

int64_t WindowReductionPlan::countTiles(CudaWindowsAttr schedule) const {
  auto work = ThreadWork::get(reduction, schedule);
  return llvm::product_of(reduction.outer) * reduction.axes[0].count *
         llvm::divideCeil(reduction.getRows().count, work.rows) *
         llvm::divideCeil(reduction.getColumns().count, work.columns) *
         (reduction.lanes / work.vector);
}

LogicalResult WindowReductionPlan::checkLimits(ScheduleAttr schedule,
                                               EmitError emitError) const {
  auto own = cast<CudaWindowsAttr>(schedule);
  auto work = ThreadWork::get(reduction, own);
  const WindowAxis &columns = reduction.getColumns();
  int64_t vector = own.getVector();
  if (reduction.hasLanes()) {
    if (reduction.lanes % vector)
      return emitError() << "vectors of " << vector << " do not divide "
                         << reduction.lanes << " channels";
  } else if (vector > 1) {
    if (columns.size % vector || work.columns * columns.stride % vector)
      return emitError() << "vectors of " << vector << " must divide rows of "
                         << columns.size << " elements and the " << work.columns
                         << " columns of a thread times the stride";
    if (work.traversal == Traversal::taps)
      return emitError() << "a thread holds at most " << mostHeld
                         << " elements of a row, so that its loads are no "
                            "vectors";
  }
  if (vector > 1 && !reduction.areImagesAligned(vector))
    return emitError() << "the images are not aligned to vectors of " << vector;
  if (work.countWindows() > mostHeld || work.width > mostHeld)
    return emitError() << "a thread has at most " << mostHeld
                       << " windows and as many elements of a row";
  auto isTooMany = [](int64_t own, int64_t count) {
    return own > int64_t(llvm::PowerOf2Ceil(count));
  };
  if (isTooMany(work.rows, reduction.getRows().count) ||
      isTooMany(work.columns, columns.count))
    return emitError() << "a thread has more windows than there are";
  if (llvm::divideCeil(countTiles(own), own.getThreads()) >= INT32_MAX)
    return emitError() << "has too many windows for one grid: "
                       << reduction.countWindows();
  return success();
}

SpaceAttrInterface WindowReductionPlan::getSpace() const {
  const WindowAxis &columns = reduction.getColumns();
  int64_t vector = std::min<int64_t>(8, 16 / reduction.getImageBytes());
  while (vector > 1 &&
         ((reduction.hasLanes() ? reduction.lanes : columns.size) % vector ||
          !reduction.areImagesAligned(vector)))
    vector /= 2;
  llvm::SmallSetVector<int64_t, 4> vectors;
  vectors.insert(vector);
  vectors.insert(reduction.hasLanes() ? std::max<int64_t>(1, vector / 2) : 1);
  int64_t threads = reduction.hasLanes() ? 128 : 256;
  return CudaWindowsAttr::getSpace(fused.getContext(), {threads},
                                   vectors.getArrayRef(), {1, 2, 4, 8},
                                   {1, 2, 4, 8});
}

double WindowReductionPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<CudaWindowsAttr>(schedule);
  auto work = ThreadWork::get(reduction, own);
  double bytes = reduction.getImageBytes(), tiles = double(countTiles(own));
  double loads = double(work.rowsRead) * work.loadsPerRow;
  // Lines of 128 bytes that a warp touches: neighbors in memory are threads'
  // lanes, or their columns.
  double perLoad = std::max(work.vector, work.access) * bytes;
  double distance = reduction.hasLanes()
                        ? perLoad
                        : work.columns * reduction.getColumns().stride * bytes;
  double lines = std::clamp(32 * std::max(perLoad, distance) / 128, 1.0, 32.0);
  double clocks = machine.multiprocessors * machine.clock;
  double cache = tiles / 32 * loads * lines / clocks;

  double elements = loads * std::max(work.vector, work.access);
  double perTap = 1 + (reduction.kind == ReduceKind::max ||
                       reduction.kind == ReduceKind::min);
  double slots =
      60 + 5 * loads + elements * (2 + reduction.load->getCost()) +
      work.countWindows() *
          (reduction.countTaps() * (perTap + reduction.tap->getCost() / 2) + 4 +
           reduction.body->getCost());
  double compute = tiles * slots / (0.7 * 128 * clocks);

  // A row is in flight while another is used.
  double held = std::max(work.vector, work.access) * work.loadsPerRow;
  double registers =
      40 + work.countWindows() + work.filter + held * (1 + bytes / 4);
  double perMultiprocessor = std::min(2048.0, 65536 / registers);
  double threads = std::min(tiles, perMultiprocessor * machine.multiprocessors);
  double inFlight = threads * held * bytes;
  double efficiency =
      0.92 * std::min(1.0, inFlight / (32e3 * machine.multiprocessors));
  double memory =
      reduction.getBytes() / (machine.bandwidth * std::max(efficiency, 0.02));
  if (registers > 200)
    memory *= registers / 100;
  // What the slowest hides is not free.
  double hidden = memory + cache + compute;
  return 1e6 * (0.9 * std::max({memory, cache, compute}) + 0.1 * hidden +
                machine.launchSeconds);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// The element outside of images, as a struct with a static member `value`.
static void printFill(raw_ostream &os, TypedAttr fill) {
  if (auto number = dyn_cast<FloatAttr>(fill)) {
    Type type = getComputeType(number.getType());
    APFloat wide = number.getValue();
    bool losesInfo;
    wide.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
    fill = FloatAttr::get(type, wide);
  }
  os << "struct Fill {\n  static constexpr " << getScalarName(fill.getType())
     << " value = " << getScalarLiteral(fill) << ";\n};\n\n";
}

static void printViews(raw_ostream &os, ArrayRef<StridedView> views) {
  os << ",\n    Operands<";
  llvm::interleave(
      views,
      [&](const StridedView &view) {
        printStrided(os, view, getBuffer(view.base));
      },
      [&] { os << ",\n             "; });
  os << '>';
}

void WindowReductionPlan::printKernel(raw_ostream &os, CudaWindowsAttr schedule,
                                      StringRef load, StringRef tap,
                                      ArrayRef<std::string> functors) const {
  os << "using Kernel = WindowReduction<\n    WindowSpace<Extents<";
  llvm::interleaveComma(reduction.outer, os);
  os << '>';
  for (const WindowAxis &axis : reduction.axes)
    os << llvm::formatv(",\n                WindowAxis<{0}, {1}, {2}, {3}, "
                        "{4}, {5}>",
                        axis.count, axis.size, axis.low, axis.kernel,
                        axis.stride, axis.dilation);
  os << llvm::formatv(", {0}>,\n    Stage<{1}, {2}, {3}>, {4}, {5}",
                      reduction.lanes,
                      getReductionWord(reduction.kind, reduction.element),
                      getScalarName(getComputeType(reduction.element)), tap,
                      reduction.fill ? "Fill" : "NoFill", load);
  for (auto *views : {&reduction.images, &reduction.taps, &reduction.operands})
    printViews(os, *views);
  os << ",\n    Results<";
  llvm::interleave(
      llvm::zip_equal(functors, reduction.results, reduction.resultBuffers),
      [&](auto result) {
        os << "Result<" << std::get<0>(result) << ", ";
        printStrided(os, std::get<1>(result), std::get<2>(result));
        os << '>';
      },
      [&] { os << ",\n            "; });
  static constexpr StringLiteral words[] = {"sweep", "rows", "taps"};
  auto work = ThreadWork::get(reduction, schedule);
  os << llvm::formatv(
      ">,\n    WindowSchedule<{0}, {1}, {2}, {3}, WindowTraversal::{4}>>;\n",
      schedule.getThreads(), schedule.getVector(), work.columns, work.rows,
      words[unsigned(work.traversal)]);
}

LogicalResult WindowReductionPlan::emit(ArrayRef<KernelVariant> variants,
                                        KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "WindowReduction.cuh");
  if (reduction.fill)
    printFill(os, reduction.fill);
  std::string load = printFunctors(os, *reduction.load, {}, "Load", 1).front();
  std::string tap =
      printFunctors(os, *reduction.tap, {"element"}, "Tap", 1).front();
  SmallVector<std::string> functors = printFunctors(
      os, *reduction.body, {"reduced"}, "Body", reduction.results.size());
  printKernel(os, cast<CudaWindowsAttr>(schedule), load, tap, functors);
  printFooter(os, symbol);
  return success();
}

void fact::registerWindowReductionFamily(DialectRegistry &registry) {
  registerFamily<WindowReductionFamily>(registry);
}
