//===- Verification.h - Operands and tolerances of verification -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_VERIFICATION_H
#define FACT_LIB_TARGET_BUNDLE_VERIFICATION_H

#include "fact/Kernel/Target.h"
#include "llvm/Support/JSON.h"

namespace fact {
/// {"type": "bf16", "shape": [4, 8]}
llvm::json::Object describeTensor(mlir::Type type);

/// The operands and results of a kernel as in docs/bundle.md: fills, special
/// values to avoid, tolerances.
llvm::json::Array describeOperands(FusedOp fused, const Target &target);
llvm::json::Array describeResults(FusedOp fused);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_VERIFICATION_H
