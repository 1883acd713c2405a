//===- FewQueries.h - Attention of one query or few -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_FEWQUERIES_H
#define FACT_LIB_TARGET_HOST_FEWQUERIES_H

#include "HostPlan.h"
#include "fact/Analysis/AttentionRegion.h"

namespace fact::host {
/// Lanes of a register of the type that the attention computes in.
int64_t getRegisterLanes(const Cpu &cpu, const AttentionRegion &region);
/// Whether queries would fill at most half of the lanes of a register, and keys
/// and values can be read in vectors.
bool hasFewQueries(const Cpu &cpu, const AttentionRegion &region);
/// Writes the kernel of such an attention.
void buildFewQueries(KernelBuilder &b, const AttentionRegion &region);
/// exp(x) of an x that is at most 0, such as a score less the largest one; 0
/// where it is below 2^-126, beside which the largest weight is 1.
Value buildExpOfWeight(KernelBuilder &b, Value x);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_FEWQUERIES_H
