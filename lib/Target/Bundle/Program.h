//===- Program.h - The host program of a module -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_PROGRAM_H
#define FACT_LIB_TARGET_BUNDLE_PROGRAM_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace fact {
/// Where the bytes of a value are.
struct Storage {
  enum Kind { input, weight, constant, prepared, workspace, output };
  Kind kind;
  /// Of the input, weight, constant or output.
  int64_t index = 0;
  /// Of workspace and prepared memory.
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// One launch.
struct Step {
  unsigned kernel;
  llvm::SmallVector<unsigned> operands, results;
};

/// Steps over values, with all memory placed.
struct Program {
  std::vector<Storage> values;
  std::vector<Step> prepare, steps;
  /// Kernels of equal content appear once.
  std::vector<FusedOp> kernels;
  std::vector<ConstantOp> constants;
  std::vector<WeightOp> weights;
  int64_t workspaceBytes = 0;
  int64_t preparedBytes = 0;
};

/// The name in the bundle of the kernel with this index, for people.
std::string getKernelName(FusedOp fused, unsigned index);

/// What emitted code calls a kernel: its rule and a hash of what it computes.
/// Says nothing about where in which model the kernel is, or how it is searched
/// for, so that the same kernel has the same code everywhere.
std::string getContentName(FusedOp fused);

/// 16 hexadecimal digits of the text's SHA-256.
std::string getShortHash(llvm::StringRef text);

/// Reads the program off the module's function; fails with a diagnostic when
/// something in it is not a kernel.
mlir::FailureOr<Program> buildProgram(mlir::ModuleOp module,
                                      mlir::func::FuncOp function);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_PROGRAM_H
