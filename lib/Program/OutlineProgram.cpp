//===- OutlineProgram.cpp - From a discovered function to launches --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Outline.h"
#include "fact/Analysis/Parts.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Dialect/Fact/Placement.h"
#include "fact/Program/Kernels.h"
#include "fact/Program/Passes.h"
#include "fact/Program/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace fact {
#define GEN_PASS_DEF_OUTLINEPROGRAM
#include "fact/Program/Passes.h.inc"
} // namespace fact

using namespace mlir;
using namespace fact;
using program::KernelOp;
using program::Memory;
using program::ModelOp;

namespace {
class Outliner {
public:
  Outliner(ModuleOp module, func::FuncOp function)
      : module(module), function(function), builder(module.getContext()) {}

  LogicalResult run();

private:
  LogicalResult markOutputs();
  LogicalResult placePieces(ConcatOp concat);
  bool placeStrided(ConcatOp concat);
  void outlineKernels();
  KernelOp outlineKernel(const NamedKernel &named);
  void createModel();
  LogicalResult addOp(Operation &op, Block &launches);
  LogicalResult addPrepare(PrepareOp prepare);
  void addLaunch(FusedOp fused, Block &launches);
  Value createMemory(OpResult result, bool prepares);
  Value createResult(OpResult result, bool prepares);
  Value createPart(Location loc, Value buffer, int64_t offset, Type type);
  template <typename BufferOp, typename... Arguments>
  Value createBuffer(Location loc, Arguments &&...arguments) {
    return BufferOp::create(builder, loc,
                            builder.getType<program::BufferType>(),
                            std::forward<Arguments>(arguments)...);
  }

  ModuleOp module;
  func::FuncOp function;
  ModelOp model;
  /// Inserts buffers into the model once it exists.
  OpBuilder builder;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Operation *, KernelOp> kernels;
  /// The output that a value is written to.
  llvm::DenseMap<Value, int64_t> outputs;
  /// The concatenation that a kernel writes its result into, and the offset.
  llvm::DenseMap<Value, std::pair<ConcatOp, int64_t>> pieces;
};
} // namespace

LogicalResult Outliner::markOutputs() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    // Nothing is written to an output without elements.
    if (getStorageBytes(operand.get().getType()) == 0)
      continue;
    Value value = skipReshapes(operand.get());
    if (!isa_and_nonnull<FusedOp, ConcatOp>(value.getDefiningOp()) ||
        outputs.contains(value))
      return terminator->emitError("output ")
             << operand.getOperandNumber()
             << " is not the result of a kernel of its own; run "
                "--fact-discover on the module first";
    outputs[value] = operand.getOperandNumber();
  }
  return success();
}

/// The result of a kernel that writes only what a concatenation takes of it, at
/// the same place (Placement.h); null if the operand is another value.
static Value getPlaced(ConcatOp concat, Value input, int64_t start) {
  auto slice = input.getDefiningOp<SliceOp>();
  if (!slice || slice.getDim() != concat.getDim() ||
      int64_t(slice.getStart()) != start || slice.getStep() != 1 ||
      slice.getOperand().getType() != concat.getType() ||
      !slice.getOperand().hasOneUse())
    return {};
  auto result = dyn_cast<OpResult>(slice.getOperand());
  auto fused = result ? dyn_cast<FusedOp>(result.getOwner()) : FusedOp();
  if (!fused)
    return {};
  std::optional<Placement> placement =
      Placement::get(fused.getYield()->getOperand(result.getResultNumber()));
  bool isSame = placement && placement->dim == int64_t(concat.getDim()) &&
                placement->start == start &&
                placement->size == slice.getType().getDimSize(placement->dim);
  return isSame ? Value(result) : Value();
}

/// Places the operands of a concatenation that kernels write at the strides of
/// the whole. Returns whether all are such.
bool Outliner::placeStrided(ConcatOp concat) {
  SmallVector<Value> placed;
  int64_t start = 0, dim = concat.getDim();
  for (Value input : concat.getInputs()) {
    placed.push_back(getPlaced(concat, input, start));
    start += cast<RankedTensorType>(input.getType()).getDimSize(dim);
  }
  if (llvm::is_contained(placed, Value()))
    return false;
  for (Value piece : placed)
    pieces.try_emplace(piece, concat, 0);
  return true;
}

/// A concatenation between kernels is memory into which each writes its piece.
LogicalResult Outliner::placePieces(ConcatOp concat) {
  if (placeStrided(concat))
    return success();
  SmallVector<int64_t> offsets = getPartOffsets(concat);
  if (offsets.empty())
    return concat.emitOpError("is not in a kernel, and its operands are not "
                              "contiguous in memory; run --fact-discover "
                              "first");
  for (auto [i, input] : llvm::enumerate(concat.getInputs())) {
    Value piece = skipReshapes(input);
    if (!piece.getDefiningOp<FusedOp>() || outputs.contains(piece) ||
        !pieces.try_emplace(piece, concat, offsets[i]).second)
      return concat.emitOpError("is not in a kernel, and operand ")
             << i
             << " is not the result of a kernel that can be written in its "
                "place; run --fact-discover first";
  }
  return success();
}

KernelOp Outliner::outlineKernel(const NamedKernel &named) {
  FusedOp fused = named.steps.front();
  SmallVector<unsigned> shared = getSharedOperands(fused);
  SmallVector<Type> arguments;
  SmallVector<unsigned> fixed;
  for (auto [i, operand] : llvm::enumerate(fused.getInputs())) {
    if (shared[i] != i)
      continue;
    if (llvm::all_of(named.steps, [number = i](FusedOp step) {
          return isFixed(step.getInputs()[number]);
        }))
      fixed.push_back(arguments.size());
    arguments.push_back(operand.getType());
  }
  auto kernel = KernelOp::create(
      builder, fused.getLoc(), named.name,
      builder.getFunctionType(arguments, fused.getResultTypes()));
  for (unsigned argument : fixed)
    kernel.setArgAttr(argument, fixedArgument, builder.getUnitAttr());

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  SmallVector<Value> operands;
  unsigned next = 0;
  for (auto [i, operand] : llvm::enumerate(fused.getInputs())) {
    Value value =
        shared[i] == i ? kernel.getArgument(next++) : operands[shared[i]];
    if (value.getType() != operand.getType())
      value =
          ReshapeOp::create(builder, fused.getLoc(), operand.getType(), value);
    operands.push_back(value);
  }
  auto copy = cast<FusedOp>(builder.clone(*fused));
  copy->setOperands(operands);
  // The kernel is as urgent as its most urgent step.
  FusedOp urgent = *std::max_element(
      named.steps.begin(), named.steps.end(), [](FusedOp a, FusedOp b) {
        return a.getPriority().value_or(0) < b.getPriority().value_or(0);
      });
  copy.setStrategyAttr(urgent.getStrategyAttr());
  copy.setPriorityAttr(urgent.getPriorityAttr());
  program::ReturnOp::create(builder, fused.getLoc(), copy->getResults());
  return kernel;
}

void Outliner::outlineKernels() {
  SymbolTable symbols(module);
  builder.setInsertionPoint(function);
  for (const NamedKernel &named : getNamedKernels(module)) {
    KernelOp kernel = outlineKernel(named);
    // Renames the kernel if a weight has its name.
    symbols.insert(kernel);
    for (FusedOp fused : named.steps)
      kernels[fused] = kernel;
  }
}

void Outliner::createModel() {
  SmallVector<std::string> names;
  auto add = [&](StringAttr given, StringRef kind, unsigned index) {
    names.push_back(given ? given.str() : (kind + Twine(index)).str());
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    add(function.getArgAttrOfType<StringAttr>(i, "fact.name"), "input", i);
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    add(function.getResultAttrOfType<StringAttr>(i, "fact.name"), "output", i);
  SmallVector<StringRef> references(names.begin(), names.end());
  ArrayRef<StringRef> all(references);
  model = ModelOp::create(builder, function.getLoc(), function.getSymName(),
                          function.getFunctionType(),
                          all.take_front(function.getNumArguments()),
                          all.drop_front(function.getNumArguments()));
  builder.setInsertionPoint(model.getPrepare());
  for (auto [i, argument] : llvm::enumerate(function.getArguments()))
    buffers[argument] = createBuffer<program::InputOp>(
        argument.getLoc(), int64_t(i),
        cast<RankedTensorType>(argument.getType()));
}

/// A buffer of its own for a value.
Value Outliner::createMemory(OpResult result, bool prepares) {
  if (auto output = outputs.find(result); output != outputs.end())
    return createBuffer<program::OutputOp>(
        result.getLoc(), output->second,
        cast<RankedTensorType>(function.getResultTypes()[output->second]));
  return createBuffer<program::AllocOp>(
      result.getLoc(), prepares ? Memory::prepared : Memory::workspace,
      /*offset=*/IntegerAttr(), cast<RankedTensorType>(result.getType()));
}

/// The buffer that a kernel writes its result to.
Value Outliner::createResult(OpResult result, bool prepares) {
  auto piece = pieces.find(result);
  if (piece == pieces.end())
    return createMemory(result, prepares);
  auto [concat, offset] = piece->second;
  Value &whole = buffers[concat];
  if (!whole)
    whole = createMemory(cast<OpResult>(concat.getResult()), prepares);
  return createPart(result.getLoc(), whole, offset, result.getType());
}

Value Outliner::createPart(Location loc, Value buffer, int64_t offset,
                           Type type) {
  program::Extent extent = program::getExtent(buffer);
  return createBuffer<program::PartOp>(loc, extent.whole->getResult(0),
                                       extent.begin + offset,
                                       cast<RankedTensorType>(type));
}

void Outliner::addLaunch(FusedOp fused, Block &launches) {
  SmallVector<Value> read, written;
  SmallVector<unsigned> shared = getSharedOperands(fused);
  for (auto [i, operand] : llvm::enumerate(fused.getInputs()))
    if (shared[i] == i)
      read.push_back(buffers.at(skipReshapes(operand)));
  bool prepares = &launches == &model.getPrepare().getBody().front();
  for (OpResult result : fused->getResults()) {
    Value buffer = createResult(result, prepares);
    buffers[result] = buffer;
    written.push_back(buffer);
  }
  OpBuilder atEnd = OpBuilder::atBlockEnd(&launches);
  program::LaunchOp::create(atEnd, fused.getLoc(), kernels[fused].getSymName(),
                            read, written);
}

LogicalResult Outliner::addPrepare(PrepareOp prepare) {
  Block &body = prepare.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(addOp(op, model.getPrepare().getBody().front())))
      return failure();
  for (auto [result, yielded] : llvm::zip_equal(
           prepare.getResults(), body.getTerminator()->getOperands())) {
    // `buffers` grows before the assignment.
    Value buffer = buffers.at(skipReshapes(yielded));
    buffers[result] = buffer;
  }
  return success();
}

static bool isReadByKernel(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<FusedOp>(user) || (isa<ReshapeOp, SliceOp>(user) &&
                                  isReadByKernel(user->getResult(0)));
  });
}

LogicalResult Outliner::addOp(Operation &op, Block &launches) {
  // Kernels wrote the pieces of a concatenation.
  if (isa<ReshapeOp>(op) ||
      (isa<ConcatOp>(op) && buffers.contains(op.getResult(0))))
    return success();
  if (auto slice = dyn_cast<SliceOp>(op)) {
    // What the kernel wrote of a whole that others write too.
    if (pieces.contains(slice.getOperand()))
      return success();
    if (std::optional<int64_t> offset = getPartOffset(slice)) {
      Value whole = buffers.at(skipReshapes(slice.getOperand()));
      buffers[slice] =
          createPart(slice.getLoc(), whole, *offset, slice.getType());
      return success();
    }
  }
  if (auto prepare = dyn_cast<PrepareOp>(op))
    return addPrepare(prepare);
  if (auto get = dyn_cast<GetWeightOp>(op)) {
    buffers[get] = createBuffer<program::WeightOp>(
        get.getLoc(), get.getWeight(), cast<RankedTensorType>(get.getType()));
    return success();
  }
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    // One that kernels hold in their code has no other users. An output without
    // elements has no memory.
    if (!constant->use_empty() &&
        (isReadByKernel(constant) || getStorageBytes(constant.getType())))
      buffers[constant] = createBuffer<program::ConstantOp>(
          constant.getLoc(), constant.getValue());
    return success();
  }
  auto fused = dyn_cast<FusedOp>(op);
  if (!fused)
    return op.emitOpError("is not in a kernel; run --fact-discover first");
  addLaunch(fused, launches);
  return success();
}

LogicalResult Outliner::run() {
  if (failed(markOutputs()))
    return failure();
  for (ConcatOp concat : function.getBody().front().getOps<ConcatOp>())
    if (failed(placePieces(concat)))
      return failure();
  outlineKernels();
  createModel();
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(addOp(op, model.getRun().getBody().front())))
      return failure();
  function.erase();
  return success();
}

/// Checks that a model has a body, and tensors of static shape as inputs and
/// outputs.
static LogicalResult checkSignature(func::FuncOp function) {
  if (function.isExternal())
    return function.emitError("has no body; a model is a function with one");
  auto isTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getElementType().isIntOrFloat();
  };
  FunctionType type = function.getFunctionType();
  for (Type each :
       llvm::concat<const Type>(type.getInputs(), type.getResults()))
    if (!isTensor(each))
      return function.emitError("has an input or output of type ")
             << each
             << "; a model's are tensors of integers or floats of static shape";
  return success();
}

LogicalResult fact::outlineProgram(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() != 1)
    return module.emitError("a program needs one function, but the module has ")
           << functions.size();
  return success(succeeded(checkSignature(functions.front())) &&
                 succeeded(Outliner(module, functions.front()).run()));
}

namespace {
struct OutlineProgramPass : fact::impl::OutlineProgramBase<OutlineProgramPass> {
  void runOnOperation() override {
    if (failed(outlineProgram(getOperation())))
      signalPassFailure();
  }
};
} // namespace
