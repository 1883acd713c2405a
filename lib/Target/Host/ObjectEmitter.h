//===- ObjectEmitter.h - From MLIR to an object file ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_OBJECTEMITTER_H
#define FACT_LIB_TARGET_HOST_OBJECTEMITTER_H

#include "Cpu.h"
#include "fact/Kernel/Family.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace fact::host {
/// The figures of a FactKernel; functions are found by name, `tile` and `pack`.
struct KernelLayout {
  uint32_t bufferCount = 0;
  uint64_t tiles = 1;
  /// Memory of one thread.
  uint64_t workspaceBytes = 0;
  int32_t packedOperand = -1;
  /// One bit per operand that is packed.
  uint32_t packedWith = 0;
  uint64_t packedBytes = 0;
  uint64_t packTiles = 0;
};

/// How far LLVM transforms loops. Kernels of a KernelBuilder are vectorized and
/// unrolled already, and LLVM would only act on the remainders at the ends of
/// rows; plain loops need both.
enum class Effort { explicitVectors, plainLoops };

/// Compiles `module` for a processor and exports its FactKernel. The module
/// holds functions on pointers in dialects that convert to LLVM. An object that
/// calls anything but libm and a few functions of libc is an error.
mlir::LogicalResult emitObject(mlir::ModuleOp module, llvm::StringRef symbol,
                               const KernelLayout &layout, const Cpu &cpu,
                               Effort effort, KernelCode &code);

/// Registers the dialects that `emitObject` needs, beside those of
/// IsolatedRegion.
void registerObjectDialects(mlir::DialectRegistry &registry);

/// Expands f32 functions on vectors, and ops without an instruction on this
/// processor.
void populateHostMathPatterns(mlir::RewritePatternSet &patterns,
                              const Cpu &cpu);

/// Conversions and arithmetic of 16-bit floats as integer operations and f32
/// arithmetic.
void expandNarrowFloats(llvm::Module &module, const Cpu &cpu);

/// Whether kernels are to tell the thread sanitizer what they access
/// (FACT_SANITIZE_KERNELS=thread). They then run only in a program that has it.
bool sanitizesThreads();

/// Precedes loads and stores by calls of the thread sanitizer.
void reportAccesses(llvm::Module &module);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_OBJECTEMITTER_H
