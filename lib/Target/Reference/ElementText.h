//===- ElementText.h - Indices, types and literals as C++ -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_REFERENCE_ELEMENTTEXT_H
#define FACT_LIB_TARGET_REFERENCE_ELEMENTTEXT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace fact {
inline mlir::RankedTensorType getTensor(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// The C++ type that elements are computed in: "double" for floats.
std::string getNumber(mlir::Type element);
/// The op of Pointwise.h that rounds to a 16-bit float; empty for other types.
llvm::StringRef getRounding(mlir::Type element);
/// A C++ literal of exactly this number.
std::string getLiteral(const llvm::APFloat &number);

/// Whether an op compares a value with itself: only NaN is unequal.
bool asksForNan(mlir::Operation *op);

/// The row-major index of the element of `shape` with these coordinates.
std::string getIndex(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<std::string> coordinates);
/// The coordinates in `shape` of the element that broadcasts to `coordinates`.
llvm::SmallVector<std::string>
getBroadcastCoordinates(llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<std::string> coordinates);
} // namespace fact

#endif // FACT_LIB_TARGET_REFERENCE_ELEMENTTEXT_H
