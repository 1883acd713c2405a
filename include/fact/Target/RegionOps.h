//===- RegionOps.h - The ops a region is anchored at ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TARGET_REGIONOPS_H
#define FACT_TARGET_REGIONOPS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// The only op of that type in the region, or null.
template <typename OpT> OpT getOnly(FusedOp fused) {
  auto ops = fused.getBody().front().getOps<OpT>();
  return llvm::hasSingleElement(ops) ? *ops.begin() : OpT();
}
} // namespace fact

#endif // FACT_TARGET_REGIONOPS_H
