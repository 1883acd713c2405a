//===- Model.cpp - Dataflow and memory of a program -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Violation.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Placement.h"
#include "fact/Program/Program.h"
#include "fact/Support/WrittenBytes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fact;
using namespace fact::program;

void ModelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType signature, ArrayRef<StringRef> inputNames,
                    ArrayRef<StringRef> outputNames) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.signature = TypeAttr::get(signature);
  properties.input_names = builder.getStrArrayAttr(inputNames);
  properties.output_names = builder.getStrArrayAttr(outputNames);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(state.addRegion());
  program::PrepareOp::create(builder, state.location).getBody().emplaceBlock();
  RunOp::create(builder, state.location).getBody().emplaceBlock();
}

program::PrepareOp ModelOp::getPrepare() {
  return cast<program::PrepareOp>(getRun()->getPrevNode());
}

RunOp ModelOp::getRun() { return cast<RunOp>(getBody().front().back()); }

llvm::MapVector<AllocOp, LiveRange> program::getLiveRanges(ModelOp model) {
  llvm::MapVector<AllocOp, LiveRange> ranges;
  for (auto [i, launch] :
       llvm::enumerate(model.getRun().getBody().getOps<LaunchOp>())) {
    for (Value buffer : launch->getOperands()) {
      auto alloc = dyn_cast<AllocOp>(*getExtent(buffer).whole);
      if (!alloc || alloc.getMemory() != Memory::workspace)
        continue;
      auto position = unsigned(i);
      ranges.try_emplace(alloc, LiveRange{position, position})
          .first->second.last = position;
    }
  }
  return ranges;
}

//===----------------------------------------------------------------------===//
// Dataflow
//===----------------------------------------------------------------------===//

static bool isWrittenByLaunch(Operation *buffer) {
  return isa<AllocOp, OutputOp>(buffer);
}

namespace {
/// Checks reads and writes of buffers in the order of the launches.
class Dataflow {
public:
  LogicalResult verify(ModelOp model);

private:
  LogicalResult verifyReads(LaunchOp launch, bool prepares);
  LogicalResult verifyWrites(LaunchOp launch, bool prepares);

  /// By whole buffer.
  llvm::DenseMap<Operation *, WrittenBytes<LaunchOp>> written;
};
} // namespace

/// The region of a launch's kernel. Null if the kernel, which is verified apart
/// from models, is invalid.
static FusedOp findFused(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
      launch, launch.getKernelAttr());
  bool isEmpty = !kernel || kernel.getBody().front().empty();
  return dyn_cast_or_null<FusedOp>(
      isEmpty ? nullptr : kernel.getBody().front().back().getPrevNode());
}

/// The bytes that a launch writes of the whole buffer of a result.
static ByteRange getWritten(LaunchOp launch, unsigned result) {
  auto [buffer, begin, end] = getExtent(launch.getOutputs()[result]);
  FusedOp fused = findFused(launch);
  if (!fused || result >= fused.getYield()->getNumOperands())
    return {begin, end};
  Value yielded = fused.getYield()->getOperand(result);
  std::optional<Placement> placement = Placement::get(yielded);
  if (!placement)
    return {begin, end};
  Placement::Rows rows =
      placement->getRows(cast<RankedTensorType>(yielded.getType()));
  return {begin + rows.begin, begin + rows.end, rows.pitch, rows.spare};
}

/// The bytes that a launch reads of the rows of an argument's whole buffer, if
/// not all.
static ByteRange getReadRows(LaunchOp launch, unsigned argument) {
  FusedOp fused = findFused(launch);
  if (!fused)
    return {};
  std::optional<Placement::Rows> rows;
  for (auto [operand, inner] :
       llvm::zip_equal(fused.getInputs(), fused.getBody().getArguments())) {
    auto outer = dyn_cast<BlockArgument>(skipReshapes(operand));
    if (!outer || outer.getArgNumber() != argument)
      continue;
    std::optional<Placement::Rows> read = Placement::getRead(inner);
    if (!read || (rows && rows->pitch != read->pitch))
      return {};
    if (rows)
      read = {std::min(rows->begin, read->begin),
              std::max(rows->end, read->end), read->pitch};
    rows = read;
  }
  int64_t begin = getExtent(launch.getInputs()[argument]).begin;
  return rows ? ByteRange{begin + rows->begin, begin + rows->end, rows->pitch}
              : ByteRange{};
}

LogicalResult Dataflow::verifyReads(LaunchOp launch, bool prepares) {
  for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
    auto [buffer, begin, end] = getExtent(input);
    if (isWrittenByLaunch(buffer) &&
        !written[buffer].covers(begin, end, getReadRows(launch, i)))
      return (violates(launch, 3)
              << "no earlier launch writes "
              << (written[buffer].findWriter({begin, end}) ? "all of " : "")
              << "argument " << i)
                 .attachNote(buffer->getLoc())
             << "the buffer";
    if (prepares && isa<InputOp>(buffer))
      return (violates(launch, 5)
              << "argument " << i
              << " is an input, which 'program.prepare' cannot read")
                 .attachNote(buffer->getLoc())
             << "the buffer";
  }
  return success();
}

LogicalResult Dataflow::verifyWrites(LaunchOp launch, bool prepares) {
  for (auto [i, output] : llvm::enumerate(launch.getOutputs())) {
    auto [buffer, begin, end] = getExtent(output);
    ByteRange range = getWritten(launch, i);
    if (!isWrittenByLaunch(buffer))
      return (violates(launch, 4)
              << "result " << i << " is a '" << buffer->getName()
              << "', which no launch may write")
                 .attachNote(buffer->getLoc())
             << "the buffer";
    auto alloc = dyn_cast<AllocOp>(*buffer);
    bool isPrepared = alloc && alloc.getMemory() == Memory::prepared;
    if (isPrepared != prepares)
      return (violates(launch, 5)
              << "result " << i << (prepares ? " is not" : " is")
              << " in prepared memory, which 'program.prepare' alone writes")
                 .attachNote(buffer->getLoc())
             << "the buffer";
    WrittenBytes<LaunchOp> &known = written[buffer];
    if (const LaunchOp *other = known.findWriter(range))
      return (violates(launch, 4) << "another launch also writes result " << i)
                 .attachNote(LaunchOp(*other).getLoc())
             << "the other launch";
    known.add(range, launch);
  }
  return success();
}

LogicalResult Dataflow::verify(ModelOp model) {
  for (bool prepares : {true, false}) {
    Region &sequence =
        prepares ? model.getPrepare().getBody() : model.getRun().getBody();
    for (LaunchOp launch : sequence.getOps<LaunchOp>())
      if (failed(verifyReads(launch, prepares)) ||
          failed(verifyWrites(launch, prepares)))
        return failure();
  }
  llvm::SmallDenseMap<int64_t, OutputOp> outputs;
  for (BufferOpInterface buffer : model.getBuffers()) {
    auto output = dyn_cast<OutputOp>(*buffer);
    auto [whole, begin, end] = getExtent(buffer->getResult(0));
    // What is read of memory is checked where it is read.
    bool isWritten = written[buffer].findWriter({begin, end});
    if (whole == buffer && isWrittenByLaunch(buffer) &&
        !written[buffer].covers(begin, end) && (output || !isWritten))
      return violates(buffer, output ? 3 : 1)
             << (isWritten ? "launches write only parts of it"
                           : "no launch writes it");
    if (!output)
      continue;
    auto [known, isNew] = outputs.try_emplace(output.getIndex(), output);
    if (!isNew)
      return (violates(output, 2)
              << "output " << output.getIndex() << " has two buffers")
                 .attachNote(known->second.getLoc())
             << "the other buffer";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool overlap(AllocOp a, AllocOp b) {
  int64_t beginA = *a.getOffset(), beginB = *b.getOffset();
  return beginA < beginB + b.getBytes() && beginB < beginA + a.getBytes();
}

static LogicalResult verifyPlacement(AllocOp alloc, int64_t size) {
  int64_t offset = *alloc.getOffset();
  if (offset < 0 || offset % AllocOp::alignment)
    return violates(alloc, 3) << "offset " << offset << " is not a multiple of "
                              << AllocOp::alignment;
  if (offset > size - alloc.getBytes())
    return violates(alloc, 3)
           << alloc.getBytes() << " bytes at " << offset << " end beyond the "
           << size << " bytes of " << stringifyMemory(alloc.getMemory())
           << " memory";
  return success();
}

/// Checks that buffers whose live ranges overlap do not overlap in memory.
static LogicalResult verifyPlan(ModelOp model) {
  std::optional<int64_t> workspace = model.getWorkspaceBytes();
  std::optional<int64_t> prepared = model.getPreparedBytes();
  if (workspace.has_value() != prepared.has_value())
    return violates(model, 3) << "only one memory has a size; "
                                 "--fact-plan-memory sets both";
  llvm::MapVector<AllocOp, LiveRange> ranges = getLiveRanges(model);
  SmallVector<AllocOp> placed;
  for (AllocOp alloc : model.getBody().getOps<AllocOp>()) {
    if (alloc.getOffset().has_value() != workspace.has_value())
      return violates(alloc, 2) << (workspace ? "its memory has a size, but it "
                                                "has no offset"
                                              : "it has an offset, but its "
                                                "memory has no size");
    if (!workspace)
      continue;
    bool isWorkspace = alloc.getMemory() == Memory::workspace;
    if (failed(verifyPlacement(alloc, isWorkspace ? *workspace : *prepared)))
      return failure();
    for (AllocOp other : placed)
      if (other.getMemory() == alloc.getMemory() && overlap(alloc, other) &&
          (!isWorkspace || ranges[alloc].overlaps(ranges[other])))
        return (violates(alloc, 4)
                << alloc.getBytes() << " bytes at " << *alloc.getOffset()
                << " overlap a buffer that is live at the same time")
                   .attachNote(other.getLoc())
               << other.getBytes() << " bytes at " << *other.getOffset();
    placed.push_back(alloc);
  }
  return success();
}

LogicalResult ModelOp::verify() {
  auto verifyNames = [&](StringRef what, size_t names, size_t wanted) {
    if (names == wanted)
      return success();
    return LogicalResult(violates(*this, 1) << wanted << " " << what << ", but "
                                            << names << " names");
  };
  if (failed(verifyNames("inputs", getInputNames().size(),
                         getSignature().getNumInputs())) ||
      failed(verifyNames("outputs", getOutputNames().size(),
                         getSignature().getNumResults())))
    return failure();
  Block &block = getBody().front();
  if (block.empty() || !isa<RunOp>(block.back()) ||
      !isa_and_nonnull<program::PrepareOp>(block.back().getPrevNode()))
    return violates(*this, 2) << "the body does not end in 'program.prepare' "
                                 "and 'program.run'";
  for (Operation &op : block)
    if (!isa<BufferOpInterface>(op) && &op != getPrepare() && &op != getRun())
      return (violates(*this, 2)
              << "the body has a '" << op.getName() << "' among the buffers")
                 .attachNote(op.getLoc())
             << "the op";
  return success();
}

LogicalResult ModelOp::verifyRegions() {
  return success(succeeded(Dataflow().verify(*this)) &&
                 succeeded(verifyPlan(*this)));
}

LogicalResult ModelOp::verifySymbolUses(SymbolTableCollection &tables) {
  std::optional<StringRef> name = getReplaces();
  if (!name)
    return success();
  auto kernel =
      tables.lookupNearestSymbolFrom<KernelOp>(*this, getReplacesAttr());
  if (!kernel)
    return violates(*this, 4) << "no kernel '" << *name << "'";
  if (kernel.getFunctionType() != getSignature())
    return (violates(*this, 4)
            << "its signature is " << getSignature() << ", but that of '"
            << *name << "' is " << kernel.getFunctionType())
               .attachNote(kernel.getLoc())
           << "the kernel";
  if (!getPrepare().getBody().front().empty() ||
      !getBody().getOps<program::WeightOp>().empty())
    return violates(*this, 4) << "it prepares or reads weights";
  for (LaunchOp launch : getRun().getBody().getOps<LaunchOp>())
    if (launch.getKernel() == *name)
      return (violates(*this, 4) << "it launches '" << *name << "'")
                 .attachNote(launch.getLoc())
             << "the launch";
  return success();
}
