//===- ProgramDialect.cpp - Registration of the program dialect -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Program/Program.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fact;
using namespace fact::program;

#include "fact/Program/ProgramDialect.cpp.inc"
#include "fact/Program/ProgramEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "fact/Program/ProgramTypes.cpp.inc"

#include "fact/Program/ProgramInterfaces.cpp.inc"

void ProgramDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "fact/Program/ProgramTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fact/Program/ProgramOps.cpp.inc"
      >();
}
