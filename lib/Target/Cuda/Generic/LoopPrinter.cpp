//===- LoopPrinter.cpp - A function on memory as CUDA ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LoopPrinter.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Support/FirstFit.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fact;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static int64_t getBytes(MemRefType type) {
  return llvm::alignTo(
      type.getNumElements() * getStorageBytes(type.getElementType()), 256);
}

static StringRef getElementNameOf(Value memory) {
  return getElementName(cast<MemRefType>(memory.getType()).getElementType());
}

/// The last op of `block` that uses memory, through views too.
static Operation *findLastUse(Value memory, Block &block) {
  Operation *last = memory.getDefiningOp();
  if (last)
    last = block.findAncestorOpInBlock(*last);
  for (Operation *user : memory.getUsers()) {
    Operation *use = block.findAncestorOpInBlock(*user);
    // Loops pass memory on; it then lives to the end.
    if (isa<scf::ForOp, scf::YieldOp>(user))
      return block.getTerminator();
    if (isa<ViewLikeOpInterface>(user))
      use = findLastUse(user->getResult(0), block);
    if (!last || last->isBeforeInBlock(use))
      last = use;
  }
  return last;
}

/// Gives each allocation a part of the workspace.
void LoopPrinter::placeAllocations() {
  Block &block = function.getBody().front();
  llvm::DenseMap<Operation *, int64_t> position;
  for (auto [i, op] : llvm::enumerate(block))
    position[&op] = i;
  SmallVector<Value> memories;
  std::vector<TimedBuffer> buffers;
  function.walk([&](memref::AllocOp alloc) {
    memories.push_back(alloc);
    buffers.push_back({getBytes(alloc.getType()),
                       position[block.findAncestorOpInBlock(*alloc)],
                       position[findLastUse(alloc, block)]});
  });
  workspaceBytes = placeFirstFit(buffers);
  for (auto [memory, buffer] : llvm::zip_equal(memories, buffers))
    declare(memory, "workspace + " + Twine(buffer.offset));
}

void LoopPrinter::declare(Value memory, const Twine &place) {
  std::string name = "m" + std::to_string(nextName++);
  StringRef element = getElementNameOf(memory);
  launches << llvm::formatv("    auto *{0} = reinterpret_cast<{1} *>({2});\n",
                            name, element, place);
  names[memory] = name;
}

void LoopPrinter::declareArguments() {
  launches << llvm::formatv(
      "    [[maybe_unused]] char *workspace = static_cast<char *>("
      "state.buffers[{0}]);\n",
      function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    declare(argument, "state.buffers[" + Twine(argument.getArgNumber()) + "]");
}

/// Prints a constant as an array of its bits.
void LoopPrinter::printGlobal(memref::GetGlobalOp op) {
  if (!globals.insert(op.getName()).second)
    return;
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      function, op.getNameAttr());
  auto value = cast<DenseElementsAttr>(*global.getInitialValue());
  unsigned bytes = getStorageBytes(value.getElementType());
  kernels << llvm::formatv("__device__ const uint{0}_t {1}[] = {{", bytes * 8,
                           op.getName());
  auto print = [&](const APInt &bits) {
    kernels << bits.getZExtValue() << (bytes == 8 ? "ull, " : "u, ");
  };
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &number : value.getValues<APFloat>())
      print(number.bitcastToAPInt());
  else
    for (const APInt &number : value.getValues<APInt>())
      print(number);
  kernels << "};\n\n";
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::string LoopPrinter::getName(Value value) {
  if (auto known = names.find(value); known != names.end())
    return known->second;
  return getScalarLiteral(value);
}

bool LoopPrinter::foldFill(linalg::FillOp fill) {
  Value memory = fill.getOutputs().front();
  if (!fill.getInputs().front().getDefiningOp<arith::ConstantOp>() ||
      memory.getDefiningOp<ViewLikeOpInterface>())
    return false;
  Operation *next = nullptr;
  for (Operation *user : memory.getUsers()) {
    if (user->getBlock() != fill->getBlock())
      return false;
    if (user == fill)
      continue;
    if (!fill->isBeforeInBlock(user)) {
      // Earlier views may be read in between.
      if (isa<ViewLikeOpInterface>(user))
        return false;
    } else if (!next || user->isBeforeInBlock(next)) {
      next = user;
    }
  }
  auto step = dyn_cast_or_null<linalg::LinalgOp>(next);
  if (!step || isa<linalg::FillOp>(next) ||
      !llvm::is_contained(step.getDpsInits(), memory) ||
      llvm::is_contained(step.getDpsInputs(), memory))
    return false;
  fills[memory] = fill.getInputs().front();
  return true;
}

void LoopPrinter::printLaunch(const StepLaunch &launch,
                              ArrayRef<std::string> arguments) {
  std::string list;
  for (const std::string &argument : arguments)
    list += ", " + argument;
  if (form.isOneBlock)
    launches << llvm::formatv("{0}for (int block = 0; block < {1}; ++block)\n"
                              "{0}  {2}(block{3});\n{0}__syncthreads();\n",
                              indent, launch.blocks, launch.kernel, list);
  else
    launches << llvm::formatv("{0}if (int error = enqueue({1}, {2}, {3}, "
                              "stream{4}))\n{0}  return error;\n",
                              indent, launch.kernel, launch.blocks,
                              form.blockThreads, list);
}

void LoopPrinter::printStep(linalg::LinalgOp op) {
  std::string name = "step" + std::to_string(nextStep++);
  StepPrinter printer(op, name, form, fills);
  SmallVector<StepLaunch> list = printer.print(kernels);
  SmallVector<std::string> partials;
  int64_t bytes = 0;
  for (auto [type, count] : printer.getPartials()) {
    partials.push_back(llvm::formatv("reinterpret_cast<{0} *>(workspace + {1})",
                                     getElementName(type),
                                     workspaceBytes + bytes));
    bytes += llvm::alignTo(count * getStorageBytes(type), 256);
  }
  partialBytes = std::max(partialBytes, bytes);
  for (const StepLaunch &launch : list) {
    SmallVector<std::string> arguments;
    for (Value argument : launch.arguments)
      arguments.push_back(getName(argument));
    llvm::append_range(arguments,
                       ArrayRef(partials).take_front(launch.partials));
    printLaunch(launch, arguments);
  }
  for (Value init : op.getDpsInits())
    fills.erase(init);
}

/// A loop around steps. What it passes from one iteration to the next is either
/// in one place, or alternates between two: memory of its own, into which the
/// initial values are copied, and what the body allocates.
LogicalResult LoopPrinter::printLoop(scf::ForOp loop) {
  if (form.isOneBlock)
    return loop.emitOpError("is around steps of one kernel");
  std::string index = "i" + std::to_string(nextName++);
  SmallVector<std::pair<std::string, Value>> swapped;
  for (auto [argument, initial, result, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs(),
                       loop.getResults(), loop.getYieldedValues())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      return loop.emitOpError("carries a value that is not memory");
    std::string name = getName(initial);
    if (yielded != argument) {
      if (!yielded.getDefiningOp<memref::AllocOp>() ||
          yielded.getParentRegion() != &loop.getRegion() ||
          !type.getLayout().isIdentity())
        return loop.emitOpError("carries memory that it does not allocate");
      name = "m" + std::to_string(nextName++);
      int64_t bytes = getBytes(type);
      launches << llvm::formatv(
          "{0}auto *{1} = reinterpret_cast<{2} *>(workspace + {3});\n"
          "{0}if (int error = cudaMemcpyAsync({1}, {4}, {5}, "
          "cudaMemcpyDeviceToDevice, stream))\n{0}  return error;\n",
          indent, name, getElementNameOf(argument), workspaceBytes,
          getName(initial),
          type.getNumElements() * getStorageBytes(type.getElementType()));
      workspaceBytes += bytes;
      swapped.emplace_back(name, yielded);
    }
    names[argument] = names[result] = name;
  }
  names[loop.getInductionVar()] = index;
  launches << llvm::formatv(
      "{0}for (int64_t {1} = {2}; {1} < {3}; {1} += {4}) {{\n", indent, index,
      getName(loop.getLowerBound()), getName(loop.getUpperBound()),
      getName(loop.getStep()));
  indent += "  ";
  if (failed(printBlock(*loop.getBody())))
    return failure();
  for (const auto &[name, yielded] : swapped)
    launches << indent << "std::swap(" << name << ", " << getName(yielded)
             << ");\n";
  indent.resize(indent.size() - 2);
  launches << indent << "}\n";
  return success();
}

LogicalResult LoopPrinter::printOp(Operation *op) {
  if (isa<memref::AllocOp, arith::ConstantOp>(op))
    return success();
  if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
    names[op->getResult(0)] = getName(view.getViewSource());
    return success();
  }
  if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    printGlobal(global);
    return success();
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op); fill && foldFill(fill))
    return success();
  if (auto step = dyn_cast<linalg::LinalgOp>(op)) {
    printStep(step);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printLoop(loop);
  if (!isa<arith::ArithDialect>(op->getDialect()))
    return op->emitOpError("is no step that can be printed as CUDA");
  // Arithmetic on indices of loops.
  ScalarPrinter printer(launches, indent);
  for (Value operand : op->getOperands())
    printer.setName(operand, getName(operand));
  std::string name = "s" + std::to_string(nextName++);
  launches << indent << "const " << getScalarName(op->getResult(0).getType())
           << ' ' << name << " = " << printer.getExpression(op) << ";\n";
  names[op->getResult(0)] = name;
  return success();
}

LogicalResult LoopPrinter::printBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(printOp(&op)))
      return failure();
  return success();
}

LogicalResult LoopPrinter::print(raw_ostream &os) {
  declareArguments();
  placeAllocations();
  if (failed(printBlock(function.getBody().front())))
    return failure();
  unsigned count = function.getNumArguments();
  os << kernelText
     << llvm::formatv("/// Operands, results, workspace.\n"
                      "struct Buffers {{\n  void *buffers[{0}];\n};\n\n",
                      count + 1);
  std::string launch = launchText + "    return cudaSuccess;\n";
  if (form.isOneBlock) {
    os << llvm::formatv("__global__ void __launch_bounds__({0}) "
                        "steps(Buffers const state) {{\n{1}}\n\n",
                        form.blockThreads, launchText);
    launch =
        llvm::formatv("    return enqueue(steps, 1, {0}, stream, state);\n",
                      form.blockThreads);
  }
  os << llvm::formatv(R"(struct Kernel {{
  static constexpr int buffer_count = {0};
  static constexpr uint64_t workspace_bytes = {1};
  using State = Buffers;

  static int bind(State &state, void *const *buffers, void *workspace) {{
    for (int i = 0; i < {0}; ++i)
      state.buffers[i] = buffers[i];
    state.buffers[{0}] = workspace;
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {{
)",
                      count, workspaceBytes + partialBytes)
     << launch << "  }\n};\n";
  return success();
}
