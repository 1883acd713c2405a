//===- fact-translate.cpp - Print what the emitters would write -----------===//

#include "fact/InitAll.h"
#include "fact/Target/Translate.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;

static void registerTranslation(StringRef name, StringRef description,
                                StringRef machine, fact::KernelText text) {
  TranslateFromMLIRRegistration(
      name, description,
      [=](ModuleOp module, raw_ostream &output) {
        return fact::translateKernels(module, output, machine, text);
      },
      fact::registerAllDialects);
}

int main(int argc, char **argv) {
  using fact::KernelText;
  registerTranslation("fact-to-cutlass", "Print the CUTLASS C++ of each kernel",
                      "h200", KernelText::candidate);
  registerTranslation("fact-to-cutlass-reference",
                      "Print the naive CUDA reference of each kernel", "h200",
                      KernelText::reference);
  registerTranslation("fact-to-host", "Print the IR of each host kernel",
                      "host", KernelText::candidate);
  registerTranslation("fact-to-host-reference",
                      "Print the IR of each host kernel's naive reference",
                      "host", KernelText::reference);
  return failed(mlirTranslateMain(argc, argv, "FACT translation tool"));
}
