//===- WriteOut.h - Raised ops in simpler ones ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_WRITEOUT_H
#define FACT_LIB_FUSION_WRITEOUT_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Kernel/Target.h"

namespace fact {
/// Whether `writeOut` has a simpler form of the op.
bool canWriteOut(mlir::Operation *op);

/// Builds the value of an attention, norm or softmax from products, reductions
/// and pointwise ops, for targets without a kernel for the op. Values that a
/// kernel of the op would keep in f32 are f32 tensors. A product whose batches
/// broadcast in part becomes one of expanded factors. A reduction of windows
/// becomes pointwise ops on slices, one for each place in a window.
mlir::Value writeOut(mlir::OpBuilder &builder, mlir::Operation *op);

/// Whether a product has at most so many terms, and more rows and columns. One
/// of windows has kernels of its own.
bool isShort(MatmulOp op, int64_t mostTerms);

/// Whether the right factor has its rows in memory: one that is transposed
/// would be read in single elements.
bool hasRowsToScale(MatmulOp op);

/// Transposes the weights of short products when they are loaded, where that
/// gives them rows to scale.
void prepareRowsToScale(mlir::Block &block, const Target &target);

/// Builds a product as a sum of scaled rows, one for each term.
mlir::Value sumScaledRows(mlir::OpBuilder &builder, MatmulOp op);

/// Whether a reduction is of at most so many elements, and none of its users
/// has them again.
bool reducesFew(ReduceOp op, int64_t mostTerms);

/// Builds a reduction of few elements as pointwise ops on slices.
mlir::Value combineFew(mlir::OpBuilder &builder, ReduceOp op);
} // namespace fact

#endif // FACT_LIB_FUSION_WRITEOUT_H
