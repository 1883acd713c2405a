//===- InitAll.h - Everything FACT registers --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_INITALL_H
#define FACT_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace fact {
/// FACT, the torch shim, and the upstream dialects that FACT lowers to.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Every pass of FACT, and the pipelines `fact-raise`, `fact-host` and
/// `fact-cuda`.
void registerAllPasses();
} // namespace fact

#endif // FACT_INITALL_H
