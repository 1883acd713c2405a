//===- Reference.h - What candidates are compared with ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_REFERENCE_H
#define FACT_TARGET_REFERENCE_H

#include "fact/Kernel/Target.h"

namespace fact {
/// Writes a naive kernel for any region of static shapes, in C++ that nvcc and
/// host compilers take alike. It shares nothing with what emits candidates: an
/// index formula for each view, a scalar formula for each pointwise op, a loop
/// for each row op and contraction, all in double.
///
/// Its buffers are the kernel's operands; its results, f64 where the kernel's
/// are f32 or f64 and f32 where they are 16-bit floats; and one f32 tensor for
/// each result of which `findDoubts` says that there is some: how far rounding
/// alone may move an element, infinite where it decides between values.
mlir::LogicalResult emitReference(FusedOp fused, llvm::StringRef symbol,
                                  KernelCode &code);

/// What rounding on the way to a result can do beyond what tolerances allow.
enum class Doubt {
  None,
  /// Decide between values: a comparison of computed floats, a truncation, a
  /// place.
  Decides,
  /// Move an element far, or to the other side of a pole, as 1/x and log(x) do
  /// where x is a difference near 0; it may decide too.
  Grows
};

/// The doubt in each result.
llvm::SmallVector<Doubt> findDoubts(FusedOp fused);

/// The headers that references include: (path in the bundle, text).
std::vector<std::pair<std::string, std::string>> getReferenceFiles();
} // namespace fact

#endif // FACT_TARGET_REFERENCE_H
