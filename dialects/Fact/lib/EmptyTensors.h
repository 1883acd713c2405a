//===- EmptyTensors.h - Tensors without elements ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECTS_FACT_LIB_EMPTYTENSORS_H
#define FACT_DIALECTS_FACT_LIB_EMPTYTENSORS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace fact {
/// Replaces ops that have an empty result, or that read an empty operand, by
/// constants.
void populateEmptyTensorPatterns(mlir::RewritePatternSet &patterns);
} // namespace fact

#endif // FACT_DIALECTS_FACT_LIB_EMPTYTENSORS_H
