//===- RowStatistics.h - Statistics that take a product's place -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_ROWSTATISTICS_H
#define FACT_LIB_FUSION_ROWSTATISTICS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// The ops that join a group together with a difference `user` from a maximum:
/// the maximum and the sum of exponentials are one pass over their rows. None
/// unless nothing else reads what is between.
llvm::SmallVector<mlir::Operation *> getExponentialsOf(mlir::Operation *user);

/// Whether a kernel of `before` that also reduces what it computes stores
/// nothing of that size, and is predicted to be faster than another one for the
/// reductions.
bool areBetterReduced(llvm::StringRef rule, const OpGroup &before,
                      llvm::ArrayRef<mlir::Operation *> reductions,
                      const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_ROWSTATISTICS_H
