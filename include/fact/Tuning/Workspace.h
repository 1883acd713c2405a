//===- Workspace.h - The memory of a program's values -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_WORKSPACE_H
#define FACT_TUNING_WORKSPACE_H

#include "fact/Tuning/Bundle.h"

namespace fact {
namespace tuning {

/// Up to this many bytes, values of a GPU's program share memory only if the
/// launches that use them depend on each other: others overlap in a graph.
constexpr int64_t mostOverlappedWorkspace = int64_t(32) << 20;

/// Gives the values in workspace their places in the program as it is now.
void planWorkspace(Bundle &bundle);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_WORKSPACE_H
