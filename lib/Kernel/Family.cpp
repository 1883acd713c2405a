//===- Family.cpp - A family of kernels, and its plan of a region ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Kernel/Family.h"

using namespace mlir;
using namespace fact;

Plan::~Plan() = default;
Family::~Family() = default;

LogicalResult Plan::check(ScheduleAttr schedule, EmitError emitError) const {
  ArrayRef<const ScheduleKind *> kinds = family.getScheduleKinds();
  if (llvm::is_contained(kinds, schedule.getKind())) {
    if (failed(schedule.checkValues(emitError)))
      return failure();
    return checkLimits(schedule, emitError);
  }
  InFlightDiagnostic diagnostic = emitError()
                                  << "'" << family.getRule().name << "' on '"
                                  << machine.name << "' takes ";
  llvm::interleave(
      kinds, [&](const ScheduleKind *kind) { diagnostic << kind->name; },
      [&] { diagnostic << " or "; });
  return diagnostic << " schedules, not " << schedule.getKind()->name;
}

bool Plan::isLegal(ScheduleAttr schedule) const {
  return succeeded(check(schedule, Silence(fused)));
}
