//===- Rounding.h - 16-bit values that kernels do not round -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_ROUNDING_H
#define FACT_LIB_FUSION_ROUNDING_H

#include "fact/Fusion/Fusibility.h"
#include "fact/Fusion/FusionLimit.h"

namespace fact {
/// Whether a limit forbids a group for what it has not rounded:
///
/// - it computes from a 16-bit product of another kernel, which is to be read
///   in f32 before it is rounded;
/// - it reduces a 16-bit value that it computes. What a folded norm subtracts
///   from a product is the mean of what the product reads, which is rounded.
bool isForbidden(const OpGroup &group, FusionLimit limit);
} // namespace fact

#endif // FACT_LIB_FUSION_ROUNDING_H
