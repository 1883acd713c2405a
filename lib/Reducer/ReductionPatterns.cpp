//===- ReductionPatterns.cpp - Simpler forms of FACT's ops ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Reducer/ReductionPatterns.h"
#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Reducer/ReductionPatternInterface.h"

using namespace mlir;
using namespace fact;

namespace {
/// Any op of FACT that computes tensors. Tests each replacement on a copy: the
/// reducer gives a region up where a pattern makes it uninteresting.
struct SimplifyOp : RewritePattern {
  SimplifyOp(MLIRContext *context, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_present<FactDialect>(op->getDialect()) ||
        isa<ConstantOp>(op) || op->getNumResults() == 0 ||
        !staysInteresting(op))
      return failure();
    SmallVector<Value> operands(op->getOperands());
    rewriter.replaceOp(op, *getSimpler(op, rewriter));
    for (Value operand : operands)
      eraseIfDead(operand.getDefiningOp(), rewriter);
    return success();
  }

private:
  bool staysInteresting(Operation *op) const {
    IRMapping mapping;
    auto module = op->getParentOfType<ModuleOp>();
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
    Operation *twin = mapping.lookup(op);
    IRRewriter rewriter(twin);
    auto simpler = getSimpler(twin, rewriter);
    if (failed(simpler))
      return false;
    rewriter.replaceOp(twin, *simpler);
    return succeeded(verify(*copy)) &&
           tester.isInteresting(*copy).first == Tester::Interestingness::True;
  }

  /// For each result an operand of its type, else zeros.
  static FailureOr<SmallVector<Value>> getSimpler(Operation *op,
                                                  RewriterBase &rewriter) {
    SmallVector<Value> simpler;
    for (Type type : op->getResultTypes()) {
      auto operand = llvm::find_if(op->getOperands(), [&](Value value) {
        return value.getType() == type;
      });
      auto zeros =
          dyn_cast_if_present<ElementsAttr>(rewriter.getZeroAttr(type));
      if (operand != op->operand_end())
        simpler.push_back(*operand);
      else if (zeros)
        simpler.push_back(
            ConstantOp::create(rewriter, op->getLoc(), type, zeros));
      else
        return failure();
    }
    return simpler;
  }

  static void eraseIfDead(Operation *op, PatternRewriter &rewriter) {
    if (!op || !isOpTriviallyDead(op))
      return;
    SmallVector<Value> operands(op->getOperands());
    rewriter.eraseOp(op);
    for (Value operand : operands)
      eraseIfDead(operand.getDefiningOp(), rewriter);
  }

  const Tester &tester;
};

struct FactReductionPatterns : DialectReductionPatternInterface {
  explicit FactReductionPatterns(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}

  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<SimplifyOp>(patterns.getContext(), tester);
  }
};
} // namespace

void fact::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, FactDialect *dialect) {
    dialect->addInterfaces<FactReductionPatterns>();
  });
}
