//===- fact-translate.cpp - Print what the emitters would write -----------===//

#include "fact/Analysis/SpeedOfLight.h"
#include "fact/InitAll.h"
#include "fact/Target/Cutlass.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration cutlass(
      "fact-to-cutlass", "Print the CUTLASS C++ of each kernel",
      [](ModuleOp module, raw_ostream &output) {
        return fact::translateToCutlass(module, output);
      },
      fact::registerAllDialects);
  TranslateFromMLIRRegistration reference(
      "fact-to-cutlass-reference", "Print the naive CUDA reference of each kernel",
      [](ModuleOp module, raw_ostream &output) {
        return fact::translateToCutlassReference(module, output);
      },
      fact::registerAllDialects);
  return failed(mlirTranslateMain(argc, argv, "FACT translation tool"));
}
