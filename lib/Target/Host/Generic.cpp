//===- Generic.cpp - Any region as plain loops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers any region to linalg and then to loops, as one tile: correct but slow.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "fact/Conversion/FactToLinalg.h"
#include "fact/Conversion/RegionFunction.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// `tile(index, buffers)`: wraps the pointers in descriptors of row-major
/// memory.
static void buildTile(KernelBuilder &b, func::FuncOp body) {
  b.beginTile();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Value> operands;
  unsigned operandCount = b.getNumOperands();
  for (auto [i, type] : llvm::enumerate(body.getArgumentTypes())) {
    auto memory = cast<MemRefType>(type);
    Value address = i < operandCount
                        ? b.getPointer(b.getFused().getBody().getArgument(i))
                        : b.getResultPointer(i - operandCount);
    SmallVector<Type> fields{pointer, pointer, b.getI64Type()};
    if (memory.getRank())
      fields.append(2,
                    LLVM::LLVMArrayType::get(b.getI64Type(), memory.getRank()));
    Value descriptor = LLVM::UndefOp::create(
        b, LLVM::LLVMStructType::getLiteral(b.getContext(), fields));
    auto insert = [&](Value value, ArrayRef<int64_t> position) {
      descriptor = LLVM::InsertValueOp::create(b, descriptor, value, position);
    };
    insert(address, 0);
    insert(address, 1);
    insert(b.integer(0), 2);
    SmallVector<int64_t> strides = rowMajorStrides(memory.getShape());
    for (int64_t dim = 0; dim < memory.getRank(); ++dim) {
      insert(b.integer(memory.getDimSize(dim)), {3, dim});
      insert(b.integer(strides[dim]), {4, dim});
    }
    operands.push_back(
        UnrealizedConversionCastOp::create(b, TypeRange(type), descriptor)
            .getResult(0));
  }
  func::CallOp::create(b, body, operands);
  b.endFunction();
}

static LogicalResult emitLoops(FusedOp fused, const Cpu &cpu, StringRef symbol,
                               KernelCode &code) {
  IsolatedRegion region(fused, registerObjectDialects);
  FusedOp copy = region.get();
  if (!copy)
    return fused.emitOpError() << "could not be copied to a context of its own";
  KernelBuilder b(copy, cpu);
  ModuleOp module = b.getModule();
  func::FuncOp body = buildRegionFunction(module, copy);
  if (failed(convertFactToLinalg(module, /*wide=*/false, Steps::Sequential)))
    return fused.emitOpError() << "has ops that cannot be lowered to linalg";
  PassManager manager(module.getContext());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  // Each step of a sort writes to new memory.
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.allowReturnAllocsFromLoops = true;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  bufferization::buildBufferDeallocationPipeline(manager);
  if (failed(manager.run(module)))
    return fused.emitOpError() << "could not be lowered to loops";
  RewritePatternSet patterns(module.getContext());
  populateCopyPatterns(patterns);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return failure();
  buildTile(b, body);
  return emitObject(module, symbol, b.getLayout(), cpu, Effort::plainLoops,
                    code);
}

namespace {
class GenericPlan : public Plan {
public:
  using Plan::Plan;

  SpaceAttrInterface getSpace() const override {
    return HostRowsAttr::getSpace(fused.getContext(), {1});
  }
  double predict(ScheduleAttr) const override {
    return 1e7 * getTrafficSeconds(machine, fused);
  }
  bool compiles() const override { return true; }
  LogicalResult emit(ArrayRef<KernelVariant> variants,
                     KernelCode &code) const override {
    return emitLoops(fused, Cpu::get(machine.architecture),
                     variants.front().symbol, code);
  }
};

class GenericFamily : public Family {
public:
  GenericFamily() : Family(genericRule, "host", {&HostRowsAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    if (failed(requireElements(fused, emitError)))
      return failure();
    return std::unique_ptr<Plan>(new GenericPlan(*this, fused, machine));
  }
};
} // namespace

void host::registerGenericFamily(DialectRegistry &registry) {
  registerFamily<GenericFamily>(registry);
}
