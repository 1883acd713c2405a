//===- JoinGroups.h - Groups of a convolution as one product ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_JOINGROUPS_H
#define FACT_LIB_FUSION_JOINGROUPS_H

#include "fact/Kernel/Target.h"

namespace fact {
/// Multiplies several groups of a convolution, or all, as one product, whose
/// filters have zeros for the channels of the other groups: matrix units have
/// larger tiles than narrow groups fill, and a pixel of all groups is read
/// where it lies. Where this is predicted to be faster, and the filters are
/// weights, which are spread when they are loaded.
///
/// An element that is not finite reaches the filters of all joined groups.
void joinGroups(mlir::Block &block, const Target &target);
} // namespace fact

#endif // FACT_LIB_FUSION_JOINGROUPS_H
