//===- Passes.h - Refinement as a pass --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_AGENT_PASSES_H
#define FACT_AGENT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fact {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fact/Agent/Passes.h.inc"
} // namespace fact

#endif // FACT_AGENT_PASSES_H
