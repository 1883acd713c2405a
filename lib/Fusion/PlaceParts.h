//===- PlaceParts.h - Concatenations written in place -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_PLACEPARTS_H
#define FACT_LIB_FUSION_PLACEPARTS_H

#include "fact/Fusion/Fusibility.h"

namespace fact {
/// Replaces kernels that only concatenate: each kernel before such a one writes
/// its result to its place in the memory of the whole, at the strides of the
/// whole (Placement.h), where its family can and both together are predicted to
/// be faster. What has no such kernel is copied to its place.
void placeParts(mlir::Block &block, const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_FUSION_PLACEPARTS_H
