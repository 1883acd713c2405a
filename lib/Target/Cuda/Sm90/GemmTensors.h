//===- GemmTensors.h - A contraction's tensors as matrices ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_GEMMTENSORS_H
#define FACT_LIB_TARGET_CUDA_GEMMTENSORS_H

#include "Sm90Gemm.h"
#include "fact/Analysis/ContractionRegion.h"

namespace fact {
/// The factors and results of a contraction as Hopper's GEMMs address them.
class GemmTensors {
public:
  GemmTensors(FusedOp fused, const ContractionRegion &region,
              EmitError emitError)
      : fused(fused), region(region), emitError(emitError) {}

protected:
  mlir::FailureOr<MatrixTensor> getLhs();
  mlir::FailureOr<MatrixTensor>
  getRhs(const ContractionRegion::Product &product);

  /// A result of the product's size; `value` is what it holds before the views
  /// at its end.
  mlir::FailureOr<MatrixTensor>
  getResult(const ContractionRegion::Result &result, mlir::Value &value);

  /// The shape [rows, columns], after the batches where there are some.
  llvm::SmallVector<int64_t> getShape(int64_t rows, int64_t columns) const;

  /// How the matrix units multiply the factors.
  MatrixRate getRate() const;

  /// Checks that strides and offset are multiples of 16 bytes, as TMA needs
  /// them. A plain product is exempt: cuBLAS takes any.
  mlir::LogicalResult requireTma(const MatrixTensor &tensor,
                                 llvm::StringRef name);

  FusedOp fused;
  const ContractionRegion &region;
  EmitError emitError;

private:
  mlir::FailureOr<MatrixTensor> getFactor(const StridedView &view, int64_t rows,
                                          int64_t columns,
                                          llvm::StringRef name);
};

/// The matrix of a factor that all batches share.
StridedView dropBatches(const StridedView &factor);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GEMMTENSORS_H
