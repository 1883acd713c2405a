//===- UnrolledLoops.cpp - The steps of loops that were unrolled ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/UnrolledLoops.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace fact;

/// Fewer slices or operands are those of gates, heads or branches.
static constexpr size_t minimumSteps = 8;

/// Ops of a stretch. Fewer make more launches, more make kernels that take long
/// to compile.
static constexpr unsigned opsPerStretch = 64;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A slice, where it is first read, and by what.
struct Step {
  SliceOp slice;
  unsigned position;
  SmallVector<std::pair<StringRef, Type>> readers;
};
} // namespace

/// Adds the readers of a value, behind views.
static void addReaders(Value value,
                       const llvm::DenseMap<Operation *, unsigned> &positions,
                       Step &step) {
  for (Operation *user : value.getUsers()) {
    if (isa<ViewOpInterface>(user)) {
      addReaders(user->getResult(0), positions, step);
      continue;
    }
    step.position = std::min(step.position, positions.lookup(user));
    Type type = user->getNumResults() ? user->getResult(0).getType() : Type();
    step.readers.emplace_back(user->getName().getStringRef(), type);
  }
}

/// Whether all steps read alike, but for the first and the last: what is
/// constant before the loop folds into one, and what follows reads the other.
static bool areAlike(ArrayRef<Step> steps) {
  return llvm::all_of(steps.drop_front().drop_back(), [&](const Step &step) {
    return step.readers == steps[1].readers;
  });
}

void UnrolledLoops::findLoops(Block &block) {
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::MapVector<std::tuple<Value, int64_t, Type>, SmallVector<Step>> found;
  for (Operation &op : block)
    positions.try_emplace(&op, positions.size());
  for (SliceOp slice : block.getOps<SliceOp>()) {
    Step step{slice, ~0u, {}};
    addReaders(slice, positions, step);
    llvm::sort(step.readers, [](const auto &a, const auto &b) {
      return std::pair(a.first, a.second.getAsOpaquePointer()) <
             std::pair(b.first, b.second.getAsOpaquePointer());
    });
    found[{slice.getOperand(), slice.getDim(), slice.getType()}].push_back(
        std::move(step));
  }
  for (auto &[key, steps] : found) {
    if (steps.size() < minimumSteps)
      continue;
    llvm::stable_sort(steps, [](const Step &a, const Step &b) {
      return a.position < b.position;
    });
    if (!areAlike(steps))
      continue;
    UnrolledLoop &loop = loops.emplace_back();
    for (Step &step : steps)
      loop.slices.push_back(step.slice);
  }
}

//===----------------------------------------------------------------------===//
// Stretches
//===----------------------------------------------------------------------===//

void UnrolledLoops::setStretches(Block &block,
                                 ArrayRef<unsigned> stepsPerStretch) {
  llvm::DenseMap<Operation *, unsigned> steps;
  for (auto [loop, count] : llvm::zip_equal(loops, stepsPerStretch))
    for (auto [i, slice] : llvm::enumerate(loop.slices))
      steps[slice] = 1 + i / count;
  stretches.clear();
  joins.clear();
  llvm::SmallPtrSet<Operation *, 8> isJoin;
  for (Operation &op : block) {
    llvm::SmallDenseSet<unsigned> joined;
    unsigned stretch = 0;
    for (Value operand : op.getOperands()) {
      Operation *source = operand.getDefiningOp();
      // What follows a join is in a stretch after it.
      unsigned after = stretches.lookup(source) + isJoin.contains(source);
      stretch = std::max(stretch, after);
      joined.insert(after);
    }
    stretch += steps.lookup(&op);
    auto concat = dyn_cast<ConcatOp>(op);
    if (concat && op.getNumOperands() >= minimumSteps && joined.size() > 1) {
      joins.push_back(concat);
      isJoin.insert(concat);
      ++stretch;
    }
    if (stretch)
      stretches[&op] = stretch;
  }
  // Kernels read through views: each is in the stretch of all its readers,
  // which may be a later one. What is returned or joined is stored as the view
  // has it.
  for (Operation &op : llvm::reverse(block)) {
    if (!isa<ViewOpInterface>(op) || op.use_empty() ||
        llvm::any_of(op.getUsers(), [&](Operation *user) {
          return isJoin.contains(user) ||
                 user->hasTrait<OpTrait::IsTerminator>();
        }))
      continue;
    unsigned first = stretches.lookup(*op.user_begin());
    if (first && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return stretches.lookup(user) == first;
        }))
      stretches[&op] = first;
  }
}

/// As many as make a stretch of `opsPerStretch`, for each loop. Expects
/// stretches of one step.
SmallVector<unsigned> UnrolledLoops::countStepsPerStretch(Block &block) const {
  llvm::DenseMap<unsigned, unsigned> ops;
  for (Operation &op : block)
    if (isa_and_nonnull<FactDialect>(op.getDialect()) &&
        !isa<ReshapeOp, SliceOp>(op))
      ++ops[getStretch(&op)];
  SmallVector<unsigned> counts;
  for (const UnrolledLoop &loop : loops) {
    SmallVector<unsigned> sizes;
    for (SliceOp slice : loop.slices)
      sizes.push_back(ops.lookup(getStretch(slice)));
    llvm::sort(sizes);
    unsigned median = sizes[sizes.size() / 2];
    counts.push_back(std::max(1u, opsPerStretch / std::max(1u, median)));
  }
  return counts;
}

UnrolledLoops::UnrolledLoops(Block &block) {
  findLoops(block);
  if (loops.empty())
    return;
  setStretches(block, SmallVector<unsigned>(loops.size(), 1));
  SmallVector<unsigned> counts = countStepsPerStretch(block);
  // Loops that fit into one stretch stay as they are.
  SmallVector<UnrolledLoop> longLoops;
  SmallVector<unsigned> longCounts;
  for (auto [loop, count] : llvm::zip_equal(loops, counts))
    if (loop.slices.size() > count) {
      longLoops.push_back(std::move(loop));
      longCounts.push_back(count);
    }
  loops = std::move(longLoops);
  setStretches(block, longCounts);
}
