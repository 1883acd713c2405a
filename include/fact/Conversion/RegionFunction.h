//===- RegionFunction.h - A region as a function on memory ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CONVERSION_REGIONFUNCTION_H
#define FACT_CONVERSION_REGIONFUNCTION_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fact {
/// A copy of a region in a context of its own, so that kernels can be emitted
/// from any thread and bring the dialects they need.
class IsolatedRegion {
public:
  /// The context has the dialects of the lowering to loops on memory;
  /// `addDialects` registers more.
  explicit IsolatedRegion(
      FusedOp fused,
      llvm::function_ref<void(mlir::DialectRegistry &)> addDialects = {});
  /// Null when the region could not be read back.
  FusedOp get();

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Adds `body(operands..., results...)` on memory to `module`: the region, and
/// a store of each result. convertFactToLinalg lowers it.
mlir::func::FuncOp buildRegionFunction(mlir::ModuleOp module, FusedOp fused);

/// Replaces copies of memory by loops. By default a copy between strided
/// layouts calls a library.
void populateCopyPatterns(mlir::RewritePatternSet &patterns);
} // namespace fact

#endif // FACT_CONVERSION_REGIONFUNCTION_H
