//===- Standing.h - Patterns beside what the rules do -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_AGENT_STANDING_H
#define FACT_LIB_AGENT_STANDING_H

#include "fact/Fusion/Agent.h"

namespace fact {
/// Whether the rules, which make the groups `rules`, would not make the kernel
/// of a pattern.
bool isOwn(const Proposal &pattern, llvm::ArrayRef<Proposal> rules);

/// The id of a legal group's problem.
std::string getProblemId(const Proposal &proposal,
                         const Fusibility &fusibility);

/// Describes accepted patterns beside the rules' grouping of the same block:
/// each with the kernels of `all` and of `rules` that its ops connect. The
/// first of `all` are the patterns.
std::vector<StandingPattern> compareWithRules(size_t patterns,
                                              llvm::ArrayRef<Proposal> all,
                                              llvm::ArrayRef<Proposal> rules,
                                              const Fusibility &fusibility);
} // namespace fact

#endif // FACT_LIB_AGENT_STANDING_H
