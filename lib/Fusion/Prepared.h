//===- Prepared.h - Functions of weights, added to `fact.prepare` -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_PREPARED_H
#define FACT_LIB_FUSION_PREPARED_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Whether `value` is a view of a weight, a constant or a prepared value. The
/// fixed arguments of a function are not: what calls it has the weights.
bool canPrepare(mlir::Value value);

/// Adds a result to the `fact.prepare` of the builder's block, which is made
/// where there is none: what `build` makes of `value`, with the builder inside.
/// Null if it cannot be prepared. The results that `fact.prepare` had are
/// replaced in their uses.
mlir::Value prepare(mlir::OpBuilder &builder, mlir::Value value,
                    llvm::function_ref<mlir::Value(mlir::Value)> build);
} // namespace fact

#endif // FACT_LIB_FUSION_PREPARED_H
