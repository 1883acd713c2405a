//===- SplitConcats.h - What is computed of concatenations ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_SPLITCONCATS_H
#define FACT_LIB_TARGET_HOST_SPLITCONCATS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact::host {
/// Parts of results that are computed apart; each has code of its own.
inline constexpr size_t mostParts = 16;

/// Computes pointwise ops and slices of concatenations part by part, so that
/// concatenations come last: f(concat(a, b), c) becomes concat(f(a, c0), f(b,
/// c1)), where c0 and c1 are slices of c.
void splitConcats(FusedOp fused);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_SPLITCONCATS_H
