//===- Passes.h - FACT's own passes -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TRANSFORMS_PASSES_H
#define FACT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fact {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fact/Transforms/Passes.h.inc"
} // namespace fact

#endif // FACT_TRANSFORMS_PASSES_H
