//===- ThreadSanitizer.cpp - Kernels that report what they access ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"
#include "ObjectEmitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Process.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"

using namespace llvm;
using namespace fact;

bool host::sanitizesThreads() {
  return sys::Process::GetEnv("FACT_SANITIZE_KERNELS") == "thread";
}

/// Reports the loads and stores that LLVM's pass passes over, since the
/// sanitizer has functions for 1, 2, 4, 8 and 16 bytes only.
static void reportLongAccesses(Function &function) {
  Module &module = *function.getParent();
  const DataLayout &layout = module.getDataLayout();
  for (Instruction &instruction : instructions(function)) {
    Value *pointer = getLoadStorePointerOperand(&instruction);
    if (!pointer)
      continue;
    uint64_t bytes =
        layout.getTypeStoreSize(getLoadStoreType(&instruction)).getFixedValue();
    if (bytes <= 16 && isPowerOf2_64(bytes))
      continue;
    IRBuilder<> builder(&instruction);
    FunctionCallee report = module.getOrInsertFunction(
        isa<LoadInst>(instruction) ? "__tsan_read_range" : "__tsan_write_range",
        builder.getVoidTy(), builder.getPtrTy(), builder.getInt64Ty());
    builder.CreateCall(report, {pointer, builder.getInt64(bytes)});
  }
}

void host::reportAccesses(Module &module) {
  // Without a machine, no masked access has an instruction: each becomes
  // scalar ones, which the sanitizer knows.
  PassBuilder builder;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  SmallVector<Function *> defined;
  for (Function &function : module)
    if (!function.isDeclaration())
      defined.push_back(&function);
  for (Function *function : defined) {
    ScalarizeMaskedMemIntrinPass().run(*function, functions);
    functions.clear();
    reportLongAccesses(*function);
    function->addFnAttr(Attribute::SanitizeThread);
    ThreadSanitizerPass().run(*function, functions);
    functions.clear();
  }
}
