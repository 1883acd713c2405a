//===- CublasGemm.h - The vendor's GEMM as a candidate ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_CUBLASGEMM_H
#define FACT_LIB_TARGET_CUDA_CUBLASGEMM_H

#include "Emission.h"

namespace fact {
/// The sizes and tensors of a product.
struct PlainGemm {
  MatrixRate rate;
  int64_t m, n, k, batches;
  MatrixTensor a, b, result;

  /// The same with a result that has its rows in memory: the transposed product
  /// where this one's has columns.
  PlainGemm getRowMajor() const;

  /// Bytes of both factors and of the result.
  double countBytes() const;

  /// Predicts the seconds that cuBLASLt takes.
  double predictCublas(const MachineDescription &machine) const;
  void emitCublas(FusedOp fused, const KernelVariant &variant,
                  KernelCode &code) const;
};

/// `Problem<...>` of an emitted GEMM.
void printProblem(llvm::raw_ostream &os, int64_t m, int64_t n, int64_t k,
                  int64_t batches);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_CUBLASGEMM_H
