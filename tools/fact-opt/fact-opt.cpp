//===- fact-opt.cpp - Run FACT's passes on text ---------------------------===//

#include "fact/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  fact::registerAllDialects(registry);
  fact::registerAllPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "FACT optimizer driver\n", registry));
}
