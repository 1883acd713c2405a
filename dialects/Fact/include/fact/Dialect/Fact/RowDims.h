//===- RowDims.h - The rows that a value was computed with ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_ROWDIMS_H
#define FACT_DIALECT_FACT_ROWDIMS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace fact {
/// The dimensions of `value` that a norm, softmax or reduction before it is
/// over, seen through pointwise ops and permutes: the first that `accepts`, or
/// none. A kernel that computes `value` has these rows at hand.
llvm::SmallVector<int64_t>
findRowDims(mlir::Value value,
            llvm::function_ref<bool(llvm::ArrayRef<int64_t> dims)> accepts);
} // namespace fact

#endif // FACT_DIALECT_FACT_ROWDIMS_H
