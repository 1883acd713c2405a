//===- ObjectEmitter.cpp - From MLIR to an object file --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ObjectEmitter.h"
#include "fact/Runtime/Kernel.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

//===----------------------------------------------------------------------===//
// MLIR to LLVM IR
//===----------------------------------------------------------------------===//

namespace {
/// f32 functions in vectors.
struct HostMathPass : PassWrapper<HostMathPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HostMathPass)
  explicit HostMathPass(const Cpu &cpu) : cpu(cpu) {}
  StringRef getArgument() const override { return "fact-host-math"; }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateHostMathPatterns(patterns, cpu);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
  const Cpu &cpu;
};
} // namespace

static LogicalResult lowerToLLVMDialect(ModuleOp module, const Cpu &cpu) {
  PassManager manager(module.getContext());
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(std::make_unique<HostMathPass>(cpu));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  // Calls it for each element of a vector.
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}

/// The constant that the object exports; fields as in Kernel.h.
static void addKernel(llvm::Module &module, StringRef symbol,
                      const KernelLayout &layout) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::get(context, 0);
  auto word = [&](uint64_t value) -> llvm::Constant * {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), value);
  };
  auto half = [&](uint32_t value) -> llvm::Constant * {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  };
  auto function = [&](StringRef name) -> llvm::Constant * {
    if (llvm::Function *found = module.getFunction(name))
      return found;
    return llvm::ConstantPointerNull::get(pointer);
  };
  llvm::Constant *null = llvm::ConstantPointerNull::get(pointer);
  llvm::Constant *kernel = llvm::ConstantStruct::getAnon(
      {half(FACT_KERNEL_ABI), half(layout.bufferCount),
       /*state_bytes=*/word(0), word(layout.workspaceBytes), /*bind=*/null,
       /*launch=*/null, word(layout.tiles), function("tile"),
       half(layout.packedOperand), half(layout.packedWith),
       word(layout.packedBytes), word(layout.packTiles), function("pack"),
       /*pack_on_device=*/null, /*choice_bytes=*/word(0), /*choose=*/null,
       /*adopt=*/null, /*size_count=*/word(0), /*measure=*/null});
  static_assert(sizeof(FactKernel) == 136, "Kernel.h changed");
  new llvm::GlobalVariable(module, kernel->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, kernel, symbol);
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     Effort effort) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  bool plainLoops = effort == Effort::plainLoops;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = plainLoops;
  tuning.SLPVectorization = plainLoops;
  tuning.LoopInterleaving = plainLoops;
  tuning.LoopUnrolling = plainLoops;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// Whether kernels may call a function: those of libm, and those of libc that
/// copies, fills and allocations become.
static bool isKnownFunction(StringRef name) {
  static const llvm::StringSet<> libc = {"free", "malloc", "memcpy", "memmove",
                                         "memset"};
  static const llvm::StringSet<> libm = {
      "acos",      "acosh", "asin",     "asinh",     "atan",  "atan2", "atanh",
      "cbrt",      "ceil",  "copysign", "cos",       "cosh",  "erf",   "erfc",
      "exp",       "exp10", "exp2",     "expm1",     "fabs",  "floor", "fma",
      "fmax",      "fmin",  "fmod",     "frexp",     "hypot", "ldexp", "log",
      "log10",     "log1p", "log2",     "nearbyint", "pow",   "rint",  "round",
      "roundeven", "sin",   "sincos",   "sinh",      "sqrt",  "tan",   "tanh",
      "trunc"};
  // A name of the assembler's, which no library defines.
  if (name == "_GLOBAL_OFFSET_TABLE_" || libc.contains(name) ||
      libm.contains(name))
    return true;
  if (sanitizesThreads() && name.starts_with("__tsan_"))
    return true;
  return name.consume_back("f") && libm.contains(name);
}

/// Reports symbols that a kernel may not need, which would otherwise only show
/// when the object is linked or loaded.
static LogicalResult checkSymbols(ArrayRef<char> bytes, StringRef symbol,
                                  const Cpu &cpu, ModuleOp module) {
  llvm::MemoryBufferRef buffer(StringRef(bytes.data(), bytes.size()), symbol);
  auto object = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!object)
    return module.emitError() << "LLVM wrote an object that it cannot read: "
                              << llvm::toString(object.takeError());
  for (const llvm::object::SymbolRef &each : (*object)->symbols()) {
    llvm::Expected<uint32_t> flags = each.getFlags();
    llvm::Expected<StringRef> name = each.getName();
    if (!flags || !name) {
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return module.emitError() << "LLVM wrote an object with a bad symbol";
    }
    bool isUndefined = *flags & llvm::object::BasicSymbolRef::SF_Undefined;
    if (isUndefined && !name->empty() && !isKnownFunction(*name))
      return module.emitError()
             << "kernel '" << symbol << "' calls '" << *name << "' on '"
             << cpu.getName()
             << "', and kernels may call libm, memory functions of libc, and "
                "nothing else";
  }
  return success();
}

LogicalResult host::emitObject(ModuleOp module, StringRef symbol,
                               const KernelLayout &layout, const Cpu &cpu,
                               Effort effort, KernelCode &code) {
  llvm::raw_string_ostream(code.listing)
      << "// " << symbol << ": " << layout.tiles << " tiles\n"
      << module;
  if (failed(lowerToLLVMDialect(module, cpu)))
    return module.emitError()
           << "could not lower kernel '" << symbol << "' to LLVM";
  std::unique_ptr<llvm::TargetMachine> machine =
      cpu.createMachine(llvm::CodeGenOptLevel::Aggressive);
  if (!machine)
    return module.emitError() << "LLVM has no code generator for '"
                              << cpu.getTriple().str() << "'";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> lowered =
      translateModuleToLLVMIR(module, context, symbol);
  if (!lowered)
    return failure();
  lowered->setTargetTriple(machine->getTargetTriple());
  lowered->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *lowered)
    if (!function.isDeclaration()) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
      function.addFnAttr("tune-cpu", cpu.getName());
    }
  addKernel(*lowered, symbol, layout);
  // Names the kernel in profiles.
  for (llvm::Function &function : *lowered)
    if (!function.isDeclaration())
      function.setName(symbol + "_" + function.getName());
  expandNarrowFloats(*lowered, cpu);
  optimize(*lowered, *machine, effort);
  if (sanitizesThreads())
    reportAccesses(*lowered);

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  llvm::legacy::PassManager emission;
  if (machine->addPassesToEmitFile(emission, os, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return module.emitError()
           << "LLVM writes no objects for '" << cpu.getTriple().str() << "'";
  emission.run(*lowered);
  if (failed(checkSymbols(bytes, symbol, cpu, module)))
    return failure();
  code.text.assign(bytes.begin(), bytes.end());
  code.isObject = true;
  code.link = {"-lm"};
  return success();
}

//===----------------------------------------------------------------------===//
// Dialects
//===----------------------------------------------------------------------===//

void host::registerObjectDialects(DialectRegistry &registry) {
  registry.insert<cf::ControlFlowDialect, LLVM::LLVMDialect,
                  vector::VectorDialect>();
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}
