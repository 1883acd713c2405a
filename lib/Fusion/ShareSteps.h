//===- ShareSteps.h - One kernel for the steps of a loop --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_SHARESTEPS_H
#define FACT_LIB_FUSION_SHARESTEPS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Makes kernels that differ only in which part of a value they read or write
/// equal. A contiguous slice that several kernels take of one value moves out
/// of them: each is launched on its part. A kernel that only concatenates
/// becomes a concatenation between kernels: those before it write into its
/// memory.
void shareSteps(mlir::Block &block, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_SHARESTEPS_H
