//===- Kernels.h - The kernels of a module, and their names -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_KERNELS_H
#define FACT_PROGRAM_KERNELS_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace fact {
/// A kernel by its name in the bundle, and all that is computed by it.
struct NamedKernel {
  std::string name;
  llvm::SmallVector<FusedOp> steps;
};

/// The kernels of a module in the order of its bundle; regions of equal content
/// whose operands are the same memory in the same places are one kernel.
std::vector<NamedKernel> getNamedKernels(mlir::ModuleOp module);

/// The operand that each operand is the same memory as: itself, or the first
/// one that reads this memory.
llvm::SmallVector<unsigned> getSharedOperands(FusedOp fused);

/// The name in the bundle of the kernel with this index, for people.
std::string getKernelName(FusedOp fused, unsigned index);

/// What emitted code calls a kernel: its rule and a hash of what it computes.
/// Says nothing about where in which model the kernel is, or how it is searched
/// for, so that the same kernel has the same code everywhere.
std::string getContentName(FusedOp fused);

/// 16 hexadecimal digits of the text's SHA-256.
std::string getShortHash(llvm::StringRef text);
} // namespace fact

#endif // FACT_PROGRAM_KERNELS_H
