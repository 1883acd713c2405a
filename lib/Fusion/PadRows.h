//===- PadRows.h - Rows that begin where kernels load them ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_PADROWS_H
#define FACT_LIB_FUSION_PADROWS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Gives the factors and results of products rows that begin at multiples of 16
/// bytes, where the kernels are predicted to be faster so. What a kernel writes
/// has longer rows, whose ends nobody uses (Placement.h), and all that read it
/// read a slice. Inputs are copied, and outputs are copied back;
/// weights are copied when they are loaded. Only on GPUs.
void padRows(mlir::Block &block, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_PADROWS_H
