//===- SplitReductions.h - Products of which few numbers are left -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_SPLITREDUCTIONS_H
#define FACT_LIB_FUSION_SPLITREDUCTIONS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Splits a reduction over more than the rows of what is computed from a
/// product, such as a loss: into one of its rows, which the product's kernel
/// takes, and one of the few numbers that are left, where that is predicted to
/// be faster than to store what is reduced.
void splitReductions(mlir::Block &block, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_SPLITREDUCTIONS_H
