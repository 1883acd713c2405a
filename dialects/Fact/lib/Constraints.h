//===- Constraints.h - Diagnostics that name a constraint -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECTS_FACT_LIB_CONSTRAINTS_H
#define FACT_DIALECTS_FACT_LIB_CONSTRAINTS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Emits `error: (Cn) message`, where Cn is the constraint in the op's
/// documentation.
inline mlir::InFlightDiagnostic violates(EmitError emitError, int constraint) {
  return emitError() << "(C" << constraint << ") ";
}
inline mlir::InFlightDiagnostic violates(mlir::Operation *op, int constraint) {
  return violates([op] { return op->emitOpError(); }, constraint);
}

inline bool broadcastsTo(llvm::ArrayRef<int64_t> from,
                         llvm::ArrayRef<int64_t> to) {
  auto shape = broadcastShapes({from, to});
  return shape && llvm::ArrayRef<int64_t>(*shape) == to;
}
} // namespace fact

#endif // FACT_DIALECTS_FACT_LIB_CONSTRAINTS_H
