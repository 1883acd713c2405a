//===- Passes.h - Conversions into and out of FACT --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CONVERSION_PASSES_H
#define FACT_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace fact {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fact/Conversion/Passes.h.inc"
} // namespace fact

#endif // FACT_CONVERSION_PASSES_H
