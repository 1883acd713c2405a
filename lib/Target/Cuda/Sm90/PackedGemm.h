//===- PackedGemm.h - Several products of one lhs as one GEMM ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_PACKEDGEMM_H
#define FACT_LIB_TARGET_CUDA_PACKEDGEMM_H

#include "GemmAnalysis.h"
#include "GemmTensors.h"
#include "Sm90Gemm.h"
#include "llvm/ADT/SmallSet.h"

namespace fact {
/// The tensors of products that run as one wide GEMM with packed weights
/// (PackedGemm.cuh): one lhs, weights [N, K], and results that an epilogue
/// visitor computes.
class PackedGemmAnalysis : protected GemmTensors {
protected:
  using GemmTensors::GemmTensors;

  /// Checks what all packed GEMMs need, and reads the weights.
  mlir::LogicalResult readWeights();

  /// A result and the function that computes it from `leading` products.
  struct Epilogue {
    MatrixTensor result;
    llvm::SmallVector<MatrixTensor> operands;
    ScalarFunction function;
  };
  mlir::FailureOr<Epilogue> getEpilogue(const ContractionRegion::Result &result,
                                        llvm::ArrayRef<mlir::Value> leading);

  /// The weight [N, K] of each product.
  llvm::SmallVector<MatrixTensor> weights;

private:
  mlir::FailureOr<MatrixTensor>
  getWeight(const ContractionRegion::Product &product);
};

/// The space of a wide GEMM of m x n elements.
SpaceAttrInterface getPackedGemmSpace(mlir::MLIRContext *context,
                                      MatrixRate rate, int64_t m, int64_t n,
                                      const MachineDescription &machine);

/// What `AnalysisT` makes of a region of several products.
template <typename AnalysisT>
auto readProducts(FusedOp fused, ContractionRegion::Kind kind,
                  EmitError emitError)
    -> decltype(std::declval<AnalysisT>().run()) {
  ContractionRegion::Options options;
  options.kind = kind;
  mlir::FailureOr<ContractionRegion> region =
      ContractionRegion::get(fused, options, emitError);
  if (failed(region))
    return mlir::failure();
  return AnalysisT(fused, *region, emitError).run();
}
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_PACKEDGEMM_H
