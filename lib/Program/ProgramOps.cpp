//===- ProgramOps.cpp - Kernels, buffers and launches ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Violation.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Program/Program.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fact;
using namespace fact::program;

#define GET_OP_CLASSES
#include "fact/Program/ProgramOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Block &body = state.addRegion()->emplaceBlock();
  for (Type argument : type.getInputs())
    body.addArgument(argument, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto getType =
      [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag, std::string &) -> Type {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), getType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult KernelOp::verifyRegions() {
  Block &block = getBody().front();
  auto result = dyn_cast<ReturnOp>(block.back());
  auto fused = dyn_cast_or_null<FusedOp>(block.back().getPrevNode());
  if (!result || !fused)
    return violates(*this, 1) << "the body does not end in a 'fact.fused' and "
                                 "a 'program.return'";
  for (Operation &op : block)
    if (!isa<ReshapeOp>(op) && &op != fused && &op != result)
      return (violates(*this, 1)
              << "the body has a '" << op.getName()
              << "' before the 'fact.fused', where only reshapes may be")
                 .attachNote(op.getLoc())
             << "the op";
  if (fused.getResults() != result.getValues())
    return violates(*this, 1)
           << "the values returned are not the results of the 'fact.fused' in "
              "order";
  if (TypeRange(result.getValues()) != TypeRange(getResultTypes()))
    return violates(*this, 2)
           << "returns (" << result.getValues().getTypes()
           << "), but the results are (" << getResultTypes() << ")";
  return success();
}

FusedOp KernelOp::getFused() {
  return cast<FusedOp>(getBody().front().back().getPrevNode());
}

SmallVector<unsigned> KernelOp::getOperandArguments() {
  SmallVector<unsigned> arguments;
  for (Value operand : getFused().getInputs())
    arguments.push_back(
        cast<BlockArgument>(skipReshapes(operand)).getArgNumber());
  return arguments;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

// The printed name of a buffer tells what it holds.

/// The name of an input or output; empty if the index is invalid.
static StringRef getBufferName(ArrayAttr names, int64_t index) {
  return index >= 0 && index < int64_t(names.size())
             ? cast<StringAttr>(names[index]).getValue()
             : StringRef();
}

void InputOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  auto model = cast<ModelOp>((*this)->getParentOp());
  setName(getBuffer(), getBufferName(model.getInputNames(), getIndex()));
}

void OutputOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  auto model = cast<ModelOp>((*this)->getParentOp());
  setName(getBuffer(), getBufferName(model.getOutputNames(), getIndex()));
}

void program::WeightOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBuffer(), getWeight());
}

void program::ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBuffer(), "constant");
}

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBuffer(), stringifyMemory(getMemory()));
}

/// The buffer's type is that of element `index` of the model's signature.
static LogicalResult verifySignature(Operation *op, StringRef what,
                                     int64_t index, Type type,
                                     ArrayRef<Type> declared) {
  if (index < 0 || index >= int64_t(declared.size()))
    return violates(op, 1) << "no " << what << " " << index
                           << "; the model has " << declared.size();
  if (declared[index] != type)
    return violates(op, 1) << what << " " << index << " is " << declared[index]
                           << " in the model's signature, but the buffer is "
                           << type;
  return success();
}

LogicalResult InputOp::verify() {
  auto model = cast<ModelOp>((*this)->getParentOp());
  return verifySignature(*this, "input", getIndex(), getTensor(),
                         model.getSignature().getInputs());
}

LogicalResult OutputOp::verify() {
  auto model = cast<ModelOp>((*this)->getParentOp());
  return verifySignature(*this, "output", getIndex(), getTensor(),
                         model.getSignature().getResults());
}

LogicalResult
program::WeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto weight =
      tables.lookupNearestSymbolFrom<fact::WeightOp>(*this, getWeightAttr());
  if (!weight)
    return violates(*this, 1)
           << "no 'fact.weight' is named " << getWeightAttr();
  if (weight.getType() != getTensor())
    return (violates(*this, 1) << getWeightAttr() << " is " << weight.getType()
                               << ", but the buffer is " << getTensor())
               .attachNote(weight.getLoc())
           << "the weight";
  return success();
}

LogicalResult program::ConstantOp::verify() {
  if (!isa<RankedTensorType>(getValue().getType()))
    return violates(*this, 1) << "the value is of type " << getValue().getType()
                              << ", not a tensor";
  return success();
}

void PartOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBuffer(), "part");
}

LogicalResult PartOp::verify() {
  auto whole = getWhole().getDefiningOp<BufferOpInterface>();
  if (isa<PartOp>(*whole))
    return violates(*this, 1)
           << "it is a part of a part; name the whole buffer";
  Type type = getTensor().getElementType();
  if (whole.getTensor().getElementType() != type)
    return (violates(*this, 1)
            << "it is " << getTensor() << ", but the buffer holds "
            << whole.getTensor())
               .attachNote(whole.getLoc())
           << "the buffer";
  int64_t offset = getOffset(), bytes = getStorageBytes(getTensor());
  int64_t limit = getStorageBytes(whole.getTensor());
  int64_t unit = getStorageBytes(type);
  if (offset < 0 || offset % unit)
    return violates(*this, 2) << "offset " << offset << " is not a multiple of "
                              << unit << ", the size of an element";
  if (offset > limit - bytes)
    return (violates(*this, 2)
            << bytes << " bytes at " << offset << " end beyond the " << limit
            << " bytes of the buffer")
               .attachNote(whole.getLoc())
           << "the buffer";
  return success();
}

Extent program::getExtent(Value buffer) {
  auto op = buffer.getDefiningOp<BufferOpInterface>();
  int64_t begin = 0, bytes = getStorageBytes(op.getTensor());
  if (auto part = dyn_cast<PartOp>(*op)) {
    begin = part.getOffset();
    op = part.getWhole().getDefiningOp<BufferOpInterface>();
  }
  return {op, begin, begin + bytes};
}

int64_t AllocOp::getBytes() {
  return llvm::alignTo(getStorageBytes(getTensor()), alignment);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static LogicalResult verifyBuffers(LaunchOp launch, StringRef what,
                                   ValueRange buffers, ArrayRef<Type> types) {
  if (buffers.size() != types.size())
    return violates(launch, 2)
           << launch.getKernelAttr() << " has " << types.size() << " " << what
           << "s, but the launch has " << buffers.size();
  for (auto [i, buffer, type] : llvm::enumerate(buffers, types)) {
    auto op = buffer.getDefiningOp<BufferOpInterface>();
    auto tensor = cast<RankedTensorType>(type);
    if (op.getTensor().getElementType() != tensor.getElementType() ||
        op.getTensor().getNumElements() != tensor.getNumElements())
      return (violates(launch, 2)
              << what << " " << i << " of " << launch.getKernelAttr() << " is "
              << type << ", but the buffer holds " << op.getTensor())
                 .attachNote(op.getLoc())
             << "the buffer";
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto kernel =
      tables.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return violates(*this, 1)
           << "no 'program.kernel' is named " << getKernelAttr();
  if (failed(verifyBuffers(*this, "argument", getInputs(),
                           kernel.getArgumentTypes())))
    return failure();
  return verifyBuffers(*this, "result", getOutputs(), kernel.getResultTypes());
}

static LogicalResult verifyLaunches(Operation *sequence) {
  for (Operation &op : sequence->getRegion(0).front())
    if (!isa<LaunchOp>(op))
      return (violates(sequence, 1)
              << "the body has a '" << op.getName() << "' among the launches")
                 .attachNote(op.getLoc())
             << "the op";
  return success();
}

LogicalResult program::PrepareOp::verify() { return verifyLaunches(*this); }

LogicalResult RunOp::verify() { return verifyLaunches(*this); }
