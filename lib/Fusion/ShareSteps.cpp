//===- ShareSteps.cpp - One kernel for the steps of a loop ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShareSteps.h"
#include "ChangedKernel.h"
#include "fact/Analysis/Bands.h"
#include "fact/Analysis/Parts.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Runtime/Program.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace fact;

/// Fewer kernels than this are not worth the operands.
static constexpr size_t minimumKernels = 4;

namespace {
/// A range of an operand that contains slices of it.
struct Cover {
  int64_t start, end;
  SmallVector<SliceOp> slices;
};

class StepSharing {
public:
  StepSharing(Block &block, const Fusibility &fusibility)
      : block(block), fusibility(fusibility) {}

  void run();

private:
  bool isAligned(int64_t offset, Type type) const;
  void findShared();
  bool isReturned(Value value) const;
  SmallVector<Cover> getCovers(Value operand, BlockArgument argument) const;
  Value getPart(Value operand, const Cover &cover);
  bool moveSlices(FusedOp fused);
  bool isKernel(FusedOp fused, FusedOp original) const;
  void shareOperands(FusedOp fused);
  void joinInPlace(FusedOp fused);

  Block &block;
  const Fusibility &fusibility;
  /// Kernels that take slices of one type of one value.
  llvm::DenseMap<std::pair<Value, Type>, llvm::SmallPtrSet<Operation *, 4>>
      readers;
  /// Slices outside of kernels, by operand, start and type.
  llvm::DenseMap<std::tuple<Value, int64_t, Type>, Value> parts;
  /// Values that are written into a concatenation.
  llvm::DenseSet<Value> placed;
};
} // namespace

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

bool StepSharing::isAligned(int64_t offset, Type type) const {
  return offset % runtime::bufferAlignment(
                      !fusibility.getTarget().getMachine().isHost(),
                      getStorageBytes(getElementTypeOrSelf(type))) ==
         0;
}

void StepSharing::findShared() {
  for (FusedOp fused : block.getOps<FusedOp>())
    for (auto [operand, argument] :
         llvm::zip_equal(fused.getInputs(), fused.getBody().getArguments()))
      for (Operation *user : argument.getUsers())
        if (auto slice = dyn_cast<SliceOp>(user); slice && getPartOffset(slice))
          readers[{operand, slice.getType()}].insert(fused);
}

/// Whether `value` is an output, under any type.
bool StepSharing::isReturned(Value value) const {
  return llvm::any_of(block.getTerminator()->getOperands(), [&](Value output) {
    return skipReshapes(output) == value;
  });
}

/// The ranges of an operand that move out of a kernel: one for slices that are
/// close to each other, else one per slice.
SmallVector<Cover> StepSharing::getCovers(Value operand,
                                          BlockArgument argument) const {
  SmallVector<Cover> covers;
  int64_t taken = 0;
  for (Operation *user : argument.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || !getPartOffset(slice))
      continue;
    auto found = readers.find({operand, slice.getType()});
    if (found == readers.end() || found->second.size() < minimumKernels ||
        (!covers.empty() &&
         covers.front().slices.front().getDim() != slice.getDim()))
      continue;
    int64_t start = slice.getStart();
    int64_t size = slice.getType().getDimSize(slice.getDim());
    taken += size;
    covers.push_back({start, start + size, {slice}});
  }
  if (covers.empty())
    return covers;
  llvm::stable_sort(
      covers, [](const Cover &a, const Cover &b) { return a.start < b.start; });
  Cover all = covers.front();
  for (const Cover &each : llvm::drop_begin(covers)) {
    all.end = std::max(all.end, each.end);
    all.slices.push_back(each.slices.front());
  }
  if (all.end - all.start <= 2 * taken)
    covers = {all};
  // A kernel can be launched on aligned memory only.
  bool aligned = llvm::all_of(covers, [&](const Cover &cover) {
    SliceOp first = cover.slices.front();
    return isAligned(*getPartOffset(first), first.getType());
  });
  return aligned ? covers : SmallVector<Cover>();
}

/// The range of an operand, as a slice before all kernels that read it.
Value StepSharing::getPart(Value operand, const Cover &cover) {
  SliceOp slice = cover.slices.front();
  SmallVector<int64_t> shape(slice.getType().getShape());
  shape[slice.getDim()] = cover.end - cover.start;
  auto type = slice.getType().clone(ArrayRef<int64_t>(shape));
  Value &part = parts[{operand, cover.start, type}];
  if (!part) {
    OpBuilder builder(block.getTerminator());
    builder.setInsertionPointAfterValue(operand);
    part = SliceOp::create(builder, slice.getLoc(), type, operand,
                           slice.getDim(), cover.start, /*step=*/1);
  }
  return part;
}

/// Moves slices of operands out of a kernel. Returns whether there were any.
bool StepSharing::moveSlices(FusedOp fused) {
  Block &body = fused.getBody().front();
  SmallVector<Value> operands;
  bool moved = false;
  for (Value operand : SmallVector<Value>(fused.getInputs())) {
    BlockArgument argument = body.getArgument(operands.size());
    SmallVector<Cover> covers = getCovers(operand, argument);
    operands.push_back(operand);
    for (const Cover &cover : covers) {
      Value part = getPart(operand, cover);
      BlockArgument inside = body.insertArgument(
          operands.size(), part.getType(), argument.getLoc());
      operands.push_back(part);
      for (SliceOp slice : cover.slices) {
        OpBuilder builder(slice);
        Value value =
            slice.getType() == part.getType()
                ? Value(inside)
                : SliceOp::create(builder, slice.getLoc(), slice.getType(),
                                  inside, slice.getDim(),
                                  slice.getStart() - cover.start, /*step=*/1);
        slice.getResult().replaceAllUsesWith(value);
        slice->erase();
      }
    }
    moved |= !covers.empty();
    if (!covers.empty() && argument.use_empty()) {
      operands.erase(operands.end() - covers.size() - 1);
      body.eraseArgument(argument.getArgNumber());
    }
  }
  fused->setOperands(operands);
  if (moved)
    setOperandBands(fused, {});
  return moved;
}

/// Replaces a kernel that only reshapes its operands by the reshapes.
static void replaceByReshapes(FusedOp fused) {
  OpBuilder builder(fused);
  Operation *terminator = fused.getBody().front().getTerminator();
  for (auto [result, yielded] :
       llvm::zip_equal(fused.getResults(), terminator->getOperands())) {
    auto argument = cast<BlockArgument>(skipReshapes(yielded));
    Value value = fused.getInputs()[argument.getArgNumber()];
    if (value.getType() != result.getType())
      value =
          ReshapeOp::create(builder, result.getLoc(), result.getType(), value);
    result.replaceAllUsesWith(value);
  }
  fused->erase();
}

/// Whether a kernel without some of its slices is one still. Its space is then
/// the default again, if that of the original is.
bool StepSharing::isKernel(FusedOp fused, FusedOp original) const {
  return renewSpace(original, fused, fusibility);
}

void StepSharing::shareOperands(FusedOp fused) {
  auto original = cast<FusedOp>(fused->clone());
  if (moveSlices(fused)) {
    bool isReshape = llvm::all_of(
        fused.getBodyOps(), [](Operation &op) { return isa<ReshapeOp>(op); });
    bool isOutput = llvm::any_of(
        fused.getResults(), [&](Value result) { return isReturned(result); });
    if (isReshape && !isOutput) {
      replaceByReshapes(fused);
    } else if (isReshape || !isKernel(fused, original)) {
      fused->setOperands(original->getOperands());
      setOperandBands(fused, getOperandBands(original));
      fused.getBody().takeBody(original.getBody());
    }
  }
  original->erase();
}

//===----------------------------------------------------------------------===//
// Concatenations
//===----------------------------------------------------------------------===//

/// The concatenation of a kernel that does nothing else, or null.
static ConcatOp getOnlyConcat(FusedOp fused) {
  ConcatOp only;
  for (Operation &op : fused.getBodyOps()) {
    auto concat = dyn_cast<ConcatOp>(op);
    if ((concat && only) || (!concat && !isa<ReshapeOp>(op)))
      return {};
    if (concat)
      only = concat;
  }
  Operation *terminator = fused.getBody().front().getTerminator();
  if (!only || terminator->getNumOperands() != 1 ||
      skipReshapes(terminator->getOperand(0)) != only ||
      !llvm::all_of(only.getInputs(), [](Value input) {
        return isa<BlockArgument>(skipReshapes(input));
      }))
    return {};
  return only;
}

void StepSharing::joinInPlace(FusedOp fused) {
  ConcatOp concat = getOnlyConcat(fused);
  if (!concat || concat.getInputs().size() < minimumKernels)
    return;
  SmallVector<int64_t> offsets = getPartOffsets(concat);
  if (offsets.empty() || !llvm::all_of(offsets, [&](int64_t offset) {
        return isAligned(offset, concat.getType());
      }))
    return;
  // A value that has other memory is copied to its place.
  SmallVector<Value> pieces;
  llvm::SmallSetVector<Value, 8> free;
  for (Value input : concat.getInputs()) {
    auto argument = cast<BlockArgument>(skipReshapes(input));
    Value value = skipReshapes(fused.getInputs()[argument.getArgNumber()]);
    pieces.push_back(value);
    auto kernel = value.getDefiningOp<FusedOp>();
    if (kernel && kernel->getBlock() == &block && !isReturned(value) &&
        !placed.contains(value))
      free.insert(value);
  }
  // Copies are launches of their own; the kernel is a single one.
  if (8 * (pieces.size() - free.size()) > pieces.size())
    return;
  OpBuilder builder(fused);
  Location loc = fused.getLoc();
  SmallVector<Value> inputs;
  for (auto [piece, input] : llvm::zip_equal(pieces, concat.getInputs())) {
    if (!free.remove(piece)) {
      FailureOr<FusedOp> copied =
          fusibility.copy(piece, piece.getType(), builder, loc, Silence(fused));
      if (failed(copied))
        return;
      piece = copied->getResult(0);
    }
    placed.insert(piece);
    if (piece.getType() != input.getType())
      piece = ReshapeOp::create(builder, loc, input.getType(), piece);
    inputs.push_back(piece);
  }
  Value joined = ConcatOp::create(builder, loc, inputs, concat.getDim());
  if (joined.getType() != fused.getResult(0).getType())
    joined =
        ReshapeOp::create(builder, loc, fused.getResult(0).getType(), joined);
  fused.getResult(0).replaceAllUsesWith(joined);
  fused->erase();
}

void StepSharing::run() {
  findShared();
  for (FusedOp fused : llvm::to_vector(block.getOps<FusedOp>()))
    shareOperands(fused);
  for (auto &[key, part] : parts)
    if (part.use_empty())
      part.getDefiningOp()->erase();
  for (FusedOp fused : llvm::to_vector(block.getOps<FusedOp>()))
    joinInPlace(fused);
}

void fact::shareSteps(Block &block, const Fusibility &fusibility) {
  StepSharing(block, fusibility).run();
}
