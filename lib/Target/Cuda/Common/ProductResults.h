//===- ProductResults.h - What follows a thin product -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_PRODUCTRESULTS_H
#define FACT_LIB_TARGET_CUDA_PRODUCTRESULTS_H

#include "Emission.h"

namespace fact {
/// The results of a region with one product, and the other operands of the
/// pointwise ops after it, over the product's elements. The first argument of
/// `epilogue` is the product.
struct ProductResults {
  llvm::SmallVector<StridedView> operands, results;
  ScalarFunction epilogue;

  /// Over an index space of as many elements; refuses results of others.
  static mlir::FailureOr<ProductResults> get(FusedOp fused, MatmulOp matmul,
                                             llvm::ArrayRef<int64_t> space,
                                             EmitError emitError);
};

/// Refuses products that are not thin.
mlir::LogicalResult requireThin(int64_t rows, int64_t columns, int64_t k,
                                EmitError emitError);
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_PRODUCTRESULTS_H
