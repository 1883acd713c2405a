//===- RunTuner.h - fact-tune as a process of the compiler ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_DRIVER_RUNTUNER_H
#define FACT_LIB_DRIVER_RUNTUNER_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace fact {
/// Runs `tuner`, a path or a name on the PATH, which reports its own errors.
/// Neither it nor the kernels that it runs see the environment's variable
/// `hidden`.
llvm::LogicalResult runTuner(mlir::ModuleOp module, llvm::StringRef tuner,
                             llvm::ArrayRef<std::string> arguments,
                             llvm::StringRef hidden);
} // namespace fact

#endif // FACT_LIB_DRIVER_RUNTUNER_H
