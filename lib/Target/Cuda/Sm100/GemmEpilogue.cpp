//===- GemmEpilogue.cpp - A contraction and its epilogue on Blackwell -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 16-bit products through CUTLASS's collective builder; what it does not take
// (f32, reductions, rows that TMA cannot address) runs through mma.sync.
//
//===----------------------------------------------------------------------===//

#include "../Sm90/GemmAnalysis.h"
#include "Sm100Schedules.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
class Sm100GemmPlan : public Plan {
public:
  Sm100GemmPlan(const Family &family, FusedOp fused,
                const MachineDescription &machine, Gemm gemm)
      : Plan(family, fused, machine), gemm(std::move(gemm)) {}

  static FailureOr<Gemm> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  std::string getObjectKey(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  int64_t getSharedMemoryBytes(Sm100GemmAttr schedule) const;
  void emitGemm(ArrayRef<KernelVariant> variants, raw_ostream &os) const;

  Gemm gemm;
};

class Sm100GemmFamily : public FamilyOf<Sm100GemmPlan> {
public:
  Sm100GemmFamily()
      : FamilyOf(gemmEpilogueRule, "sm_100a",
                 {&Sm100GemmAttr::kind, &CublasGemmAttr::kind}) {}
};
} // namespace

FailureOr<Gemm> Sm100GemmPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<Gemm> gemm = Gemm::read(fused, {}, emitError);
  if (failed(gemm))
    return failure();
  if (gemm->rate != MatrixRate::Bits16)
    return emitError() << "multiplies f16 and bf16, not " << gemm->a.element;
  if (gemm->countReductions() > 0)
    return emitError() << "takes no 'fact.reduce' of a product";
  return gemm;
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// Two stages of the factors, and the subtiles of 32 or 64 columns that the
/// epilogue stages: four of each matrix that it reads, two of each result.
int64_t Sm100GemmPlan::getSharedMemoryBytes(Sm100GemmAttr schedule) const {
  Extents tile = schedule.getTile();
  int64_t columns = tile[1] / (schedule.isPaired() ? 2 : 1);
  int64_t stages = 2 * (tile[0] + columns) * tile[2] * 2;
  int64_t bytes = 0;
  auto add = [&](const MatrixTensor &tensor, int64_t subtiles) {
    int64_t size = getStorageBytes(tensor.element);
    int64_t width = size == 2 && tile[1] > 128 ? 64 : 32;
    bytes += subtiles * tile[0] * width * size;
  };
  for (const MatrixTensor &result : gemm.results)
    add(result, 2);
  for (const MatrixTensor &operand : gemm.operands)
    if (operand.isMatrix())
      add(operand, 4);
  return stages + bytes;
}

LogicalResult Sm100GemmPlan::checkLimits(ScheduleAttr schedule,
                                         EmitError emitError) const {
  auto own = dyn_cast<Sm100GemmAttr>(schedule);
  if (!own) {
    if (!gemm.isPlain)
      return emitError() << "takes a plain 'fact.matmul', without an epilogue";
    return success();
  }
  Extents tile = own.getTile(), cluster = own.getCluster();
  if (own.isPaired() && tile[0] != 128)
    return emitError() << "two_sm needs tile M of 128, not " << tile[0];
  if (own.isPaired() && cluster[0] % 2)
    return emitError() << "two_sm needs an even cluster M, not " << cluster[0];
  if (cluster[0] * cluster[1] > 4)
    return emitError() << "a cluster has 1, 2 or 4 blocks, not "
                       << cluster[0] * cluster[1];
  if (failed(gemm.checkTma(emitError)))
    return failure();
  // Tiles and batches are the dimensions of a grid, of which only one may have
  // more; the scheduler may swap the first two.
  constexpr int64_t most = 65535;
  for (int64_t blocks : {llvm::alignTo(llvm::divideCeil(gemm.m, tile[0]), 4),
                         llvm::alignTo(llvm::divideCeil(gemm.n, tile[1]), 4),
                         uint64_t(gemm.batches)})
    if (blocks > most)
      return emitError() << "takes at most " << most
                         << " tiles along M and N and batches, not " << blocks;
  return requireSharedMemory(getSharedMemoryBytes(own), machine, emitError);
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

SpaceAttrInterface Sm100GemmPlan::getSpace() const {
  using K = Sm100Kernel;
  auto space = [&](ArrayRef<Extents> tiles, ArrayRef<Extents> clusters,
                   ArrayRef<int64_t> swizzles) {
    return Sm100GemmAttr::getSpace(fused.getContext(), tiles, clusters,
                                   {K::two_sm, K::one_sm}, swizzles);
  };
  int64_t tiles = llvm::divideCeil(gemm.m, 128) *
                  llvm::divideCeil(gemm.n, 128) * gemm.batches;
  // Few tiles: smaller ones fill the machine.
  if (tiles < 2 * machine.multiprocessors)
    return space({{128, 128, 64}, {128, 64, 64}, {64, 128, 64}, {64, 64, 64}},
                 {{2, 1}, {1, 1}}, {1});
  // Wide products revisit A often: wide bands keep it in the cache.
  SmallVector<int64_t> swizzles{1, 4};
  if (gemm.n >= 4096)
    swizzles.push_back(8);
  return space({{128, 256, 64}, {128, 192, 64}, {128, 128, 64}},
               {{2, 1}, {2, 2}}, swizzles);
}

SmallVector<ScheduleAttr> Sm100GemmPlan::getFixedSchedules() const {
  if (!gemm.isPlain)
    return {};
  return {CublasGemmAttr::get(fused.getContext())};
}

std::string Sm100GemmPlan::getObjectKey(ScheduleAttr schedule) const {
  // The swizzle is a run-time argument.
  if (auto own = dyn_cast<Sm100GemmAttr>(schedule))
    return own.withSwizzle(1).getKey();
  return schedule.getKey();
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// Orders candidates by what is known of the architecture: it was not measured.
double Sm100GemmPlan::predict(ScheduleAttr schedule) const {
  auto own = dyn_cast<Sm100GemmAttr>(schedule);
  if (!own)
    return 1e6 * gemm.getPlain().predictCublas(machine);
  Extents tile = own.getTile(), cluster = own.getCluster();
  // Whole clusters are launched, so an odd number of tiles wastes some.
  double tiles =
      double(llvm::alignTo(llvm::divideCeil(gemm.m, tile[0]), cluster[0])) *
      llvm::alignTo(llvm::divideCeil(gemm.n, tile[1]), cluster[1]) *
      gemm.batches;
  double waves = std::ceil(tiles / machine.multiprocessors);
  // Bytes per multiplication that enter shared memory; half a tile of 64 rows
  // leaves half of the matrix unit idle.
  double area = double(tile[0]) * tile[1];
  double columns = double(tile[1]) / (own.isPaired() ? 2 : 1);
  double efficiency = 0.9 / (1 + 16 * (tile[0] + columns) / area);
  if (tile[0] == 64)
    efficiency /= 2;
  double rate = machine.getPeak(gemm.rate) / machine.multiprocessors;
  double depth = llvm::alignTo(gemm.k, tile[2]);
  double products = 2 * area * depth / (rate * efficiency);
  // Tensor memory holds the next tile's sums while this one's are stored.
  double slots = 2 + gemm.epilogue.getCost() + 2.0 * gemm.operands.size() +
                 4.0 * gemm.results.size();
  double epilogue = area * slots / (128 * machine.clock);
  double time = waves * std::max(products, epilogue) +
                std::min(products, epilogue) + machine.launchSeconds + 1e-6;

  double bytes =
      gemm.batches * (2 * (double(gemm.m) * gemm.k + double(gemm.k) * gemm.n) +
                      countMatrixBytes(gemm.operands, gemm.m, gemm.n));
  for (const MatrixTensor &result : gemm.results)
    bytes += double(gemm.m) * gemm.n * gemm.batches *
             getStorageBytes(result.element);
  // A swizzle keeps operands in the cache where there are many columns.
  if (own.getSwizzle() > 1)
    time *= bytes > machine.cacheBytes && gemm.n >= 4096 ? 0.99 : 1.05;
  return 1e6 * std::max(time, bytes / machine.bandwidth);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

void Sm100GemmPlan::emitGemm(ArrayRef<KernelVariant> variants,
                             raw_ostream &os) const {
  auto schedule = cast<Sm100GemmAttr>(variants.front().schedule);
  StringRef symbol = variants.front().symbol;
  printHeader(os, fused, schedule, symbol, "Sm100Gemm.cuh");
  SmallVector<std::string> functors = printFunctors(
      os, gemm.epilogue, {"accumulator"}, "Epilogue", gemm.results.size());
  os << "using Kernel = Sm100Gemm<\n    ";
  printProblem(os, gemm.m, gemm.n, gemm.k, gemm.batches);
  os << ",\n    " << gemm.a << ",\n    " << gemm.b << ",\n    ";
  printOperands(os, gemm.operands);
  os << ",\n    ";
  printResults(os, functors, gemm.results);
  Extents tile = schedule.getTile(), cluster = schedule.getCluster();
  os << ",\n    Sm100Schedule<Tile<" << tile[0] << ", " << tile[1] << ", "
     << tile[2] << ">, " << (schedule.isPaired() ? "TwoSm" : "OneSm")
     << ", /*cluster=*/" << cluster[0] << ", " << cluster[1] << ", /*swizzle=*/"
     << schedule.getSwizzle() << ">>;\n";
  os << "\nFACT_KERNEL(" << symbol << ", Kernel)\n";
  for (const KernelVariant &variant : variants.drop_front())
    os << "FACT_KERNEL(" << variant.symbol << ", Kernel::WithSwizzle<"
       << cast<Sm100GemmAttr>(variant.schedule).getSwizzle() << ">)\n";
  os << "\n} // namespace fact::" << symbol << '\n';
}

LogicalResult Sm100GemmPlan::emit(ArrayRef<KernelVariant> variants,
                                  KernelCode &code) const {
  if (isa<CublasGemmAttr>(variants.front().schedule)) {
    gemm.getPlain().emitCublas(fused, variants.front(), code);
  } else {
    llvm::raw_string_ostream os(code.text);
    emitGemm(variants, os);
  }
  return success();
}

void fact::registerSm100Families(DialectRegistry &registry) {
  registerFamily<Sm100GemmFamily>(registry);
}
