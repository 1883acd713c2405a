//===- FactSchedules.h - The text of schedules and spaces -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_LIB_FACTSCHEDULES_H
#define FACT_DIALECT_FACT_LIB_FACTSCHEDULES_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Prints the attribute without the dialect's prefix.
void printSchedule(llvm::raw_ostream &os, ScheduleAttr schedule);
void printSpace(llvm::raw_ostream &os, SpaceAttr space);

/// Parse the text after the name of the kind. Null after a diagnostic.
mlir::Attribute parseSchedule(mlir::AsmParser &parser,
                              const ScheduleKind &kind);
mlir::Attribute parseSpace(mlir::AsmParser &parser, const ScheduleKind &kind);
} // namespace fact

#endif // FACT_DIALECT_FACT_LIB_FACTSCHEDULES_H
