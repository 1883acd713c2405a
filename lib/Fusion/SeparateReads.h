//===- SeparateReads.h - Views for each kernel that reads through -*- C++ -*-=//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_SEPARATEREADS_H
#define FACT_LIB_FUSION_SEPARATEREADS_H

#include "mlir/IR/Block.h"

namespace fact {
/// Copies the permutes that several reductions share, and the padding that
/// several windows share, so that each has its own. A kernel reads through a
/// view that belongs to it, while a shared one would be a kernel that writes
/// the permuted or padded tensor to memory.
void separateReads(mlir::Block &block);
} // namespace fact

#endif // FACT_LIB_FUSION_SEPARATEREADS_H
