//===- toolchain-opt.cpp - FACT inside of another compiler ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Dialect/Fact/Fact.h"
#include "fact/InitAll.h"
#include "fact/Transforms/Patterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace {
/// The toolchain's own pattern, beside those of FACT: relu(relu(x)) is relu(x).
struct DropSecondRelu : OpRewritePattern<fact::ReluOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(fact::ReluOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op->getOperand(0).getDefiningOp<fact::ReluOp>();
    if (!first)
      return failure();
    rewriter.replaceOp(op, first);
    return success();
  }
};

struct CleanPass : PassWrapper<CleanPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CleanPass)

  StringRef getArgument() const override { return "toolchain-clean"; }
  StringRef getDescription() const override {
    return "Fold views and drop what has no effect";
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    fact::populateFoldViewsPatterns(patterns);
    patterns.add<DropSecondRelu>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  fact::registerAllDialects(registry);
  fact::registerAllPasses();
  PassRegistration<CleanPass>();
  return failed(MlirOptMain(argc, argv, "a toolchain with FACT\n", registry));
}
