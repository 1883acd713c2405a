//===- Program.cpp - The host program of a module -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Program.h"
#include "fact/Target/Bundle.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Analysis/ReadThrough.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace fact;

/// Wide enough for TMA and for a cache line of every machine.
static constexpr int64_t alignment = 256;

static int64_t align(int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

namespace {
/// Steps [first, last] during which a workspace value is alive.
struct Lifetime {
  unsigned value;
  unsigned first, last;
};

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, func::FuncOp function)
      : module(module), function(function) {}

  FailureOr<Program> build();

private:
  unsigned addValue(Value value, Storage storage) {
    program.values.push_back(storage);
    ids[value] = program.values.size() - 1;
    return program.values.size() - 1;
  }
  unsigned addWeight(Value value, FlatSymbolRefAttr name);
  unsigned addConstant(Value value, ConstantOp constant);
  unsigned getKernel(FusedOp fused);
  LogicalResult markOutputs();
  LogicalResult addPrepare(PrepareOp prepare);
  LogicalResult addOp(Operation &op, bool inPrepare);
  Step addStep(FusedOp fused, bool inPrepare);
  void placeWorkspace();

  ModuleOp module;
  func::FuncOp function;
  Program program;
  llvm::DenseMap<Value, unsigned> ids;
  /// The output that a value is written to.
  llvm::DenseMap<Value, int64_t> outputs;
};
} // namespace

unsigned ProgramBuilder::addWeight(Value value, FlatSymbolRefAttr name) {
  for (auto [i, weight] : llvm::enumerate(program.weights))
    if (weight.getSymName() == name.getValue())
      return addValue(value, {Storage::weight, int64_t(i)});
  llvm_unreachable("the verifier has seen the symbol");
}

unsigned ProgramBuilder::addConstant(Value value, ConstantOp constant) {
  for (auto [i, known] : llvm::enumerate(program.constants))
    if (known.getValue() == constant.getValue())
      return addValue(value, {Storage::constant, int64_t(i)});
  program.constants.push_back(constant);
  return addValue(value,
                  {Storage::constant, int64_t(program.constants.size() - 1)});
}

static bool isSameKernel(FusedOp a, FusedOp b) {
  return a.getRule() == b.getRule() && a.getSpaceAttr() == b.getSpaceAttr() &&
         a.getScheduleAttr() == b.getScheduleAttr() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

std::string fact::getKernelName(FusedOp fused, unsigned index) {
  return (fused.getRule() + "_" + Twine(index)).str();
}

std::string fact::getContentName(FusedOp fused) {
  OpBuilder builder(fused.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  // A value that is given twice is one operand twice, like any two.
  SmallVector<Value> operands;
  for (Type type : fused.getInputs().getTypes())
    operands.push_back(UnrealizedConversionCastOp::create(
                           builder, builder.getUnknownLoc(), TypeRange(type),
                           ValueRange())
                           .getResult(0));
  auto copy = cast<FusedOp>(builder.clone(*fused));
  copy->setOperands(operands);
  copy->setDiscardableAttrs(DictionaryAttr::get(fused.getContext()));
  copy.removeStrategyAttr();
  copy.removeSpaceAttr();
  copy.removeScheduleAttr();
  copy.removePriorityAttr();
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
  // Constants that are resources print as names.
  copy->walk([&](ConstantOp constant) {
    if (auto resource =
            dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        os.write(blob->getData().data(), blob->getData().size());
  });
  return (fused.getRule() + "_" + getShortHash(text)).str();
}

std::string fact::getShortHash(StringRef text) {
  std::array<uint8_t, 32> digest =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(ArrayRef(digest).take_front(8), /*LowerCase=*/true);
}

std::vector<NamedKernel> fact::getNamedKernels(ModuleOp module) {
  std::vector<NamedKernel> kernels;
  module.walk([&](FusedOp fused) {
    auto known = llvm::find_if(kernels, [&](const NamedKernel &kernel) {
      return isSameKernel(kernel.steps.front(), fused);
    });
    if (known == kernels.end())
      kernels.push_back({getKernelName(fused, kernels.size()), {fused}});
    else
      known->steps.push_back(fused);
  });
  return kernels;
}

unsigned ProgramBuilder::getKernel(FusedOp fused) {
  for (auto [i, known] : llvm::enumerate(program.kernels))
    if (isSameKernel(known, fused))
      return i;
  program.kernels.push_back(fused);
  return program.kernels.size() - 1;
}

LogicalResult ProgramBuilder::markOutputs() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    // Nothing is written to an output without elements.
    if (getStorageBytes(operand.get().getType()) == 0)
      continue;
    Value value = skipReshapes(operand.get());
    if (!value.getDefiningOp<FusedOp>() || outputs.contains(value))
      return terminator->emitError("output ")
             << operand.getOperandNumber()
             << " is not the result of a kernel of its own; run "
                "--fact-discover on the module first";
    outputs[value] = operand.getOperandNumber();
  }
  return success();
}

Step ProgramBuilder::addStep(FusedOp fused, bool inPrepare) {
  Step step{getKernel(fused), {}, {}};
  for (Value operand : fused.getInputs())
    step.operands.push_back(ids.at(skipReshapes(operand)));
  for (Value result : fused.getResults()) {
    int64_t bytes = align(getStorageBytes(result.getType()));
    Storage storage{Storage::workspace, 0, 0, bytes};
    if (inPrepare) {
      storage = {Storage::prepared, 0, program.preparedBytes, bytes};
      program.preparedBytes += bytes;
    } else if (auto output = outputs.find(result); output != outputs.end()) {
      storage = {Storage::output, output->second};
    }
    step.results.push_back(addValue(result, storage));
  }
  return step;
}

LogicalResult ProgramBuilder::addPrepare(PrepareOp prepare) {
  Block &body = prepare.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(addOp(op, /*inPrepare=*/true)))
      return failure();
  for (auto [result, yielded] : llvm::zip_equal(
           prepare.getResults(), body.getTerminator()->getOperands()))
    ids[result] = ids.at(skipReshapes(yielded));
  return success();
}

LogicalResult ProgramBuilder::addOp(Operation &op, bool inPrepare) {
  if (auto get = dyn_cast<GetWeightOp>(op))
    return addWeight(get, get.getWeightAttr()), success();
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    // An output without elements has no memory.
    bool isRead = llvm::any_of(constant->getUsers(), llvm::IsaPred<FusedOp>);
    if (isRead || getStorageBytes(constant.getType()))
      addConstant(constant, constant);
    return success();
  }
  if (auto prepare = dyn_cast<PrepareOp>(op))
    return addPrepare(prepare);
  if (isa<ReshapeOp>(op))
    return success();
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused)
    return op.emitOpError("is not in a kernel; run --fact-discover first");
  (inPrepare ? program.prepare : program.steps)
      .push_back(addStep(fused, inPrepare));
  return success();
}

/// First fit by decreasing size: what lives together does not overlap.
void ProgramBuilder::placeWorkspace() {
  llvm::DenseMap<unsigned, Lifetime> lifetimes;
  for (auto [i, step] : llvm::enumerate(program.steps)) {
    for (unsigned value : step.results)
      if (program.values[value].kind == Storage::workspace)
        lifetimes[value] = {value, unsigned(i), unsigned(i)};
    for (unsigned value : step.operands)
      if (auto found = lifetimes.find(value); found != lifetimes.end())
        found->second.last = i;
  }
  SmallVector<Lifetime> order;
  for (auto &entry : lifetimes)
    order.push_back(entry.second);
  llvm::sort(order, [&](const Lifetime &a, const Lifetime &b) {
    int64_t sizeA = program.values[a.value].bytes;
    int64_t sizeB = program.values[b.value].bytes;
    return std::tuple(-sizeA, a.value) < std::tuple(-sizeB, b.value);
  });
  SmallVector<Lifetime> placed;
  for (const Lifetime &lifetime : order) {
    Storage &storage = program.values[lifetime.value];
    // Gaps between the values that are alive at the same time.
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (const Lifetime &other : placed)
      if (other.first <= lifetime.last && lifetime.first <= other.last) {
        const Storage &at = program.values[other.value];
        taken.emplace_back(at.offset, at.offset + at.bytes);
      }
    llvm::sort(taken);
    int64_t offset = 0;
    for (auto [begin, end] : taken) {
      if (offset + storage.bytes <= begin)
        break;
      offset = std::max(offset, end);
    }
    storage.offset = offset;
    program.workspaceBytes =
        std::max(program.workspaceBytes, offset + storage.bytes);
    placed.push_back(lifetime);
  }
}

FailureOr<Program> ProgramBuilder::build() {
  for (WeightOp weight : module.getOps<WeightOp>())
    program.weights.push_back(weight);
  if (failed(markOutputs()))
    return failure();
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    addValue(argument, {Storage::input, int64_t(i)});
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(addOp(op, /*inPrepare=*/false)))
      return failure();
  placeWorkspace();
  return std::move(program);
}

FailureOr<Program> fact::buildProgram(ModuleOp module, func::FuncOp function) {
  return ProgramBuilder(module, function).build();
}
