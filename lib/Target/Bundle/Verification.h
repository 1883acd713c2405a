//===- Verification.h - Operands and tolerances of verification -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_VERIFICATION_H
#define FACT_LIB_TARGET_BUNDLE_VERIFICATION_H

#include "fact/Kernel/Target.h"
#include "fact/Tuning/Bundle.h"

namespace fact {
/// Sets the element type and the shape.
void setType(tuning::Tensor &tensor, mlir::Type type);

/// The operands and results of a kernel as in docs/bundle.md: fills, special
/// values to avoid, tolerances.
std::vector<tuning::Operand> describeOperands(FusedOp fused,
                                              const Target &target);
std::vector<tuning::Result> describeResults(FusedOp fused);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_VERIFICATION_H
