//===- Crash.cpp - Crashes while a pass runs ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plug-in for tests: canonicalizing an op with the attribute `crash` ends the
// process as a mistake in a pass would, by a signal or by a fatal error, or by
// a signal in the pass and one more where the context is destroyed. So does
// reading the region of a kernel of the rule "crash" that has such an op.
//
//===----------------------------------------------------------------------===//

#include "fact/Kernel/Family.h"
#include "fact/Kernel/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace {
bool crashesAgain = false;

/// The signal itself, also where a sanitizer would find the mistake before it.
LLVM_NO_SANITIZE("undefined") int crash() {
  volatile int *volatile nowhere = nullptr;
  return *nowhere;
}

/// Ends the process as the op says, if it does.
void crashAt(Operation *op) {
  auto how = op->getAttrOfType<StringAttr>("crash");
  if (!how)
    return;
  if (how == "fatal")
    llvm::report_fatal_error("a fatal error of the test");
  crashesAgain = how == "twice";
  crash();
}

struct Crash : RewritePattern {
  explicit Crash(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &) const override {
    crashAt(op);
    return failure();
  }
};

class CrashDialect : public Dialect {
public:
  explicit CrashDialect(MLIRContext *context)
      : Dialect("crash", context, TypeID::get<CrashDialect>()) {}
  ~CrashDialect() override {
    if (crashesAgain)
      crash();
  }
  static StringRef getDialectNamespace() { return "crash"; }
  void getCanonicalizationPatterns(RewritePatternSet &patterns) const override {
    patterns.add<Crash>(getContext());
  }
};

const fact::Rule crashRule{
    "crash", "No region.",
    [](Operation *, llvm::function_ref<bool(Operation *)>) {
      return fact::OpGroup();
    }};

class CrashFamily : public fact::Family {
public:
  CrashFamily() : Family(crashRule, "host", {}) {}

  FailureOr<std::unique_ptr<fact::Plan>>
  plan(fact::FusedOp fused, const fact::MachineDescription &,
       fact::EmitError emitError) const override {
    fused.walk(crashAt);
    return emitError() << "nothing in the region crashes";
  }
};
} // namespace

extern "C" DialectPluginLibraryInfo LLVM_ATTRIBUTE_WEAK
mlirGetDialectPluginInfo() {
  auto load = [](DialectRegistry *registry) {
    registry->insert<CrashDialect>();
    fact::registerFamily<CrashFamily>(*registry);
    // Every module has a function, and so the patterns.
    registry->addExtension(+[](MLIRContext *context, func::FuncDialect *) {
      context->getOrLoadDialect<CrashDialect>();
    });
  };
  return {MLIR_PLUGIN_API_VERSION, "FactCrash", "test", load};
}
