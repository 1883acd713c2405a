//===- ReductionPatterns.h - Simpler forms of FACT's ops --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_REDUCER_REDUCTIONPATTERNS_H
#define FACT_REDUCER_REDUCTIONPATTERNS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fact {
/// What `--reduction-tree` tries in the place of an op: an operand of its type,
/// else zeros. Without this the reducer only erases what nothing uses.
void registerReductionPatterns(mlir::DialectRegistry &registry);
} // namespace fact

#endif // FACT_REDUCER_REDUCTIONPATTERNS_H
