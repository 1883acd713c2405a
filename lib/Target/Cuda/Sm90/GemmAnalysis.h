//===- GemmAnalysis.h - A region as a GEMM ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_GEMMANALYSIS_H
#define FACT_LIB_TARGET_CUDA_GEMMANALYSIS_H

#include "CublasGemm.h"
#include "Sm90Gemm.h"
#include "WindowsTensor.h"
#include "fact/Analysis/ContractionRegion.h"

namespace fact {
/// Reductions over the product's rows, or over its columns, and the results
/// computed from them, which have one element per row or column.
struct ReducedEpilogue {
  /// Of a sum of exponentials, which of the reductions is the maximum.
  struct Exponentials {
    std::optional<unsigned> maximum;
    bool isGuarded;
  };

  llvm::SmallVector<ReduceOp> reductions;
  /// For each reduction.
  llvm::SmallVector<Exponentials> exponentials;
  llvm::SmallVector<MatrixTensor> operands, results;
  /// The functors of all results.
  std::optional<ScalarFunction> function;

  void add(const ContractionRegion::Reduction &reduction,
           const ContractionRegion &region);
};

/// Whether kernels copy a factor: f32 that does not lie along K as TMA can
/// address it.
bool isCopied(const MatrixTensor &factor, bool isLhs);

/// Prints a factor; one that kernels copy is `Copied`.
void printFactor(llvm::raw_ostream &os, const MatrixTensor &factor, bool isLhs,
                 SizeList &sizes);

/// A GEMM without its schedule.
struct Gemm {
  MatrixRate rate;
  /// K of windows is their depth.
  int64_t m, n, k, batches;
  /// Of windows, `a` is the pixels of the innermost dimension.
  MatrixTensor a, b;
  llvm::SmallVector<MatrixTensor> operands, results;
  /// The functors of all results, then of the values that are reduced over
  /// rows, then over columns.
  ScalarFunction epilogue;
  ReducedEpilogue rows, columns;
  /// Whether the region is a product of matrices and nothing else.
  bool isPlain = false;
  /// The rows of A, where they are windows of images.
  std::optional<WindowsTensor> windows;
  /// The bands of the factors and of what is used of the product, without the
  /// extents of tiles.
  TileBands bands = {};

  /// What kernels take beyond matrices that lie row by row.
  struct Forms {
    /// Windows as the rows of A.
    bool windows = false;
    /// Results and operands of the epilogue that lie column by column.
    bool columns = false;
  };

  /// Reads a region as a GEMM: one matmul, then any graph of pointwise ops,
  /// then reductions of whole rows or columns and results computed from those
  /// alone. Batches are folded into M where one B serves all of them, as far as
  /// the results allow it.
  static mlir::FailureOr<Gemm> read(FusedOp fused, const Forms &forms,
                                    EmitError emitError);

  /// The product alone, of a plain GEMM.
  PlainGemm getPlain() const {
    return {rate, m, n, k, batches, a, b, results.front()};
  }
  size_t countReductions() const {
    return rows.reductions.size() + columns.reductions.size();
  }
  /// Checks that TMA can address the results, 16-bit factors and windows: their
  /// rows begin at multiples of 16 bytes, and may end anywhere. Kernels copy
  /// matrices of f32 where they need to.
  mlir::LogicalResult checkTma(EmitError emitError) const;
  /// Whether A is f32 in columns that TMA can address. TF32 products read it
  /// through registers.
  bool readsColumns() const;
  bool copiesLhs() const {
    return !windows && !readsColumns() && isCopied(a, /*isLhs=*/true);
  }
  bool copiesRhs() const { return isCopied(b, /*isLhs=*/false); }
  /// Whether one object serves all sizes. Reductions combine a number of tiles.
  bool takesSizes() const { return countReductions() == 0; }
  /// Operands of the product's size.
  int64_t countMatrices() const {
    return llvm::count_if(operands, [](const MatrixTensor &operand) {
      return operand.isMatrix();
    });
  }
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GEMMANALYSIS_H
