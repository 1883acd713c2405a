//===- SeparatePadding.h - Padding for each of its windows ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_SEPARATEPADDING_H
#define FACT_LIB_FUSION_SEPARATEPADDING_H

#include "mlir/IR/Block.h"

namespace fact {
/// Copies the padding that several windows share, so that each has its own. A
/// kernel reads windows through padding that belongs to it, while shared
/// padding would be a kernel that writes the padded image to memory.
void separatePadding(mlir::Block &block);
} // namespace fact

#endif // FACT_LIB_FUSION_SEPARATEPADDING_H
