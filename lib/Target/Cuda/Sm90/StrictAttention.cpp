//===- StrictAttention.cpp - Attention of strict f32 by wgmma -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes any strides and masks, as the attention by mma.sync does, whose best
// schedule is tried beside these.
//
//===----------------------------------------------------------------------===//

#include "../Sm80/Attention.h"
#include "Sm90Gemm.h"
#include <cmath>

using namespace mlir;
using namespace fact;

namespace {
class StrictAttentionPlan : public sm80::AttentionPlan {
public:
  using Base = sm80::AttentionPlan;
  using Base::Base;

  static FailureOr<AttentionTensors> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override;

protected:
  LogicalResult checkLimits(ScheduleAttr schedule,
                            EmitError emitError) const override;

private:
  /// Columns of keys or values, and of the panels that tiles hold them in:
  /// `Panels` of StrictAttention.cuh.
  struct Panels {
    int64_t columns, width;
    Panels(int64_t size, int64_t unit)
        : columns(llvm::alignTo(size, isWide(size) ? 32 : unit)),
          width(!isWide(size)       ? columns
                : columns % 64 == 0 ? 64
                                    : 32) {}
  };
  /// Whether a head does not fit into one panel.
  static bool isWide(int64_t size) { return size > 128; }
  bool isWide() const {
    return isWide(region.headSize) || isWide(region.valueSize);
  }
  Panels getKeys() const { return {region.headSize, 8}; }
  Panels getValues() const { return {region.valueSize, 32}; }
  int64_t getSharedBytes(Sm90StrictAttentionAttr schedule) const;
};

class StrictAttentionFamily : public FamilyOf<StrictAttentionPlan> {
public:
  StrictAttentionFamily()
      : FamilyOf(attentionRule, "sm_90a",
                 {&Sm90StrictAttentionAttr::kind, &Sm80AttentionAttr::kind}) {}

  StringRef getLimits() const override {
    return "Nothing but views beside the attention (no matmul, rotary, "
           "norm, cast or pointwise op), and one result. f32 without "
           "tf32, heads of at most 256 elements.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

FailureOr<AttentionTensors> StrictAttentionPlan::read(FusedOp fused,
                                                      EmitError emitError) {
  FailureOr<AttentionTensors> tensors = Base::read(fused, emitError);
  if (failed(tensors))
    return failure();
  const AttentionRegion &region = tensors->region;
  if (!region.element.isF32() || region.tf32)
    return emitError() << "takes f32 operands without tf32";
  // Tiles have 64 queries or more: sm80_attention wastes less.
  int64_t rows = region.getGroup() * region.queries;
  if (rows <= 32)
    return emitError() << "needs more than 32 queries per head of keys, not "
                       << rows;
  return tensors;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Stages of a panel of keys and one of values in two parts, the queries, and
/// four barriers per stage.
int64_t
StrictAttentionPlan::getSharedBytes(Sm90StrictAttentionAttr schedule) const {
  Extents tile = schedule.getTile();
  int64_t keys = getKeys().width, values = getValues().width;
  int64_t columns = isWide() ? 2 * std::max(keys, values) : keys + values;
  int64_t stage = 8 * tile[1] * columns + 4 * 8;
  return 4 * tile[0] * getKeys().columns + schedule.getStages() * stage;
}

LogicalResult StrictAttentionPlan::checkLimits(ScheduleAttr schedule,
                                               EmitError emitError) const {
  auto own = dyn_cast<Sm90StrictAttentionAttr>(schedule);
  if (!own)
    return Base::checkLimits(schedule, emitError);
  Extents tile = own.getTile();
  if (isWide() && tile[1] > 32)
    return emitError() << "tiles of heads of more than 128 elements have 32 "
                          "keys, not "
                       << tile[1];
  if (failed(checkGrid(tile, own.getSplits(), emitError)))
    return failure();
  int64_t keyTiles =
      region.batches * region.keyHeads * llvm::divideCeil(region.keys, tile[1]);
  if (keyTiles >= INT32_MAX)
    return emitError() << "needs " << keyTiles
                       << " blocks to split keys, and a grid has less than "
                          "2^31";
  return requireSharedMemory(getSharedBytes(own), machine, emitError);
}

SpaceAttrInterface StrictAttentionPlan::getSpace() const {
  SmallVector<Extents> tiles{{128, 64}, {128, 32}, {64, 64}, {64, 32}};
  llvm::erase_if(tiles,
                 [&](const Extents &tile) { return isWide() && tile[1] > 32; });
  return Sm90StrictAttentionAttr::getSpace(fused.getContext(), tiles, {1, 2, 3},
                                           getSplits(tiles.front()));
}

/// The best schedule of mma.sync, which keeps a region fast should no schedule
/// of this family be right on a machine.
SmallVector<ScheduleAttr> StrictAttentionPlan::getFixedSchedules() const {
  std::optional<Prediction> best = findBest(Base::getSpace());
  if (!best)
    return {};
  return {best->schedule};
}

/// A multiprocessor has registers for one block. Blocks run in waves, as fast
/// as the tensor cores, which two warpgroups keep busy in turn.
double StrictAttentionPlan::predict(ScheduleAttr schedule) const {
  auto own = dyn_cast<Sm90StrictAttentionAttr>(schedule);
  if (!own)
    return Base::predict(schedule);
  Extents tile = own.getTile();
  double blocks = double(countTiles(tile)) * own.getSplits();
  double waves = std::ceil(blocks / double(machine.multiprocessors));
  double visits = countVisits(tile) * double(region.batches * region.keyHeads);
  double efficiency = tile[0] == 128 ? 0.7 : 0.45;
  // Queries are split again for each tile of keys.
  if (tile[1] < 64)
    efficiency *= 0.9;
  if (own.getStages() == 1)
    efficiency *= 0.95;
  // Heads of 160 and 256 took 451 us. A stage is a part of a tile.
  if (isWide())
    efficiency *= 0.87;
  if (isWide() && own.getStages() < 3)
    efficiency *= 0.97;
  double rate = efficiency / double(machine.multiprocessors) *
                machine.getMatrixFlops(runtime::ElementType::F32, false);
  double columns = double(getKeys().columns + getValues().columns);
  double slots = 0.4 * 12 + (attention.mask ? 8 : 0);
  double tileTime = double(tile[0] * tile[1]) *
                    (2 * columns / rate + slots / (128 * machine.clock));
  double compute =
      countSteps(tile, own.getSplits(), double(machine.multiprocessors)) *
          tileTime +
      waves * 2e-6;
  // Split tiles come from the cache.
  double copied = visits * double(tile[1]) * columns * 8;
  double time = std::max(compute, copied / (1.5 * machine.bandwidth));
  // The first kernel reads keys and values, and writes two parts of each.
  double elements =
      double(region.batches * region.keyHeads) * double(region.keys) * columns;
  time += machine.launchSeconds + 12 * elements / machine.bandwidth;
  time += predictCombination(own.getSplits());
  return 1e6 * (time + machine.launchSeconds);
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

LogicalResult StrictAttentionPlan::emit(ArrayRef<KernelVariant> variants,
                                        KernelCode &code) const {
  auto [schedule, symbol] = variants.front();
  auto own = dyn_cast<Sm90StrictAttentionAttr>(schedule);
  if (!own)
    return Base::emit(variants, code);
  llvm::raw_string_ostream os(code.text);
  printHeader(os, fused, schedule, symbol, "StrictAttention.cuh");
  printKernel(os, "sm90::StrictAttention", "", own.getTile(),
              own.getTile()[0] / 16, own.getStages(), own.getSplits());
  printFooter(os, symbol);
  return success();
}

void fact::registerStrictAttentionFamily(DialectRegistry &registry) {
  registerFamily<StrictAttentionFamily>(registry);
}
