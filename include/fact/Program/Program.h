//===- Program.h - The program dialect --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_PROGRAM_PROGRAM_H
#define FACT_PROGRAM_PROGRAM_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include "fact/Program/ProgramDialect.h.inc"
#include "fact/Program/ProgramEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "fact/Program/ProgramTypes.h.inc"

#include "fact/Program/ProgramInterfaces.h.inc"

#define GET_OP_CLASSES
#include "fact/Program/ProgramOps.h.inc"

namespace fact {
namespace program {
/// The first and the last launch of a call that use a buffer, by position.
struct LiveRange {
  unsigned first, last;

  bool overlaps(const LiveRange &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Bytes of a buffer that is not a part of another.
struct Extent {
  BufferOpInterface whole;
  int64_t begin, end;
};

/// The bytes that a buffer is, or is a part of.
Extent getExtent(mlir::Value buffer);

/// Live ranges of the buffers in workspace, in the order of their first launch.
llvm::MapVector<AllocOp, LiveRange> getLiveRanges(ModelOp model);
} // namespace program
} // namespace fact

#endif // FACT_PROGRAM_PROGRAM_H
