//===- Sm90Gemm.cpp - What all Hopper GEMMs share -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sm90Gemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;

std::string Sm90GemmPlan::getObjectKey(ScheduleAttr schedule) const {
  // The swizzle is a run-time argument.
  if (auto gemm = dyn_cast<Sm90GemmAttr>(schedule))
    return gemm.withSwizzle(1).getKey();
  return schedule.getKey();
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(MatrixRate rate) {
  return rate == MatrixRate::Bits16 ? 2 : 4;
}

/// Whether a kernel reads the small parts of B, which `pack` computes, as
/// splits_ahead of Gemm.cuh says.
static bool splitsAhead(Sm90GemmAttr schedule, MatrixRate rate) {
  Extents tile = schedule.getTile();
  return rate == MatrixRate::F32 &&
         schedule.getKernel() != KernelSchedule::pingpong && tile[0] == 128 &&
         tile[2] == 32;
}

/// The least shared memory of a kernel. Two stages are the fewest that overlap
/// loads with math; the kernel takes as many as fit. The epilogue stages one
/// 64x32 subtile per warpgroup and per matrix that it reads or writes.
static int64_t getSharedMemoryBytes(Sm90GemmAttr schedule, MatrixRate rate,
                                    int64_t results) {
  Extents tile = schedule.getTile();
  int64_t elementBytes = getElementBytes(rate);
  // A strict product keeps small parts too: of B, or of both factors.
  int64_t rows = tile[0] + tile[1];
  if (splitsAhead(schedule, rate))
    rows += tile[1];
  else if (rate == MatrixRate::F32)
    rows *= 2;
  int64_t epilogueBuffers = 2 + results;
  return (2 * rows * tile[2] + epilogueBuffers * 4 * 64 * 32) * elementBytes;
}

SmallVector<Extents> fact::getTiles(ArrayRef<Extents> tiles, MatrixRate rate) {
  return llvm::map_to_vector(tiles, [&](const Extents &tile) {
    return Extents{tile[0], tile[1], tile[2] * 2 / getElementBytes(rate)};
  });
}

LogicalResult Sm90GemmPlan::checkGemm(Sm90GemmAttr schedule,
                                      const Limits &limits,
                                      EmitError emitError) const {
  Extents tile = schedule.getTile(), cluster = schedule.getCluster();
  if (tile[1] % limits.tileColumns)
    return emitError() << "tile N of two products must be a multiple of "
                       << limits.tileColumns << ", not " << tile[1];
  if (schedule.getKernel() == KernelSchedule::stream_k &&
      !limits.noStreamK.empty())
    return emitError() << limits.noStreamK;
  bool pingpong = schedule.getKernel() == KernelSchedule::pingpong;
  if (!pingpong && tile[0] != 128 && tile[0] != 256)
    return emitError() << "a cooperative kernel needs tile M of 128 or 256, "
                          "not "
                       << tile[0];
  // A strict product has a second set for the sums of each tile of K.
  int64_t sets = limits.rate == MatrixRate::F32 ? 2 : 1;
  int64_t registers = sets * tile[0] * tile[1] / (pingpong ? 128 : 256);
  if (registers > 128)
    return emitError() << "accumulators need " << registers
                       << " registers per thread, and at most 128 do not spill";
  if (cluster[0] * cluster[1] > 4)
    return emitError() << "a cluster has 1, 2 or 4 blocks, not "
                       << cluster[0] * cluster[1];
  return requireSharedMemory(
      getSharedMemoryBytes(schedule, limits.rate, limits.results), machine,
      emitError);
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// The figures are fitted to measured GEMMs (K of 768 to 9728, with and without
/// epilogues) and are good to about 10%, which is enough to choose what to
/// compile.
double fact::predictGemm(const GemmWork &work, Sm90GemmAttr schedule,
                         const MachineDescription &machine) {
  const Extents &tile = schedule.getTile();
  const Extents &cluster = schedule.getCluster();
  bool pingpong = schedule.getKernel() == KernelSchedule::pingpong;
  bool splitsK = schedule.getKernel() == KernelSchedule::stream_k;

  // Whole clusters are launched, so an odd number of tiles wastes some.
  double tiles =
      double(llvm::alignTo(llvm::divideCeil(work.m, tile[0]), cluster[0])) *
      llvm::alignTo(llvm::divideCeil(work.n, tile[1]), cluster[1]) *
      work.batches;
  double waves = splitsK ? std::max(tiles / machine.multiprocessors, 0.25) + 0.2
                         : std::ceil(tiles / machine.multiprocessors);

  // The main loop: its efficiency depends on the bytes per multiplication that
  // enter shared memory.
  double area = double(tile[0]) * tile[1];
  double efficiency = 1 / (1 + 19 * (tile[0] + tile[1]) / area);
  if (cluster[0] * cluster[1] == 1)
    efficiency *= 0.98;
  // A strict product is three of TF32. Splitting each tile of K in shared
  // memory costs a quarter, and nothing where B was split ahead: three products
  // hide the loads of one. Both were measured at 4096 x 4096 x 4096.
  bool isStrict = work.rate == MatrixRate::F32;
  bool isSplit = splitsAhead(schedule, work.rate);
  if (isStrict && !isSplit)
    efficiency *= 0.75;
  MatrixRate units = isStrict ? MatrixRate::TF32 : work.rate;
  double rate = machine.getPeak(units) / machine.multiprocessors;
  double steps = llvm::divideCeil(work.k, tile[2]) * (isStrict ? 3 : 1);
  double products = 2 * area * steps * tile[2] / (rate * efficiency);

  // The epilogue: issue slots of 128 lanes at 1.7 GHz. Ping-pong hides half of
  // them behind the other warpgroup's main loop.
  double epilogue = area * work.slots / (128 * machine.clock);
  double time = waves * (products + (pingpong ? 0.5 : 1.0) * epilogue);
  if (splitsK)
    time += 4e-6 + area * 4 * 2 * machine.multiprocessors / machine.bandwidth;
  // Each tile fills the pipeline again, unless the other warpgroup works
  // meanwhile.
  time += machine.launchSeconds + 1e-6 + (pingpong ? 0 : 0.7e-6 * waves);
  time += 0.55 * work.epilogueBytes / machine.bandwidth;

  // A swizzle keeps operands in the cache where there are many columns; where
  // there are few it was measured to cost 5% to 100%.
  double operandBytes =
      double(getElementBytes(work.rate)) * (double(work.m) + work.n) * work.k;
  int64_t swizzle = schedule.getSwizzle();
  if (swizzle > 1)
    time *= operandBytes > machine.cacheBytes && work.n >= 4096 ? 0.99 : 1.15;
  // A cluster along the short side of the tile shares loads of the long side.
  if ((tile[0] > tile[1] && cluster[1] > 1) ||
      (tile[0] < tile[1] && cluster[0] > 1))
    time *= 0.998;
  double bytes = work.bytes;
  if (isSplit) {
    double smallBytes = 4.0 * work.n * work.k * work.batches;
    bytes += smallBytes;
    // `pack` reads B, and writes it and its small parts.
    if (!work.packsOnce)
      time += machine.launchSeconds + 3 * smallBytes / machine.bandwidth;
  }
  return std::max(time, bytes / machine.bandwidth);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

static StringRef getKernelWord(KernelSchedule kernel) {
  switch (kernel) {
  case KernelSchedule::cooperative:
    return "Cooperative";
  case KernelSchedule::pingpong:
    return "Pingpong";
  case KernelSchedule::stream_k:
    return "StreamK";
  }
  llvm_unreachable("all kernels are listed");
}

void Sm90GemmPlan::printBeginning(raw_ostream &os, const KernelVariant &variant,
                                  const SizeList &sizes,
                                  StringRef header) const {
  if (sizes.areArguments())
    printSizedHeader(os, getObjectKey(variant.schedule), variant.symbol,
                     header);
  else
    printHeader(os, fused, variant.schedule, variant.symbol, header);
}

void fact::printProblem(raw_ostream &os, ArrayRef<int64_t> extents,
                        SizeList &sizes) {
  os << "Problem<";
  llvm::interleaveComma(extents, os,
                        [&](int64_t extent) { os << sizes.print(extent); });
  os << '>';
}

void fact::finishGemm(raw_ostream &os, ArrayRef<KernelVariant> variants,
                      MatrixRate rate, SizeList &sizes, KernelCode &code,
                      StringRef rest) {
  SmallVector<int64_t> swizzles;
  for (const KernelVariant &variant : variants)
    swizzles.push_back(cast<Sm90GemmAttr>(variant.schedule).getSwizzle());
  auto schedule = cast<Sm90GemmAttr>(variants.front().schedule);
  const Extents &tile = schedule.getTile();
  const Extents &cluster = schedule.getCluster();
  StringRef kernel = getKernelWord(schedule.getKernel());
  os << "GemmSchedule<Tile<" << tile[0] << ", " << tile[1] << ", " << tile[2]
     << ">, Cluster<" << cluster[0] << ", " << cluster[1] << ">, ";
  if (rate == MatrixRate::F32)
    os << "Promoted<" << kernel << '>';
  else
    os << kernel;
  os << ", Swizzle<" << sizes.printArgument(swizzles.front()) << ">>" << rest
     << ">;\n";
  printFooter(os, variants.front().symbol, sizes.getArguments().size());
  sizes.finish(swizzles, code);
}

void fact::registerSm90Families(DialectRegistry &registry) {
  registerGemmEpilogueFamily(registry);
  registerGatedGemmFamily(registry);
  registerGroupedGemmFamily(registry);
  registerAttentionFamily(registry);
  registerStrictAttentionFamily(registry);
}
