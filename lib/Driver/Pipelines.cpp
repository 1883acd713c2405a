//===- Pipelines.cpp - The stages as pass pipelines -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Driver/Pipelines.h"
#include "fact/Conversion/Passes.h"
#include "fact/Fusion/Passes.h"
#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace fact;

void fact::buildRaisePipeline(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createMovePermutes());
  manager.addPass(createCSEPass());
  manager.addPass(createFoldViews());
  manager.addPass(createSimplifyProducts());
  manager.addPass(createRaiseActivations());
  manager.addPass(createRaiseNorms());
  manager.addPass(createRaiseRotary());
  manager.addPass(createRaiseAttention());
  manager.addPass(createProveMasks());
  manager.addPass(createSplitGates());
  manager.addPass(createNormalizeRows());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createMergeProjections());
  manager.addNestedPass<func::FuncOp>(createOrderSteps());
  manager.addNestedPass<func::FuncOp>(createHoistPrepare());
}

void fact::buildFoldPipeline(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createFoldNorms());
  manager.addNestedPass<func::FuncOp>(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createHoistPrepare());
}

void fact::buildProgramPipeline(OpPassManager &manager, double alternatives,
                                ArrayRef<std::string> patterns,
                                bool keepProducts) {
  manager.addPass(createOutlineProgram());
  if (alternatives > 0) {
    AddAlternativesOptions options;
    options.factor = alternatives;
    options.keepProducts = keepProducts;
    options.patterns.assign(patterns.begin(), patterns.end());
    manager.addPass(createAddAlternatives(options));
  }
  manager.addNestedPass<program::ModelOp>(createPlanMemory());
}

static void buildFor(OpPassManager &manager, StringRef machine) {
  manager.addPass(createConvertTorchToFact());
  buildRaisePipeline(manager);
  DiscoverOptions options;
  options.target = machine.str();
  manager.addPass(createDiscover(options));
}

void fact::registerPipelines() {
  PassPipelineRegistration<>("fact-raise", "Convert torch to FACT and raise it",
                             [](OpPassManager &manager) {
                               manager.addPass(createConvertTorchToFact());
                               buildRaisePipeline(manager);
                             });
  PassPipelineRegistration<>(
      "fact-host", "Raise, and group into kernels for the host",
      [](OpPassManager &manager) { buildFor(manager, "host"); });
  PassPipelineRegistration<>(
      "fact-cuda", "Raise, and group into kernels for an H200",
      [](OpPassManager &manager) { buildFor(manager, "h200"); });
}
