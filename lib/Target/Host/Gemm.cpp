//===- Gemm.cpp - Families of matrix products -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One product and its epilogue; two products that results combine (a gated
// MLP); several products of one lhs with results of their own (queries, keys
// and values). All share one plan and one builder.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
class HostGemmPlan : public HostPlan {
public:
  HostGemmPlan(const Family &family, FusedOp fused,
               const MachineDescription &machine, GemmPlan gemm)
      : HostPlan(family, fused, machine), gemm(std::move(gemm)) {}

  SpaceAttrInterface getSpace() const override;
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;
  void build(KernelBuilder &b, ScheduleAttr schedule) const override {
    buildGemm(b, gemm, schedule);
  }

private:
  /// The register tiles to choose from.
  SmallVector<Extents> getMicroTiles() const;
  SmallVector<ScheduleAttr> getWindowSchedules() const;
  /// Whether a weight or a constant is packed, when the model is created.
  bool packsOnce() const;

  GemmPlan gemm;
};

class GemmFamily : public Family {
public:
  GemmFamily(const Rule &rule, ContractionRegion::Kind kind,
             std::vector<const ScheduleKind *> schedules)
      : Family(rule, "host", std::move(schedules)), kind(kind) {}

  StringRef getLimits() const override {
    return "Each factor comes from outside of the pattern, directly or "
           "through views; a factor that the pattern would compute is of "
           "another pattern. All matmul have the same lhs and the same "
           "batches. Every result has the product's elements, or is "
           "computed from a reduction of it alone; reductions are all of "
           "rows or all of columns.";
  }

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    if (failed(requireElements(fused, emitError)))
      return failure();
    return makePlan<HostGemmPlan>(fused, machine,
                                  GemmPlan::get(fused, kind, emitError));
  }

private:
  ContractionRegion::Kind kind;
};

class GemmEpilogueFamily : public GemmFamily {
public:
  GemmEpilogueFamily()
      : GemmFamily(gemmEpilogueRule, ContractionRegion::Kind::Single,
                   {&HostGemmAttr::kind, &HostBlockedAttr::kind,
                    &HostWindowsAttr::kind, &HostStreamAttr::kind}) {}
};

class GatedGemmFamily : public GemmFamily {
public:
  GatedGemmFamily()
      : GemmFamily(gatedGemmRule, ContractionRegion::Kind::Gated,
                   {&HostGemmAttr::kind, &HostWindowsAttr::kind}) {}
};

class GroupedGemmFamily : public GemmFamily {
public:
  GroupedGemmFamily()
      : GemmFamily(groupedGemmRule, ContractionRegion::Kind::Grouped,
                   {&HostGemmAttr::kind, &HostWindowsAttr::kind}) {}
};
} // namespace

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult HostGemmPlan::checkLimits(ScheduleAttr schedule,
                                        EmitError emitError) const {
  if (isa<HostStreamAttr>(schedule)) {
    if (gemm.canStream())
      return success();
    return emitError() << "reads the rhs in place for one product of at most 8 "
                          "rows, if neighboring columns of the rhs are "
                          "adjacent in memory";
  }
  if (isa<HostBlockedAttr>(schedule) && !gemm.canBlock())
    return emitError() << "packs the blocks of one product whose rows and "
                          "columns are not reduced, and whose lhs is no "
                          "windows";
  bool copies = isa<HostWindowsAttr>(schedule);
  if (copies && !gemm.canReadWindows())
    return emitError() << "multiplies windows of images, of whole images for "
                          "each batch, whose columns are not reduced";
  auto own = GemmSizes::get(schedule);
  Extents micro = own.micro;
  if (micro[0] * micro[1] > 512)
    return emitError() << "the register tile has at most 512 elements, not "
                       << micro[0] << "x" << micro[1];
  if (copies) {
    int64_t line = gemm.windows->counts.back();
    if (micro[0] > line)
      return emitError() << "a register tile has at most the " << line
                         << " windows of a line as rows, not " << micro[0];
    if (own.columns % micro[1] == 0)
      return success();
    return emitError() << "columns must be a multiple of those of the register "
                          "tile, "
                       << micro[1] << ", not " << own.columns;
  }
  if (own.rows % micro[0] || own.columns % micro[1])
    return emitError() << "rows and columns must be multiples of the register "
                          "tile "
                       << micro[0] << "x" << micro[1] << ", not " << own.rows
                       << " and " << own.columns;
  return success();
}

SmallVector<Extents> HostGemmPlan::getMicroTiles() const {
  int64_t rows = gemm.batchRows;
  // Register tiles whose sums fill the registers beside a row of B and an
  // element of A, and are enough to hide the latency of a multiplication.
  int64_t lanes = cpu.getVectorBytes() / 4;
  bool manyRegisters = cpu.getVectorRegisters() == 32;
  SmallVector<Extents> micro;
  if (rows < 4)
    micro = {Extents{rows, 4 * lanes}, Extents{rows, 8 * lanes}};
  else if (rows < 8)
    micro = {Extents{4, 2 * lanes},
             Extents{4, (manyRegisters ? 4 : 3) * lanes}};
  else if (cpu.getVectorBytes() == 64)
    micro = {Extents{12, 32}, Extents{8, 48}, Extents{6, 32}};
  else if (cpu.getVectorBytes() == 32)
    micro = {Extents{6, 16}, Extents{4, 24}, Extents{4, 16}};
  else if (manyRegisters)
    micro = {Extents{8, 12}, Extents{8, 8}, Extents{4, 16}};
  else
    micro = {Extents{4, 8}, Extents{6, 8}};
  // Vectors of doubles have half as many lanes.
  if (getStorageBytes(gemm.compute) == 8 && rows >= 4) {
    SmallVector<Extents> narrow;
    for (const Extents &tile : micro) {
      Extents half{tile[0], tile[1] / 8 * 4};
      if (!llvm::is_contained(narrow, half))
        narrow.push_back(half);
    }
    micro = narrow;
  }
  return micro;
}

SpaceAttrInterface HostGemmPlan::getSpace() const {
  int64_t rows = gemm.batchRows, columns = gemm.getColumns();
  // Multiples of every register tile; larger ones where there are many rows.
  int64_t tileRows =
      rows >= 48 ? 48 : std::max<int64_t>(ceilDivide(rows, 24) * 24, 24);
  int64_t wide = columns >= 384 ? 384 : 96;
  SmallVector<int64_t> rowSizes{tileRows};
  if (rows >= 96)
    rowSizes.push_back(96);
  return HostGemmAttr::getSpace(fused.getContext(), getMicroTiles(), rowSizes,
                                {wide});
}

/// Rows of a tile that packs blocks: more share a block, and fewer stay in the
/// second cache beside it.
static constexpr int64_t mostBlockedRows = 192, blockedColumns = 192;
/// Fewer tiles would leave threads idle.
static constexpr int64_t fewestBlockedTiles = 8;

/// More windows share a filter in the first cache, and fewer stay in the second
/// one beside their image.
static constexpr int64_t mostWindows = 192, mostWindowColumns = 384;

SmallVector<ScheduleAttr> HostGemmPlan::getWindowSchedules() const {
  SmallVector<ScheduleAttr> schedules;
  if (!gemm.canReadWindows())
    return schedules;
  int64_t line = gemm.windows->counts.back();
  int64_t lanes = cpu.getRegisterLanes(getStorageBytes(gemm.compute));
  int64_t columns = gemm.getColumns();
  // As many rows as registers have sums of, beside vectors of B and an element
  // of A, and as divide a line.
  for (int64_t vectors = 1; vectors <= 4; ++vectors) {
    if (vectors > 1 && (vectors - 1) * lanes >= columns)
      break;
    int64_t most = (cpu.getVectorRegisters() - 2 - vectors) / vectors;
    int64_t rows =
        ceilDivide(line, ceilDivide(line, std::max(most, int64_t(1))));
    int64_t micro = vectors * lanes;
    int64_t wide = ceilDivide(std::min(columns, mostWindowColumns), micro);
    llvm::append_range(schedules,
                       HostWindowsAttr::getSpace(fused.getContext(),
                                                 {Extents{rows, micro}},
                                                 {mostWindows}, {wide * micro})
                           .enumerate());
  }
  return schedules;
}

SmallVector<ScheduleAttr> HostGemmPlan::getFixedSchedules() const {
  SmallVector<ScheduleAttr> schedules = getWindowSchedules();
  int64_t tiles = ceilDivide(gemm.batchRows, mostBlockedRows);
  if (gemm.canBlock() && !gemm.canStream() && !packsOnce() &&
      gemm.batches * tiles * ceilDivide(gemm.getColumns(), blockedColumns) >=
          fewestBlockedTiles) {
    SmallVector<ScheduleAttr> blocked;
    for (const Extents &micro : getMicroTiles()) {
      int64_t rows = ceilDivide(ceilDivide(gemm.batchRows, tiles), micro[0]);
      llvm::append_range(blocked, HostBlockedAttr::getSpace(
                                      fused.getContext(), {micro},
                                      {rows * micro[0]}, {blockedColumns})
                                      .enumerate());
    }
    // With the register tile that fits the columns best: measuring those of
    // the space compares the others.
    schedules.push_back(
        *llvm::min_element(blocked, [&](ScheduleAttr x, ScheduleAttr y) {
          return predict(x) < predict(y);
        }));
  }
  if (!gemm.canStream())
    return schedules;
  // Sums of a piece that is no longer than processors need to fetch ahead, and
  // shorter ones for several threads.
  int64_t bytes = getStorageBytes(gemm.compute);
  int64_t most = cpu.getFirstCacheBytes() * 7 / 8 / (gemm.batchRows * bytes);
  int64_t columns = std::clamp<int64_t>(llvm::bit_floor<uint64_t>(most), 64,
                                        (16 << 10) / bytes);
  SmallVector<int64_t> sizes{columns};
  if (columns / 4 < gemm.getColumns())
    sizes.push_back(columns / 4);
  llvm::append_range(
      schedules,
      HostStreamAttr::getSpace(fused.getContext(), sizes).enumerate());
  return schedules;
}

bool HostGemmPlan::packsOnce() const {
  return !gemm.packedOperands.empty() &&
         llvm::all_of(gemm.packedOperands, [&](unsigned operand) {
           return isFixed(fused.getInputs()[operand]);
         });
}

double HostGemmPlan::predict(ScheduleAttr schedule) const {
  double traffic = getTrafficSeconds(machine, fused);
  if (auto stream = dyn_cast<HostStreamAttr>(schedule)) {
    // Sums are loaded and stored for every few rows. Shorter pieces take
    // longer.
    double flops = 2.0 * gemm.rows * gemm.getColumns() * gemm.k /
                   (0.4 * machine.getMatrixFlops(toElementType(gemm.compute)));
    return 1e6 * std::max(flops, traffic) * (1.25 + 64.0 / stream.getColumns());
  }
  auto own = GemmSizes::get(schedule);
  double mr = own.micro[0], nr = own.micro[1];
  // Loads per multiplication; then spills, or too few sums to hide latency.
  double efficiency = 1 / (1 + 1 / mr + 1 / nr);
  double vectors = nr * getStorageBytes(gemm.compute) / cpu.getVectorBytes();
  double registers = mr * vectors;
  if (registers + vectors + 1 > cpu.getVectorRegisters() || registers < 8)
    efficiency *= 0.6;
  double columns = 0;
  for (const GemmPlan::Segment &segment : gemm.segments)
    columns += ceilDivide(segment.n, nr) * nr * segment.products.size();
  double padded = ceilDivide(gemm.batchRows, mr) * mr * columns * gemm.batches;
  // Each tile packs its rows of A again.
  double tiles = gemm.hasReductions(/*ofRows=*/true)
                     ? 1
                     : ceilDivide(gemm.getColumns(), own.columns);
  double packing = double(gemm.rows) * gemm.k * tiles;
  if (isa<HostWindowsAttr>(schedule)) {
    // Register tiles end with a line of windows, and each pixel of a box is
    // copied.
    const WindowedView &of = *gemm.windows;
    double lines = double(gemm.rows) / of.counts.back();
    padded = lines * ceilDivide(of.counts.back(), mr) * mr * columns;
    WindowBox box = WindowBox::get(of, own);
    double images = double(gemm.rows) / llvm::product_of(of.counts);
    packing = images * llvm::product_of(box.boxes) *
              llvm::product_of(box.pixels) * of.getChannels() * tiles;
  }
  // Each tile packs its columns of B too.
  bool blocks = isa<HostBlockedAttr>(schedule);
  if (blocks)
    packing += double(gemm.batches) * gemm.k * gemm.getColumns() *
               ceilDivide(gemm.batchRows, own.rows);
  double flops =
      machine.getMatrixFlops(toElementType(gemm.compute)) * efficiency;
  double terms = gemm.k * gemm.getMultipliedShare(own.micro);
  double seconds = 2 * padded * terms / flops + getSeconds(packing);
  // A sum, and not the maximum, so that arithmetic ranks the schedules of
  // products that memory limits.
  seconds += traffic;
  // Otherwise B is read and written before each launch.
  if (!blocks && !packsOnce())
    seconds += getTrafficSeconds(machine, 2.0 * gemm.batches * gemm.k *
                                              gemm.getColumns() *
                                              getStorageBytes(gemm.compute));
  return 1e6 * seconds;
}

void host::registerGemmFamilies(DialectRegistry &registry) {
  registerFamily<GemmEpilogueFamily>(registry);
  registerFamily<GatedGemmFamily>(registry);
  registerFamily<GroupedGemmFamily>(registry);
}
