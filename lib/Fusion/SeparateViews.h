//===- SeparateViews.h - Views for each of their reductions -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_SEPARATEVIEWS_H
#define FACT_LIB_FUSION_SEPARATEVIEWS_H

#include "mlir/IR/Block.h"

namespace fact {
/// Copies the permutes that several reductions share, so that each has its own.
/// A kernel reads through a permute that belongs to it, while a shared one
/// would be a kernel that writes the permuted tensor to memory.
void separateViews(mlir::Block &block);
} // namespace fact

#endif // FACT_LIB_FUSION_SEPARATEVIEWS_H
