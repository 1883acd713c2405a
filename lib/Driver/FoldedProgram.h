//===- FoldedProgram.h - A program with norms in its products ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_DRIVER_FOLDEDPROGRAM_H
#define FACT_LIB_DRIVER_FOLDEDPROGRAM_H

#include "fact/Fusion/Discovery.h"
#include "fact/Kernel/Target.h"
#include "mlir/IR/OwningOpRef.h"

namespace fact {
/// The kernels of `grouped` with norms folded into the products that read them,
/// or null: if there are none, or if all kernels together are not predicted to
/// take less than `factor` times as long. `raised` is the graph before it was
/// grouped.
mlir::OwningOpRef<mlir::ModuleOp>
foldNorms(mlir::ModuleOp raised, mlir::ModuleOp grouped,
          const DiscoveryOptions &options, const Target &target, double factor);
} // namespace fact

#endif // FACT_LIB_DRIVER_FOLDEDPROGRAM_H
