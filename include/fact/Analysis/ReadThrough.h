//===- ReadThrough.h - Values behind reshapes and permutes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_READTHROUGH_H
#define FACT_ANALYSIS_READTHROUGH_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// The value whose memory `value` names: a reshape of a row-major value is the
/// same memory under another type, and needs no kernel.
mlir::Value skipReshapes(mlir::Value value);

/// Whether the value is known once the weights are loaded: a view of a weight,
/// of a constant, or of what is prepared from them. Arguments of outlined
/// kernels that are so in every launch have `fixedArgument`.
bool isFixed(mlir::Value value);
inline constexpr llvm::StringLiteral fixedArgument = "fact.fixed";

/// The operand of a reduction before a permute that only moves the reduced
/// dimensions to the end, and its reduced dimensions: columns are reduced as
/// the rows of the transposed matrix.
struct ReducedOperand {
  mlir::Value value;
  llvm::SmallVector<int64_t> dims;

  static ReducedOperand get(ReduceOp reduce);
};
} // namespace fact

#endif // FACT_ANALYSIS_READTHROUGH_H
