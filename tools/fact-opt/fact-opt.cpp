//===- fact-opt.cpp - Run FACT's passes on text ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

static const char overview[] = R"(FACT: runs passes on MLIR text

Named pipelines, each from the text that `python -m fact export` writes:
  fact-opt model.mlir --fact-raise    the FACT graph, views folded, attention and norms recognized
  fact-opt model.mlir --fact-host     and grouped into kernels for this machine
  fact-opt model.mlir --fact-cuda     and grouped into kernels for an H200
Passes also run alone, in the order given; docs/reference/Passes.md describes each.
`-` reads standard input, and without -o the result is printed.
)";

int main(int argc, char **argv) {
  fact::initTool("fact-opt");
  mlir::DialectRegistry registry;
  fact::registerAllDialects(registry);
  fact::registerAllPasses();
  mlir::registerTransformsPasses();
  return fact::runWithOutputAside(argc, argv, [&](int count, char **words) {
    return succeeded(mlir::MlirOptMain(count, words, overview, registry));
  });
}
