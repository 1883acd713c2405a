//===- fact-reduce.cpp - Reduce text that shows a mistake -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/InitAll.h"
#include "fact/Reducer/ReductionPatterns.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  fact::initTool("fact-reduce");
  mlir::DialectRegistry registry;
  fact::registerAllDialects(registry);
  fact::registerReductionPatterns(registry);
  // For --opt-reduction-pass, which names passes.
  fact::registerAllPasses();
  mlir::registerTransformsPasses();
  mlir::MLIRContext context(registry);
  return failed(mlir::mlirReduceMain(argc, argv, context));
}
