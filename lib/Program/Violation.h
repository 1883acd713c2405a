//===- Violation.h - Diagnostics of numbered constraints --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_PROGRAM_VIOLATION_H
#define FACT_LIB_PROGRAM_VIOLATION_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace fact {
namespace program {
/// `error: (Cn) message`, where n is the number in the op's documentation.
inline mlir::InFlightDiagnostic violates(mlir::Operation *op, int constraint) {
  return op->emitOpError("(C") << constraint << ") ";
}
} // namespace program
} // namespace fact

#endif // FACT_LIB_PROGRAM_VIOLATION_H
