//===- Problem.h - The registry's problem for a region ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_PROBLEM_H
#define FACT_FUSION_PROBLEM_H

#include "fact/Kernel/Target.h"
#include "fact/Registry/Registry.h"

namespace fact {
/// The problem that a region is on a target, as the registry knows it.
///
/// `ops` are the ops in order by the names that they give themselves, without
/// constants. Views are left out: all of them where there is a contraction,
/// which reads through them and names the layout it finds, else reshapes.
///
/// `extents` are those that the region's rule says.
registry::Problem getProblem(FusedOp fused, const Target &target);
} // namespace fact

#endif // FACT_FUSION_PROBLEM_H
