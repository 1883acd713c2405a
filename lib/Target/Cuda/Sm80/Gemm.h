//===- Gemm.h - Products of one lhs, from sm_80 on --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM80_GEMM_H
#define FACT_LIB_TARGET_CUDA_SM80_GEMM_H

#include "CublasGemm.h"
#include "Sm80Schedules.h"
#include "fact/Analysis/ContractionRegion.h"

namespace fact::sm80 {
/// Terms of a sum that tiles have in one or two steps: latency decides there,
/// not the rate of the matrix units.
inline constexpr int64_t shortSum = 64;

/// One product, or several that results combine, without a schedule.
struct Gemm {
  MatrixRate rate;
  int64_t m, n, k, batches;
  /// Of windows, its rows and columns say nothing.
  MatrixTensor a;
  /// The second factors, one per product.
  llvm::SmallVector<MatrixTensor> factors;
  llvm::SmallVector<MatrixTensor> operands, results;
  /// The functors of all results; none for f64, which cuBLAS multiplies.
  std::optional<ScalarFunction> epilogue;
  /// Whether cuBLAS can compute the region: one product, laid out as cuBLAS
  /// takes it, and nothing else.
  bool isPlain = false;
  /// What the rows of A are, where no strides say it.
  std::optional<WindowedView> windows = std::nullopt;

  /// Reads matmuls of one lhs and any graph of pointwise ops after them; with
  /// `windows`, also windows of images as the rows of one.
  static mlir::FailureOr<Gemm> read(FusedOp fused, ContractionRegion::Kind kind,
                                    EmitError emitError, bool windows = false);

  /// Elements of A that a thread copies at once, and that exist.
  int64_t getVectorOfA() const;
  double countElementsOfA() const;
  void printA(llvm::raw_ostream &os) const;

  int64_t getElementBytes() const { return getStorageBytes(a.element); }
  bool isStrict() const { return rate == MatrixRate::F32; }
  PlainGemm getPlain() const {
    return {rate, m, n, k, batches, a, factors.front(), results.front()};
  }
};

/// Channels of an image's pixels that a thread copies at once.
int64_t getVectorOfPixels(const StridedView &image);

class GemmPlan : public Plan {
public:
  GemmPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, Gemm gemm)
      : Plan(family, fused, machine), gemm(std::move(gemm)) {}

  SpaceAttrInterface getSpace() const override;
  llvm::SmallVector<ScheduleAttr> getFixedSchedules() const override;
  double predict(ScheduleAttr schedule) const override;
  mlir::LogicalResult emit(llvm::ArrayRef<KernelVariant> variants,
                           KernelCode &code) const override;

protected:
  mlir::LogicalResult checkLimits(ScheduleAttr schedule,
                                  EmitError emitError) const override;

private:
  int64_t countTiles(const Extents &tile) const;
  int64_t getSharedMemoryBytes(Sm80GemmAttr schedule) const;
  mlir::LogicalResult checkSplits(Sm80GemmAttr schedule,
                                  EmitError emitError) const;
  mlir::LogicalResult checkWarps(Sm80GemmAttr schedule,
                                 EmitError emitError) const;
  double getPeak(MatrixRate rate) const;
  double countResident(Sm80GemmAttr schedule) const;
  double getEfficiency(Sm80GemmAttr schedule) const;
  void emitGemm(const KernelVariant &variant, llvm::raw_ostream &os) const;

  Gemm gemm;
};
} // namespace fact::sm80

#endif // FACT_LIB_TARGET_CUDA_SM80_GEMM_H
