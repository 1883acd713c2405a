//===- Layouts.h - Who moves the elements of a permuted value ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_LAYOUTS_H
#define FACT_LIB_FUSION_LAYOUTS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Whether `views`, which permute an operand or a result of the product or row
/// op in `before`, should be a copy of their own: the kernel would move
/// elements one by one where a copy moves tiles, and both kernels are predicted
/// to be faster, the second launch included. Only on GPUs, and not for weights,
/// which would be copied on each call.
bool areBetterCopied(llvm::StringRef rule, const OpGroup &before,
                     llvm::ArrayRef<mlir::Operation *> views,
                     const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_LAYOUTS_H
