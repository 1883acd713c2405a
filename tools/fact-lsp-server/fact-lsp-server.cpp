//===- fact-lsp-server.cpp - FACT text in an editor -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tool.h"
#include "fact/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  fact::initTool("fact-lsp-server");
  fact::declarePluginOption();
  mlir::DialectRegistry registry;
  // An editor opens any text, not only what FACT reads and writes.
  mlir::registerAllDialects(registry);
  fact::registerAllDialects(registry);
  // The command line is parsed before the first file is opened.
  bool pluginsAreRegistered = false;
  auto getRegistry =
      [&](const llvm::lsp::URIForFile &) -> mlir::DialectRegistry & {
    if (!pluginsAreRegistered)
      fact::registerPlugins(registry);
    pluginsAreRegistered = true;
    return registry;
  };
  return failed(mlir::MlirLspServerMain(argc, argv, getRegistry));
}
