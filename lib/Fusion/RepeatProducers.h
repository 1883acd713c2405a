//===- RepeatProducers.h - Kernels that their readers repeat ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_REPEATPRODUCERS_H
#define FACT_LIB_FUSION_REPEATPRODUCERS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Removes pointwise kernels whose results several kernels read, where each of
/// those can compute what it reads itself and all together are predicted to be
/// faster: they read the operands instead of the results, and nothing is
/// stored in between. Only for GPUs: predictions of the host know no
/// arithmetic.
void repeatProducers(mlir::Block &block, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_REPEATPRODUCERS_H
