//===- MergeGroups.h - Kernels of one memory become one ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_FUSION_MERGEGROUPS_H
#define FACT_LIB_FUSION_MERGEGROUPS_H

#include "fact/Analysis/UnrolledLoops.h"
#include "fact/Fusion/Agent.h"
#include "fact/Fusion/FusionLimit.h"

namespace fact {
/// Merges proposals beside `decided` that read the same values, and those that
/// read what others give, where a rule takes both and predicts less time for
/// one kernel than for two. Contractions keep their kernels.
void mergeGroups(std::vector<Proposal> &proposals, const GroupedBlock &decided,
                 const UnrolledLoops &loops, const Fusibility &fusibility,
                 FusionLimit limit);
} // namespace fact

#endif // FACT_LIB_FUSION_MERGEGROUPS_H
