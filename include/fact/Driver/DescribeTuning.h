//===- DescribeTuning.h - What measurements say about an agent --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_DESCRIBETUNING_H
#define FACT_DRIVER_DESCRIBETUNING_H

#include "llvm/Support/JSON.h"

namespace fact {
/// Describes the results of fact-tune in a bundle, for statistics of agents:
///
///   {"strategies": {"adapt": {"kernels": 2, "tried": 16, "verified": 15}},
///    "us": 120.5, "rules_us": 131.0, "ratio": 0.92, "ratio_low": 0.91,
///    "ratio_high": 0.93, "ships": "agent"}
///
/// Kernels are those of the bundle's program by their strategy, with the
/// candidates that were tried and verified. What follows is there if the
/// agent's grouping was timed against that of the rules: `ratio` is its time
/// over theirs. Empty if the bundle was not tuned.
llvm::json::Object describeTuning(llvm::StringRef bundle);
} // namespace fact

#endif // FACT_DRIVER_DESCRIBETUNING_H
