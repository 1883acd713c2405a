//===- ParentProcess.cpp - Tools that end with their caller ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/ParentProcess.h"
#include <csignal>
#include <cstdlib>
#include <sys/prctl.h>

namespace fact {

/// The Python package sets this variable too.
static constexpr char variable[] = "FACT_END_WITH_PARENT";

void endWithParent() {
  if (std::getenv(variable))
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

void endChildrenWithThisProcess() { setenv(variable, "1", 1); }

} // namespace fact
