//===- Regrouping.h - Groupings revised by measurements ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A language model sees what was measured of its grouping (AgentOptions::
// measured) and may revise it. The run in the options' memory keeps the
// grouping that stands, and records which ones stayed.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_AGENT_REGROUPING_H
#define FACT_AGENT_REGROUPING_H

#include "fact/Fusion/Agent.h"

namespace fact {
/// Whether the options' agent is a language model, or a recorded one.
bool isLanguageModel(const AgentOptions &options);

/// Lets the grouping of the last discovery stand.
void keepGrouping(const AgentOptions &options);

/// Lets a revised grouping stand if it is faster, else the one before it;
/// returns whether it stays. `replay` repeats what was decided, whatever is
/// measured now.
bool settleGrouping(const AgentOptions &options, bool isFaster);

/// Counts, by strategy, the patterns of the report's grouping that a tuned
/// bundle verified, and those that are faster than the rules' kernels.
void countMeasured(DiscoveryReport &report, llvm::StringRef bundle);
} // namespace fact

#endif // FACT_AGENT_REGROUPING_H
