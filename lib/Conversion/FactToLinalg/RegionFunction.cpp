//===- RegionFunction.cpp - A region as a function on memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Conversion/RegionFunction.h"
#include "fact/Conversion/FactToLinalg.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Regions in a context of their own
//===----------------------------------------------------------------------===//

static void registerDialects(DialectRegistry &registry) {
  registry
      .insert<FactDialect, affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, func::FuncDialect,
              linalg::LinalgDialect, math::MathDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
}

/// The region as text, with placeholders for its operands.
static std::string printRegion(FusedOp fused) {
  OpBuilder builder(fused->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  IRMapping mapping;
  for (Value input : fused.getInputs())
    if (!mapping.contains(input))
      mapping.map(input, UnrealizedConversionCastOp::create(
                             builder, builder.getUnknownLoc(),
                             TypeRange(input.getType()), ValueRange())
                             .getResult(0));
  auto copy = cast<FusedOp>(builder.clone(*fused, mapping));
  copy.removeSpaceAttr();
  copy.removeScheduleAttr();
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().useLocalScope());
  return text;
}

IsolatedRegion::IsolatedRegion(
    FusedOp fused, llvm::function_ref<void(DialectRegistry &)> addDialects) {
  DialectRegistry registry;
  registerDialects(registry);
  if (addDialects)
    addDialects(registry);
  context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  ParserConfig config(context.get());
  module = parseSourceString<ModuleOp>(printRegion(fused), config);
}

FusedOp IsolatedRegion::get() {
  if (!module)
    return {};
  auto ops = module->getOps<FusedOp>();
  return ops.empty() ? FusedOp() : *ops.begin();
}

//===----------------------------------------------------------------------===//
// Functions on memory
//===----------------------------------------------------------------------===//

static MemRefType memoryOf(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

func::FuncOp fact::buildRegionFunction(ModuleOp module, FusedOp fused) {
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

namespace {
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

void fact::populateCopyPatterns(RewritePatternSet &patterns) {
  patterns.add<CopyWithLoops>(patterns.getContext());
}
