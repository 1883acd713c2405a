//===- Recomputation.h - Values computed for each of their readers *- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_RECOMPUTATION_H
#define FACT_LIB_FUSION_RECOMPUTATION_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Whether `op` should stay out of a kernel that would compute a value of few
/// elements again for each of the many that read it: `op` is added to `before`
/// as the producer or as the reader of that value, and both as kernels of their
/// own are predicted to be faster, the second launch included.
bool recomputesTooMuch(llvm::StringRef rule, const OpGroup &before,
                       mlir::Operation *op, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_RECOMPUTATION_H
