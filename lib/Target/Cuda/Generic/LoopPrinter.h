//===- LoopPrinter.h - A function on memory as CUDA -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_CUDA_GENERIC_LOOPPRINTER_H
#define FACT_LIB_TARGET_CUDA_GENERIC_LOOPPRINTER_H

#include "StepPrinter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSet.h"

namespace fact {
/// Prints a function on memory as a kernel type of Kernel.cuh. Each linalg op
/// is a CUDA kernel, a loop around them is a loop around launches, and
/// allocated memory is a part of the workspace. Or all ops are one CUDA kernel
/// of one thread block, without loops around them.
class LoopPrinter {
public:
  LoopPrinter(mlir::func::FuncOp function, StepForm form)
      : function(function), form(form), kernels(kernelText),
        launches(launchText) {}

  mlir::LogicalResult print(llvm::raw_ostream &os);

private:
  void placeAllocations();
  void declare(mlir::Value memory, const llvm::Twine &place);
  void declareArguments();
  std::string getName(mlir::Value value);

  mlir::LogicalResult printBlock(mlir::Block &block);
  mlir::LogicalResult printOp(mlir::Operation *op);
  mlir::LogicalResult printLoop(mlir::scf::ForOp loop);
  void printGlobal(mlir::memref::GetGlobalOp op);
  void printStep(mlir::linalg::LinalgOp op);
  void printLaunch(const StepLaunch &launch,
                   llvm::ArrayRef<std::string> arguments);
  /// Whether the next op on the filled memory starts from these values; it then
  /// takes them as constants.
  bool foldFill(mlir::linalg::FillOp fill);

  mlir::func::FuncOp function;
  StepForm form;
  std::string kernelText, launchText;
  llvm::raw_string_ostream kernels, launches;
  std::string indent = "    ";
  llvm::DenseMap<mlir::Value, std::string> names;
  /// Constants that fills would have written, by memory.
  StepPrinter::Fills fills;
  llvm::StringSet<> globals;
  /// Bytes of allocations, and behind them of partial results.
  int64_t workspaceBytes = 0, partialBytes = 0;
  unsigned nextStep = 0, nextName = 0;
};
} // namespace fact

#endif // FACT_LIB_TARGET_CUDA_GENERIC_LOOPPRINTER_H
