//===- Attention.h - Attention by mma.sync ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM80_ATTENTION_H
#define FACT_LIB_TARGET_CUDA_SM80_ATTENTION_H

#include "AttentionSchedule.h"
#include "AttentionTensors.h"

namespace fact::sm80 {
class AttentionPlan : public Plan {
public:
  AttentionPlan(const Family &family, FusedOp fused,
                const MachineDescription &machine,
                const AttentionTensors &attention)
      : Plan(family, fused, machine), attention(attention),
        region(this->attention.region) {}

  static mlir::FailureOr<AttentionTensors> read(FusedOp fused,
                                                EmitError emitError);

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;
  mlir::LogicalResult emit(llvm::ArrayRef<KernelVariant> variants,
                           KernelCode &code) const override;

protected:
  mlir::LogicalResult checkLimits(ScheduleAttr schedule,
                                  EmitError emitError) const override;
  /// Checks that the keys have tiles for all splits and the grid has blocks.
  mlir::LogicalResult checkGrid(const Extents &tile, int64_t splits,
                                EmitError emitError) const;

  /// The queries that read one head of keys.
  int64_t getRows() const { return region.getGroup() * region.queries; }
  /// Tiles of queries of all heads and batches.
  int64_t countTiles(const Extents &tile) const;
  /// Tiles of keys that the tiles of queries of one head of keys visit.
  double countVisits(const Extents &tile) const;
  /// Tiles of keys that a block visits which visits the most.
  double countLongestVisits(const Extents &tile) const;
  /// Visits one after the other, if `slots` blocks run at a time.
  double countSteps(const Extents &tile, int64_t splits, double slots) const;
  /// Splits for a machine that the tiles of queries do not fill. A split has at
  /// least two tiles of keys.
  llvm::SmallVector<int64_t> getSplits(const Extents &tile) const;
  /// Seconds to combine the results of splits.
  double predictCombination(int64_t splits) const;

  /// Prints a kernel's type: template `name` of the problem, the tensors, the
  /// mask's kind, `arguments` and the schedule.
  void printKernel(llvm::raw_ostream &os, llvm::StringRef name,
                   llvm::StringRef arguments, const Extents &tile,
                   int64_t warps, int64_t stages, int64_t splits) const;

  AttentionTensors attention;
  const AttentionRegion &region;

private:
  /// Whether products of f32 are as exact as IEEE f32.
  bool isStrict() const { return region.element.isF32() && !region.tf32; }
  int64_t getHeadBytes() const {
    return region.headSize * getStorageBytes(region.element);
  }
  int64_t getSharedBytes(Sm80AttentionAttr schedule) const;
  /// Registers per thread for results and scores, which strict products split.
  int64_t countRegisters(Sm80AttentionAttr schedule) const;
  /// Instructions per score beside the products.
  double countSlots(Sm80AttentionAttr schedule) const;
};
} // namespace fact::sm80

#endif // FACT_LIB_TARGET_CUDA_SM80_ATTENTION_H
