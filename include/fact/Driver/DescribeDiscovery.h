//===- DescribeDiscovery.h - Discovery in a summary -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DRIVER_DESCRIBEDISCOVERY_H
#define FACT_DRIVER_DESCRIBEDISCOVERY_H

#include "fact/Fusion/Agent.h"
#include "llvm/Support/JSON.h"

namespace fact {
/// `discovery` of a summary (docs/agents.md); `measured` is what tuning says
/// about it.
llvm::json::Object describeDiscovery(const DiscoveryReport &report,
                                     llvm::json::Object measured);
} // namespace fact

#endif // FACT_DRIVER_DESCRIBEDISCOVERY_H
