//===- PackedGemm.h - Several products of one lhs as one GEMM -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_PACKEDGEMM_H
#define FACT_LIB_TARGET_CUDA_PACKEDGEMM_H

#include "Emission.h"
#include "llvm/ADT/SmallSet.h"

namespace fact {
/// Reads what regions have in common whose products run as one wide GEMM with
/// packed weights (PackedGemm.cuh): one lhs, weights [N, K], and results whose
/// elements a visitor computes.
class PackedGemmAnalysis {
protected:
  PackedGemmAnalysis(FusedOp fused, EmitError emitError)
      : fused(fused), emitError(emitError) {}

  /// Checks that the products have one lhs of 16-bit floats.
  mlir::LogicalResult checkProducts(llvm::ArrayRef<MatmulOp> matmuls);

  /// The lhs with all batches folded into its rows.
  mlir::FailureOr<MatrixTensor> getLhs(MatmulOp matmul);
  /// A weight [N, K]: its rows are copied whole.
  mlir::FailureOr<MatrixTensor> getWeight(MatmulOp matmul);
  /// Result `index`, which is an [m, n] of `space`; `value` is what it holds
  /// before the views at its end.
  mlir::FailureOr<MatrixTensor> getResult(unsigned index,
                                          llvm::ArrayRef<int64_t> space,
                                          mlir::Value &value);
  /// What a function reads beside its `leading` arguments.
  mlir::FailureOr<llvm::SmallVector<MatrixTensor>>
  getOperands(const ScalarFunction &function, unsigned leading);

  FusedOp fused;
  EmitError emitError;

private:
  mlir::FailureOr<StridedView> getArgumentView(mlir::Value value,
                                               llvm::StringRef name);
  mlir::FailureOr<MatrixTensor> requireTma(const MatrixTensor &tensor,
                                           llvm::StringRef name);
  /// The buffers of weights, which nothing else may read.
  llvm::SmallSet<int64_t, 4> packed;
};

/// Candidates for a wide GEMM, by the tiles that it has.
SpaceAttrInterface getPackedGemmSpace(mlir::MLIRContext *context, int64_t m,
                                      int64_t n,
                                      const MachineDescription &machine);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_PACKEDGEMM_H
