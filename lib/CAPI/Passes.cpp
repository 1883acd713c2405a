//===- Passes.cpp - C interface of FACT's passes and pipelines ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact-c/Passes.h"
#include "fact/InitAll.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void factRegisterAllPasses(void) {
  static const bool registered = [] {
    fact::registerAllPasses();
    registerTransformsPasses();
    return true;
  }();
  (void)registered;
}

MlirLogicalResult factRunPipeline(MlirModule module, MlirStringRef pipeline,
                                  MlirStringCallback error, void *userData) {
  factRegisterAllPasses();
  ModuleOp op = unwrap(module);
  PassManager manager(op.getContext());
  detail::CallbackOstream stream(error, userData);
  if (failed(parsePassPipeline(unwrap(pipeline), manager, stream)))
    return mlirLogicalResultFailure();
  return wrap(manager.run(op));
}
