//===- InitAll.cpp - Everything FACT registers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/InitAll.h"
#include "fact/Agent/LanguageModel.h"
#include "fact/Agent/Passes.h"
#include "fact/Conversion/Passes.h"
#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Torch/Torch.h"
#include "fact/Driver/Pipelines.h"
#include "fact/Fusion/Passes.h"
#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"
#include "fact/Target/Targets.h"
#include "fact/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

void fact::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<FactDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
              mlir::linalg::LinalgDialect, mlir::math::MathDialect,
              mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
  registry.insert<program::ProgramDialect, torch::TorchDialect>();
  registerAllTargets(registry);
  registerLanguageModelAgents(registry);
}

void fact::registerAllPasses() {
  registerFactAgentPasses();
  registerFactConversionPasses();
  registerFactFusionPasses();
  registerFactProgramPasses();
  registerFactTransformsPasses();
  registerPipelines();
}
