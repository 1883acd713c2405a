//===- Reproducer.h - The command that repeats a failure --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_DRIVER_REPRODUCER_H
#define FACT_LIB_DRIVER_REPRODUCER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fact {
/// Runs the stages of a compilation. After a failure or a crash it prints the
/// command that repeats the stage alone, on a file with the module as it was
/// before it.
class Reproducer {
public:
  /// `command` has the words of the program that compiles, of which `input` is
  /// one; without words nothing is printed.
  Reproducer(mlir::ModuleOp module, llvm::ArrayRef<std::string> command,
             llvm::StringRef input)
      : module(module), command(command), input(input) {}

  mlir::LogicalResult run(llvm::StringRef stage,
                          llvm::function_ref<mlir::LogicalResult()> body);

private:
  void print(llvm::StringRef stage, bool crashed, mlir::ModuleOp before);

  mlir::ModuleOp module;
  llvm::ArrayRef<std::string> command;
  llvm::StringRef input;
};
} // namespace fact

#endif // FACT_LIB_DRIVER_REPRODUCER_H
