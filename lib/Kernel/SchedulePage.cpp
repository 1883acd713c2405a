//===- SchedulePage.cpp - The schedule language as text -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/SchedulePage.h"
#include "llvm/ADT/StringExtras.h"

using namespace fact;

std::string fact::describeSchedule(const Target &target,
                                   const ScheduleKind &kind) {
  return "## " + kind.name + "\nFor " +
         llvm::join(target.getRules(kind), ", ") + ": " + kind.describe();
}
