//===- WindowProducts.h - To rewrite products of windows --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_WINDOWPRODUCTS_H
#define FACT_LIB_FUSION_WINDOWPRODUCTS_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace fact {
/// Bytes that pixels begin at multiples of where a target's products read
/// windows in place; 0 where none does.
int64_t getPixelUnit(const Target &target);

/// Whether matrix units multiply the factors as they are.
bool fitsMatrixUnits(MatmulOp matmul);

/// An image without the zeros that were added around it, and these, by
/// dimension.
struct BareImage {
  mlir::Value value;
  llvm::SmallVector<int64_t> low, high;

  /// Looks through zeros in the dimensions from `first` to `last`.
  static BareImage get(mlir::Value value, int64_t first, int64_t last);
};

/// Zeros before and after the elements of a dimension.
mlir::Value addZeros(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                     int64_t dim, int64_t low, int64_t high);

mlir::Value reshapeTo(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      llvm::ArrayRef<int64_t> shape);

/// Erases an op that nothing reads any more, and what only it read.
void eraseUnused(mlir::Operation *unused);
} // namespace fact

#endif // FACT_LIB_FUSION_WINDOWPRODUCTS_H
