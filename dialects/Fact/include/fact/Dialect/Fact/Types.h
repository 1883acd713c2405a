//===- Types.h - Element types of tensors -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table ElementTypes.def, looked up by MLIR types.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_DIALECT_FACT_TYPES_H
#define FACT_DIALECT_FACT_TYPES_H

#include "fact/Runtime/ElementType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace fact {
/// The row of the table for an element type, if there is one.
std::optional<runtime::ElementType> findElementType(mlir::Type element);

/// The row for a type that the dialect allows in tensors.
runtime::ElementType toElementType(mlir::Type element);

mlir::Type toType(mlir::MLIRContext *context, runtime::ElementType element);

/// "bf16", as in bundles and in the sources of kernels.
llvm::StringRef getElementName(mlir::Type element);

/// The type of the arithmetic on elements: f32 for narrow floats.
mlir::Type getComputeType(mlir::Type element);

/// Whether elements are floats whose arithmetic is in a wider type.
bool isNarrowFloat(mlir::Type element);

/// The type of a tensor.
inline mlir::RankedTensorType typeOf(mlir::Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType());
}

/// Bytes of memory per element, or of a whole tensor; a boolean takes one byte.
int64_t getStorageBytes(mlir::Type elementOrTensor);
} // namespace fact

#endif // FACT_DIALECT_FACT_TYPES_H
