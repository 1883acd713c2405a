//===- Passes.h - From a discovered function to a program -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_PASSES_H
#define FACT_PROGRAM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fact {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fact/Program/Passes.h.inc"
} // namespace fact

#endif // FACT_PROGRAM_PASSES_H
