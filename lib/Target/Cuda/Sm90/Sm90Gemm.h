//===- Sm90Gemm.h - What all Hopper GEMMs share -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_SM90GEMM_H
#define FACT_LIB_TARGET_CUDA_SM90GEMM_H

#include "Emission.h"
#include "Kernels/TileBands.cuh"
#include "Sm90Schedules.h"

namespace fact {
/// `Problem<m, n, k, batches>`.
void printProblem(llvm::raw_ostream &os, llvm::ArrayRef<int64_t> extents,
                  SizeList &sizes);

/// Ends a file of GEMMs that differ only in their swizzle, which is their last
/// argument: prints their schedule as `GemmSchedule<Tile<...>, ...>`, what
/// follows it, and the exported symbol. `bands` are those of a banded kernel.
void finishGemm(llvm::raw_ostream &os, llvm::ArrayRef<KernelVariant> variants,
                MatrixRate rate, SizeList &sizes, KernelCode &code,
                llvm::StringRef rest = "", llvm::StringRef bands = "");

/// Tiles of 16-bit operands as tiles of operands of a rate: as many bytes along
/// K.
llvm::SmallVector<Extents> getTiles(llvm::ArrayRef<Extents> tiles,
                                    MatrixRate rate);

/// The work of a GEMM kernel, for the cost model.
struct GemmWork {
  MatrixRate rate;
  int64_t m, n, k, batches;
  /// Bytes of all operands and results, and of the epilogue's matrices alone.
  double bytes, epilogueBytes;
  /// Issue slots of the epilogue per element of the product.
  double slots;
  /// Seconds of the epilogue per tile beside those.
  double tileSeconds = 0;
  /// Whether B is a weight, which is packed when it is loaded.
  bool packsOnce = true;
  /// What cooperative kernels leave out; without the extents of tiles.
  TileBands bands = {};
};

/// Whether a kernel leaves out what lies outside of bands.
bool usesBands(const TileBands &bands, Sm90GemmAttr schedule);

/// The swizzle that CUTLASS takes for a grid of tiles if at most `swizzle` is
/// allowed.
int64_t limitSwizzle(int64_t swizzle, int64_t rows, int64_t columns);

/// Whether a kernel reads the small parts of B, which `pack` computes, as
/// splits_ahead of Gemm.cuh says.
bool splitsAhead(Sm90GemmAttr schedule, MatrixRate rate);

/// Predicts the seconds of a GEMM with this schedule.
double predictGemm(const GemmWork &work, Sm90GemmAttr schedule,
                   const MachineDescription &machine);

/// A plan of Hopper GEMMs; schedules that differ only in their swizzle share
/// one object.
class Sm90GemmPlan : public Plan {
public:
  using Plan::Plan;

  std::string getObjectKey(ScheduleAttr schedule) const override;

protected:
  /// Prints the beginning of a file for a kernel of these sizes.
  void printBeginning(llvm::raw_ostream &os, const KernelVariant &variant,
                      const SizeList &sizes, llvm::StringRef header) const;

  /// The limits that a region sets to its schedules.
  struct Limits {
    explicit Limits(MatrixRate rate) : rate(rate) {}
    MatrixRate rate;
    /// Results whose tiles are staged in shared memory together.
    int64_t results = 1;
    /// Tile N must be a multiple of it.
    int64_t tileColumns = 16;
    /// Why K cannot be split over blocks; empty where it can.
    llvm::StringRef noStreamK;
  };
  /// Limits of several products: each has one result, and a tile belongs to one
  /// product.
  static Limits getPackedGemmLimits(MatrixRate rate) {
    Limits limits(rate);
    limits.noStreamK = "several products run as a cooperative or a pingpong "
                       "kernel, not as stream_k";
    return limits;
  }
  mlir::LogicalResult checkGemm(Sm90GemmAttr schedule, const Limits &limits,
                                EmitError emitError) const;
};

/// One registration per family, in the file that has it.
void registerGemmEpilogueFamily(mlir::DialectRegistry &registry);
void registerGatedGemmFamily(mlir::DialectRegistry &registry);
void registerGroupedGemmFamily(mlir::DialectRegistry &registry);
void registerAttentionFamily(mlir::DialectRegistry &registry);
void registerStrictAttentionFamily(mlir::DialectRegistry &registry);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_SM90GEMM_H
