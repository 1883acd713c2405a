//===- RegionFunction.cpp - A region as a function on memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Conversion/RegionFunction.h"
#include "fact/Conversion/FactToLinalg.h"
#include "fact/Dialect/Fact/Placement.h"
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

/// What a kernel writes for a yielded value: that which is placed, permuted as
/// the whole is, else the yielded value itself.
static Value getWritten(ImplicitLocOpBuilder &b, Value yielded,
                        const IRMapping &mapping) {
  if (!Placement::get(yielded))
    return mapping.lookupOrDefault(yielded);
  SmallVector<PermuteOp> permutes;
  for (Value value = yielded; auto permute = value.getDefiningOp<PermuteOp>();
       value = permute.getOperand())
    permutes.push_back(permute);
  Value written = mapping.lookupOrDefault(Placement::getWritten(yielded));
  for (PermuteOp permute : llvm::reverse(permutes)) {
    auto type = cast<RankedTensorType>(written.getType());
    SmallVector<int64_t> shape;
    for (int64_t dim : permute.getDims())
      shape.push_back(type.getDimSize(dim));
    written =
        PermuteOp::create(b, type.clone(shape), written, permute.getDims());
  }
  return written;
}

/// The memory of what is written of a result.
static Value getDestination(ImplicitLocOpBuilder &b, Value yielded,
                            Value memory) {
  std::optional<Placement> placement = Placement::get(yielded);
  if (!placement)
    return memory;
  ArrayRef<int64_t> shape = cast<MemRefType>(memory.getType()).getShape();
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : shape)
    sizes.push_back(b.getIndexAttr(size));
  offsets[placement->dim] = b.getIndexAttr(placement->start);
  sizes[placement->dim] = b.getIndexAttr(placement->size);
  return memref::SubViewOp::create(b, memory, offsets, sizes, strides);
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
    Value memory = getDestination(b, yielded, body.getArgument(next++));
    auto type = cast<MemRefType>(memory.getType());
    auto stored = RankedTensorType::get(type.getShape(), type.getElementType());
    auto computed = UnrealizedConversionCastOp::create(
        b, TypeRange(stored), getWritten(b, yielded, mapping));
    computed->setAttr(computedAttrName, b.getUnitAttr());
    bufferization::MaterializeInDestinationOp::create(
        b, TypeRange(), computed.getResult(0), memory, /*restrict=*/true,
        /*writable=*/true);
  }
  // Wholes of which a part is written.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(body.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
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
