//===- FusionFixture.h - A graph and a target -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_FUSION_FUSIONFIXTURE_H
#define FACT_TEST_UNIT_FUSION_FUSIONFIXTURE_H

#include "fact/Fusion/Discovery.h"
#include "fact/Target/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace fact {
class FusionFixture : public testing::Test {
protected:
  FusionFixture() {
    mlir::DialectRegistry dialects;
    dialects.insert<FactDialect, mlir::func::FuncDialect>();
    registerAllTargets(dialects);
    context.appendDialectRegistry(dialects);
    context.loadAllAvailableDialects();
    target = createTarget(&context, *findMachine("h200"));
  }

  /// The body of the first function.
  mlir::Block &parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      llvm::report_fatal_error("the test's module cannot be read");
    return (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
  }

  /// The ops of a block with a name, in order.
  static std::vector<mlir::Operation *> find(mlir::Block &block,
                                             llvm::StringRef name) {
    std::vector<mlir::Operation *> found;
    for (mlir::Operation &op : block)
      if (op.getName().stripDialect() == name)
        found.push_back(&op);
    return found;
  }

  static OpGroup group(llvm::ArrayRef<mlir::Operation *> ops) {
    return OpGroup(ops.begin(), ops.end());
  }

  mlir::MLIRContext context;
  std::unique_ptr<Target> target;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};
} // namespace fact

#endif // FACT_TEST_UNIT_FUSION_FUSIONFIXTURE_H
