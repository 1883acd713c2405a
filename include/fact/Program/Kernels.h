//===- Kernels.h - The kernels of a module, and their names -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_KERNELS_H
#define FACT_PROGRAM_KERNELS_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace fact {
class Target;

/// A kernel, its name in the bundle, and the steps that launch it.
struct NamedKernel {
  std::string name;
  llvm::SmallVector<FusedOp> steps;
};

/// Whether two regions, with the operands that they alias, have the same code
/// under the same schedule.
bool isSameRegion(FusedOp a, FusedOp b);

/// The same with the schedules to choose from: whether both are one kernel.
bool isSameKernel(FusedOp a, FusedOp b);

/// The kernels of a module in the order of its bundle. Equal regions whose
/// operands alias in the same way are one kernel.
std::vector<NamedKernel> getNamedKernels(mlir::ModuleOp module);

/// For each operand, the first operand that has the same memory; else itself.
llvm::SmallVector<unsigned> getSharedOperands(FusedOp fused);

/// The name in the bundle of the kernel with this index.
std::string getKernelName(FusedOp fused, unsigned index);

/// The name of a kernel in emitted code: its rule and a hash of its region and
/// of which operands share memory. Independent of the model, the position in it
/// and the space, so that equal kernels have equal code everywhere.
std::string getContentName(FusedOp fused);

/// The best predicted time of a kernel over its schedule or space, in
/// microseconds; infinite if it has none.
double predictKernel(FusedOp fused, const Target &target);

/// 16 hexadecimal digits of the text's SHA-256.
std::string getShortHash(llvm::StringRef text);
} // namespace fact

#endif // FACT_PROGRAM_KERNELS_H
