//===- fact-translate.cpp - Print what the emitters would write -----------===//

#include "Tool.h"
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

static const char overview[] = R"(FACT: prints the kernels of fused text

  fact-opt model.mlir --fact-cuda | fact-translate --fact-to-cutlass
  fact-opt model.mlir --fact-host | fact-translate --fact-to-host
prints the best predicted candidate of each kernel, or the one its schedule
names; -reference prints what candidates are verified against.
)";

int main(int argc, char **argv) {
  using fact::KernelText;
  fact::initTool("fact-translate");
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
  return fact::runWithOutputAside(argc, argv, [](int count, char **words) {
    return succeeded(mlirTranslateMain(count, words, overview));
  });
}
