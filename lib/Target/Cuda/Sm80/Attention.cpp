//===- Attention.cpp - Attention by mma.sync ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes what no kernel for one architecture takes: heads of any size up to 256,
// values of another width than keys, any strides, f32, and few queries with
// many keys.
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include <cmath>

using namespace mlir;
using namespace fact;
using sm80::AttentionPlan;

namespace {
class AttentionFamily : public FamilyOf<AttentionPlan> {
public:
  AttentionFamily()
      : FamilyOf(attentionRule, "sm_80", {&Sm80AttentionAttr::kind}) {}

  StringRef getLimits() const override {
    return "Nothing but views beside the attention (no matmul, rotary, "
           "norm, cast or pointwise op), and one result.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

FailureOr<AttentionTensors> AttentionPlan::read(FusedOp fused,
                                                EmitError emitError) {
  FailureOr<AttentionTensors> tensors = AttentionTensors::get(fused, emitError);
  if (failed(tensors))
    return failure();
  const AttentionRegion &region = tensors->region;
  if (!isFloat16(region.element) && !region.element.isF32())
    return emitError() << "takes f16, bf16 or f32 operands, not "
                       << region.element;
  if (region.headSize > 256 || region.valueSize > 256)
    return emitError() << "heads of keys and values must have at most 256 "
                          "elements, not "
                       << region.headSize << " and " << region.valueSize;
  // The kernel counts rows and keys in 32 bits.
  constexpr int64_t most = int64_t(1) << 30;
  for (int64_t length : {region.getGroup() * region.queries, region.keys,
                         region.batches * region.keyHeads})
    if (length > most)
      return emitError() << "queries per head of keys, keys and heads of keys "
                            "must be at most 2^30, not "
                         << length;
  return tensors;
}

/// Bytes of a row in shared memory.
static int64_t getPitch(int64_t size, Type element) {
  return llvm::alignTo(size * getStorageBytes(element), 32) + 16;
}

int64_t AttentionPlan::getSharedBytes(Sm80AttentionAttr schedule) const {
  Extents tile = schedule.getTile();
  int64_t head = getPitch(region.headSize, region.element);
  int64_t value = getPitch(region.valueSize, region.element);
  return tile[0] * head + schedule.getStages() * tile[1] * (head + value);
}

int64_t AttentionPlan::countRegisters(Sm80AttentionAttr schedule) const {
  int64_t keys = schedule.getTile()[1];
  return schedule.getBands() *
         (llvm::alignTo(region.valueSize, 8) + (isStrict() ? 2 * keys : keys)) /
         2;
}

int64_t AttentionPlan::countTiles(const Extents &tile) const {
  return region.batches * region.keyHeads *
         llvm::divideCeil(getRows(), tile[0]);
}

/// Under a causal mask, tiles of one head see its keys up to their last query.
double AttentionPlan::countVisits(const Extents &tile) const {
  double tiles = double(llvm::divideCeil(getRows(), tile[0]));
  int64_t all = llvm::divideCeil(region.keys, tile[1]);
  if (!region.causal || region.queries <= tile[0])
    return tiles * all;
  int64_t headTiles = llvm::divideCeil(region.queries, tile[0]);
  double visits = 0;
  for (int64_t i = 0; i < headTiles; ++i)
    visits +=
        std::min<int64_t>(all, llvm::divideCeil((i + 1) * tile[0], tile[1]));
  return visits / headTiles * tiles;
}

/// Late queries of a causal mask see the most keys.
double AttentionPlan::countLongestVisits(const Extents &tile) const {
  int64_t seen = region.keys;
  if (region.causal && region.queries > tile[0])
    seen = std::min<int64_t>(seen, llvm::alignTo(region.queries, tile[0]));
  return double(llvm::divideCeil(seen, tile[1]));
}

double AttentionPlan::countSteps(const Extents &tile, int64_t splits,
                                 double slots) const {
  double blocks = double(countTiles(tile)) * splits;
  double visits = countVisits(tile) * double(region.batches * region.keyHeads);
  // Long blocks begin first, so that short ones fill the rest of a wave.
  return std::max(std::ceil(blocks / slots) * visits / blocks,
                  countLongestVisits(tile) / splits);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

LogicalResult AttentionPlan::checkLimits(ScheduleAttr schedule,
                                         EmitError emitError) const {
  auto own = cast<Sm80AttentionAttr>(schedule);
  Extents tile = own.getTile();
  int64_t bands = own.getBands();
  if (bands != 1 && bands != 2)
    return emitError() << "a warp needs 16 or 32 queries, not " << tile[0]
                       << " in " << own.getWarps() << " warps";
  int64_t registers = countRegisters(own);
  int64_t most = region.element.isF32() ? 160 : 192;
  if (registers > most)
    return emitError() << "the sums of a thread need " << registers
                       << " registers, and it has " << most << " for them";
  if (failed(checkGrid(tile, own.getSplits(), emitError)))
    return failure();
  return requireSharedMemory(getSharedBytes(own), machine, emitError);
}

LogicalResult AttentionPlan::checkGrid(const Extents &tile, int64_t splits,
                                       EmitError emitError) const {
  int64_t keyTiles = llvm::divideCeil(region.keys, tile[1]);
  if (splits > keyTiles)
    return emitError() << "the keys have " << keyTiles
                       << " tiles, and cannot be split among " << splits
                       << " blocks";
  if (countTiles(tile) * splits >= INT32_MAX)
    return emitError() << "needs " << countTiles(tile) * splits
                       << " blocks, and a grid has less than 2^31";
  return success();
}

SmallVector<int64_t> AttentionPlan::getSplits(const Extents &tile) const {
  SmallVector<int64_t> splits{1};
  int64_t wanted =
      llvm::divideCeil(2 * machine.multiprocessors, countTiles(tile));
  int64_t pairs = llvm::divideCeil(region.keys, 2 * tile[1]);
  int64_t most = std::min<int64_t>({wanted, pairs, 128});
  for (int64_t count = most; count > 1 && splits.size() < 4; count /= 2)
    splits.push_back(count);
  return splits;
}

SpaceAttrInterface AttentionPlan::getSpace() const {
  int64_t rows = getRows();
  SmallVector<Extents> tiles;
  SmallVector<int64_t> warps;
  if (rows <= 16) {
    tiles = {{16, 64}, {16, 32}};
    warps = {1};
  } else if (rows <= 32) {
    tiles = {{32, 64}, {32, 32}};
    warps = {1, 2};
  } else {
    tiles = {{64, 64}, {64, 32}, {128, 64}, {128, 32}};
    warps = {4, 8};
  }
  // Shared memory of some machines has few rows of these.
  if (getHeadBytes() > 512)
    tiles.push_back({tiles.front()[0], 16});
  return Sm80AttentionAttr::getSpace(fused.getContext(), tiles, warps, {2, 1},
                                     getSplits(tiles.front()));
}

double AttentionPlan::countSlots(Sm80AttentionAttr schedule) const {
  double slots = 0.4 * 12 + (attention.mask ? 8 : 0);
  // A strict factor takes 8 instructions to split: queries for each tile of
  // keys, keys and values for each band of 16 queries.
  if (isStrict())
    slots += 8 * (double(region.headSize) / schedule.getTile()[1] +
                  double(region.headSize + region.valueSize) /
                      (16 * schedule.getBands()));
  return slots;
}

double AttentionPlan::predictCombination(int64_t splits) const {
  if (splits == 1)
    return 0;
  return machine.launchSeconds +
         8 *
             double(splits * getRows() * region.batches * region.keyHeads *
                    region.valueSize) /
             machine.bandwidth;
}

/// Blocks run in waves. A block is as slow as its products, exponentials and
/// copies in turn, as far as other warps of the multiprocessor do not hide
/// them.
double AttentionPlan::predict(ScheduleAttr schedule) const {
  auto own = cast<Sm80AttentionAttr>(schedule);
  Extents tile = own.getTile();
  int64_t bytes = getStorageBytes(region.element);
  int64_t resident = std::max<int64_t>(
      1, std::min<int64_t>({machine.sharedMemoryBytes / getSharedBytes(own),
                            8 / own.getWarps(), 8}));
  double blocks = double(countTiles(tile)) * own.getSplits();
  double waves = std::ceil(blocks / double(machine.multiprocessors * resident));
  double visits = countVisits(tile) * double(region.batches * region.keyHeads);
  // Two warps per tensor core keep it busy. mma.sync reaches little more than
  // half of the rate of Hopper's wgmma; a warp of 16 queries waits for shared
  // memory.
  double busy = std::min(1.0, double(resident * own.getWarps()) / 8);
  double efficiency = machine.architecture.starts_with("sm_9") ? 0.5 : 0.7;
  if (own.getBands() == 1 && bytes == 2)
    efficiency *= 0.75;
  if (own.getStages() == 1)
    efficiency *= 0.8;
  // Some registers spill.
  if (countRegisters(own) > 160)
    efficiency *= 0.9;
  double rate =
      busy * efficiency / double(machine.multiprocessors) *
      machine.getMatrixFlops(toElementType(region.element), region.tf32);
  double columns = double(llvm::alignTo(region.headSize, 16) +
                          llvm::alignTo(region.valueSize, 16));
  double tileTime =
      double(tile[0] * tile[1]) *
      (2 * columns / rate + countSlots(own) / (128 * machine.clock));
  double steps = countSteps(tile, own.getSplits(),
                            double(machine.multiprocessors * resident));
  double compute = double(resident) * steps * tileTime + waves * 2e-6;
  // Tiles of keys come from the cache, at about three times the bandwidth.
  double copied = visits * double(tile[1]) * columns * double(bytes);
  double time = std::max(compute, copied / (3 * machine.bandwidth));
  time += predictCombination(own.getSplits());
  return 1e6 * (time + machine.launchSeconds);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Strides of dimensions of one element are those that restrict accesses least.
static void printHeads(raw_ostream &os, const AttentionTensor &tensor,
                       StringRef name) {
  os << "    sm80::Heads<";
  tensor.print(os, {tensor.getStride(0, 0), tensor.getStride(1, 0),
                    tensor.getStride(2, 0), tensor.getStride(3, 1)});
  os << ">, // " << name << '\n';
}

void AttentionPlan::printKernel(raw_ostream &os, StringRef name,
                                StringRef arguments, const Extents &tile,
                                int64_t warps, int64_t stages,
                                int64_t splits) const {
  printConstant(os, "Scale", region.scale);
  os << "using Kernel = " << name << "<\n    sm80::AttentionProblem<"
     << region.batches << ", " << region.heads << ", " << region.keyHeads
     << ", " << region.queries << ", " << region.keys << ", " << region.headSize
     << ", " << region.valueSize << ">,\n";
  printHeads(os, attention.query, "query");
  printHeads(os, attention.key, "key");
  printHeads(os, attention.value, "value");
  printHeads(os, attention.result, "result");
  os << "    sm80::" << (region.causal ? "Causal" : "Full") << ", " << arguments
     << "Scale,\n    sm80::AttentionSchedule<" << tile[0] << ", " << tile[1]
     << ", " << warps << ", " << stages << ", " << splits << '>';
  if (attention.mask) {
    os << ",\n    sm80::";
    attention.printMask(os);
  }
  os << ">;\n";
}

LogicalResult AttentionPlan::emit(ArrayRef<KernelVariant> variants,
                                  KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = cast<Sm80AttentionAttr>(schedule);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "Sm80Attention.cuh");
  printKernel(os, "sm80::Attention",
              region.tf32 ? "sm80::AllowTf32, " : "sm80::Strict, ",
              own.getTile(), own.getWarps(), own.getStages(), own.getSplits());
  printFooter(os, symbol);
  return success();
}

void fact::registerSm80AttentionFamily(DialectRegistry &registry) {
  registerFamily<AttentionFamily>(registry);
}
