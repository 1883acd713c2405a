//===- Reference.h - References of candidates -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_REFERENCE_H
#define FACT_TARGET_REFERENCE_H

#include "fact/Kernel/Target.h"

namespace fact {
/// Writes a naive kernel for any region of static shapes, in C++ for nvcc and
/// host compilers alike. It shares no code with the emitters of candidates: an
/// index formula per view, a scalar formula per pointwise op, a loop per row op
/// and contraction, all in double.
///
/// Its buffers are the kernel's operands; its results, f64 where the kernel's
/// are f32 or f64 and f32 where they are 16-bit floats; and one f32 tensor per
/// result with a Doubt: how far rounding alone may move each element, infinite
/// where it decides between values.
mlir::LogicalResult emitReference(FusedOp fused, llvm::StringRef symbol,
                                  KernelCode &code);

/// Whether an op contracts operands of f32, which no candidate may round to
/// TF32.
bool isStrictContraction(mlir::Operation *op);

/// The effect of intermediate rounding on a result, beyond its tolerance.
enum class Doubt {
  None,
  /// Decides between values: in a comparison of computed floats, a truncation,
  /// an argmax.
  Decides,
  /// Moves an element far, or to the other side of a pole, as 1/x and log(x) do
  /// where x is a difference near 0, or by a jump, as floor(x); may also
  /// decide.
  Grows
};

/// The doubt of each result.
llvm::SmallVector<Doubt> findDoubts(FusedOp fused);

/// The headers that references include: (path in the bundle, text).
std::vector<std::pair<std::string, std::string>> getReferenceFiles();
} // namespace fact

#endif // FACT_TARGET_REFERENCE_H
