//===- Targets.h - Built-in targets -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_TARGETS_H
#define FACT_TARGET_TARGETS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fact {
void registerCudaTarget(mlir::DialectRegistry &registry);
void registerHostTarget(mlir::DialectRegistry &registry);

/// Both, with their families.
void registerAllTargets(mlir::DialectRegistry &registry);
} // namespace fact

#endif // FACT_TARGET_TARGETS_H
