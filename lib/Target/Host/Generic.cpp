//===- Generic.cpp - Any region as plain loops ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lowers any region to linalg and then to loops, as one tile: correct but slow.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "fact/Conversion/FactToLinalg.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

static MemRefType memoryOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// `body(operands..., results...)` on memory: the region, and a store of each
/// result.
static func::FuncOp buildBody(ModuleOp module, FusedOp fused) {
  ImplicitLocOpBuilder b(UnknownLoc::get(module.getContext()),
                         module.getContext());
  SmallVector<Type> arguments;
  for (Value input : fused.getInputs())
    arguments.push_back(memoryOf(input.getType()));
  for (Type type : fused->getResultTypes())
    arguments.push_back(memoryOf(type));
  b.setInsertionPointToEnd(module.getBody());
  auto body = func::FuncOp::create(b, "body", b.getFunctionType(arguments, {}));
  body.setPrivate();
  b.setInsertionPointToStart(body.addEntryBlock());

  IRMapping mapping;
  unsigned next = 0;
  for (Value argument : fused.getBody().getArguments())
    mapping.map(argument, bufferization::ToTensorOp::create(
                              b, argument.getType(), body.getArgument(next++),
                              /*restrict=*/true, /*writable=*/false)
                              .getResult());
  for (Operation &op : fused.getBodyOps())
    b.clone(op, mapping);
  for (Value yielded : fused.getYield()->getOperands()) {
    Value memory = body.getArgument(next++);
    auto type = cast<MemRefType>(memory.getType());
    auto stored = RankedTensorType::get(type.getShape(), type.getElementType());
    auto computed = UnrealizedConversionCastOp::create(
        b, TypeRange(stored), mapping.lookupOrDefault(yielded));
    computed->setAttr(computedAttrName, b.getUnitAttr());
    bufferization::MaterializeInDestinationOp::create(
        b, TypeRange(), computed.getResult(0), memory, /*restrict=*/true,
        /*writable=*/true);
  }
  func::ReturnOp::create(b);
  return body;
}

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

namespace {
/// Lowers copies to loops. By default a copy between strided layouts calls a
/// runtime library that kernels do not link.
struct CopyWithLoops : OpRewritePattern<memref::CopyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::CopyOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<linalg::CopyOp>(op, op.getSource(),
                                                op.getTarget());
    return success();
  }
};
} // namespace

static LogicalResult emitLoops(FusedOp fused, const Cpu &cpu, StringRef symbol,
                               KernelCode &code) {
  IsolatedRegion region(fused);
  FusedOp copy = region.get();
  if (!copy)
    return fused.emitOpError() << "could not be copied to a context of its own";
  KernelBuilder b(copy, cpu);
  ModuleOp module = b.getModule();
  func::FuncOp body = buildBody(module, copy);
  if (failed(convertFactToLinalg(module, /*wide=*/false)))
    return fused.emitOpError() << "has ops that cannot be lowered to linalg";
  PassManager manager(module.getContext());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  manager.addPass(bufferization::createOneShotBufferizePass());
  bufferization::buildBufferDeallocationPipeline(manager);
  if (failed(manager.run(module)))
    return fused.emitOpError() << "could not be lowered to loops";
  RewritePatternSet patterns(module.getContext());
  patterns.add<CopyWithLoops>(module.getContext());
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
    return 1e7 * countBytes(fused) / machine.bandwidth;
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
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    return std::unique_ptr<Plan>(new GenericPlan(*this, fused, machine));
  }
};
} // namespace

void host::registerGenericFamily(DialectRegistry &registry) {
  registerFamily<GenericFamily>(registry);
}
