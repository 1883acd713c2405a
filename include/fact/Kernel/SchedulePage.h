//===- SchedulePage.h - The schedule language as text -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_KERNEL_SCHEDULEPAGE_H
#define FACT_KERNEL_SCHEDULEPAGE_H

#include "fact/Kernel/Target.h"

namespace fact {
/// A section of Markdown: the rules whose regions have schedules of the kind,
/// the parameters and the limits. docs/reference/Schedules.md has it, and a
/// language model is given it word for word.
std::string describeSchedule(const Target &target, const ScheduleKind &kind);
} // namespace fact

#endif // FACT_KERNEL_SCHEDULEPAGE_H
