//===- FewQueries.h - Attention of one query or few -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_FEWQUERIES_H
#define FACT_LIB_TARGET_HOST_FEWQUERIES_H

#include "HostPlan.h"
#include "fact/Analysis/AttentionRegion.h"

namespace fact::host {
/// Whether queries would fill at most half of the lanes of a register, and keys
/// and values can be read in vectors.
bool hasFewQueries(const Cpu &cpu, const AttentionRegion &region);
/// Writes the kernel of such an attention.
void buildFewQueries(KernelBuilder &b, const AttentionRegion &region);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_FEWQUERIES_H
