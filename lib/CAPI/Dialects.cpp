//===- Dialects.cpp - C interface of FACT's dialects ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact-c/Dialects.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/InitAll.h"
#include "fact/Program/Program.h"
#include "fact/Target/Targets.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Fact, fact, ::fact::FactDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(FactProgram, program,
                                      ::fact::program::ProgramDialect)

void factRegisterAllTargets(MlirDialectRegistry registry) {
  fact::registerAllTargets(*unwrap(registry));
}

void factRegisterAllDialects(MlirDialectRegistry registry) {
  fact::registerAllDialects(*unwrap(registry));
}
