//===- Passes.h - Discovery as a pass ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_PASSES_H
#define FACT_FUSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fact {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fact/Fusion/Passes.h.inc"
} // namespace fact

#endif // FACT_FUSION_PASSES_H
