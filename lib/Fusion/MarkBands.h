//===- MarkBands.h - Bands of the operands of products ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_MARKBANDS_H
#define FACT_LIB_FUSION_MARKBANDS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Marks a kernel of products with what is known about its operands
/// (`fact.bands`), where it says that a part of a factor is 0, or that a part
/// of the product is not used. Weights that were read to find out are baked.
void markBands(FusedOp fused);
} // namespace fact

#endif // FACT_LIB_FUSION_MARKBANDS_H
