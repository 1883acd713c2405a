//===- Rounding.h - Where kernels round -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_ROUNDING_H
#define FACT_ANALYSIS_ROUNDING_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace fact {
class CastOp;

/// Whether all candidates compute the same: a view, a choice among operands, or
/// a cast, which rounds to nearest in each of them.
bool isExact(mlir::Operation *op);

/// Whether a cast rounds to 16 bits.
bool isNarrowing(CastOp cast);

/// Whether an op compares elements that are chosen among the same numbers, as a
/// number with the maximum of its neighbors, and ops `inside` compute these
/// with rounding: it must be the same in both places, for which it has to be
/// stored.
bool comparesWithItself(mlir::Operation *op,
                        llvm::function_ref<bool(mlir::Operation *)> inside);
} // namespace fact

#endif // FACT_ANALYSIS_ROUNDING_H
