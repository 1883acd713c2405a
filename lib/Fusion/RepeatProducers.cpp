//===- RepeatProducers.cpp - Kernels that their readers repeat ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RepeatProducers.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Placement.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Kernel/Rules.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fact;

/// Readers of one kernel that are tried.
static constexpr size_t mostReaders = 4;

/// The kernels must be predicted to take at most this share of the time before,
/// as where groups merge.
static constexpr double mostTime = 0.97;

/// The kernels that read results of `producer`, all of them; none if anything
/// else does.
static SmallVector<FusedOp> getReaders(FusedOp producer) {
  llvm::SmallSetVector<Operation *, 4> readers;
  SmallVector<Value> values(producer.getResults());
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<ReshapeOp>(user))
        values.push_back(user->getResult(0));
      else if (isa<FusedOp>(user) && user->getBlock() == producer->getBlock())
        readers.insert(user);
      else
        return {};
    }
  SmallVector<FusedOp> found;
  for (Operation *reader : readers)
    found.push_back(cast<FusedOp>(reader));
  return found;
}

/// Whether nobody chose a schedule or a space for a kernel.
static bool isDefault(FusedOp fused, const Fusibility &fusibility) {
  if (fused.getScheduleAttr())
    return false;
  auto plan = fusibility.getTarget().plan(fused, Silence(fused));
  return succeeded(plan) && fused.getSpaceAttr() == (*plan)->getSpace();
}

/// Bytes that are not moved if the producer is repeated in each of its readers,
/// at most: none may read all of its results.
static double countSavedBytes(FusedOp producer, size_t readers) {
  auto count = [](ValueRange values) {
    double bytes = 0;
    for (Value value : values)
      bytes += double(getStorageBytes(value.getType()));
    return bytes;
  };
  return double(readers + 1) * count(producer.getResults()) -
         double(readers - 1) * count(producer.getInputs());
}

/// A copy of `reader`, with the ops of `producer` in place of its results; null
/// if it is no kernel.
static FusedOp repeat(FusedOp producer, FusedOp reader,
                      const Fusibility &fusibility) {
  OpBuilder builder(reader);
  auto copy = cast<FusedOp>(builder.clone(*reader));
  Block &body = copy.getBody().front();
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip_equal(
           producer.getBody().getArguments(), producer.getInputs())) {
    copy.getInputsMutable().append(input);
    mapping.map(argument, body.addArgument(input.getType(), input.getLoc()));
  }
  builder.setInsertionPointToStart(&body);
  for (Operation &op : producer.getBodyOps())
    builder.clone(op, mapping);
  for (unsigned i = 0; i < reader.getInputs().size(); ++i) {
    auto result = dyn_cast<OpResult>(skipReshapes(reader.getInputs()[i]));
    if (!result || result.getOwner() != producer)
      continue;
    Value value = mapping.lookup(
        producer.getYield()->getOperand(result.getResultNumber()));
    BlockArgument argument = body.getArgument(i);
    if (value.getType() != argument.getType())
      value = ReshapeOp::create(builder, reader.getLoc(), argument.getType(),
                                value);
    argument.replaceAllUsesWith(value);
  }
  Fusibility::eraseUnused(copy);
  copy.removeSpaceAttr();
  FailureOr<std::unique_ptr<Plan>> plan =
      fusibility.getTarget().plan(copy, Silence(copy));
  if (succeeded(plan))
    copy.setSpaceAttr((*plan)->getSpace());
  if (failed(plan) || fusibility.check(copy, Silence(copy))) {
    copy->erase();
    return {};
  }
  return copy;
}

/// Copies of all readers that repeat the producer, if they are predicted to be
/// faster; else none.
static SmallVector<FusedOp> repeatInAll(FusedOp producer,
                                        ArrayRef<FusedOp> readers,
                                        const Fusibility &fusibility) {
  double before = fusibility.predict(producer).value_or(0), after = 0;
  SmallVector<FusedOp> copies;
  for (FusedOp reader : readers) {
    std::optional<double> alone = fusibility.predict(reader);
    FusedOp copy = alone ? repeat(producer, reader, fusibility) : FusedOp();
    std::optional<double> repeated =
        copy ? fusibility.predict(copy) : std::nullopt;
    if (copy)
      copies.push_back(copy);
    before += alone.value_or(0);
    after += repeated.value_or(std::numeric_limits<double>::infinity());
    if (!repeated)
      break;
  }
  if (after <= mostTime * before)
    return copies;
  for (FusedOp copy : copies)
    copy->erase();
  return {};
}

/// Erases an op without readers, and the reshapes of its results.
static void eraseWithReshapes(Operation *op) {
  for (Operation *user : llvm::to_vector(op->getUsers()))
    eraseWithReshapes(user);
  op->erase();
}

void fact::repeatProducers(Block &block, const Fusibility &fusibility) {
  if (fusibility.getTarget().getMachine().isHost())
    return;
  // Readers before producers, so that chains end in their last readers.
  for (FusedOp producer : llvm::to_vector(
           llvm::reverse(llvm::to_vector(block.getOps<FusedOp>())))) {
    if (producer.getRule() != pointwiseRule.name || Placement::isIn(producer))
      continue;
    SmallVector<FusedOp> readers = getReaders(producer);
    if (readers.size() < 2 || readers.size() > mostReaders ||
        countSavedBytes(producer, readers.size()) <= 0 ||
        !isDefault(producer, fusibility) ||
        !llvm::all_of(readers, [&](FusedOp reader) {
          return isDefault(reader, fusibility);
        }))
      continue;
    SmallVector<FusedOp> copies = repeatInAll(producer, readers, fusibility);
    for (auto [reader, copy] : llvm::zip(readers, copies)) {
      reader->replaceAllUsesWith(copy);
      reader->erase();
    }
    if (copies.empty())
      continue;
    eraseWithReshapes(producer);
  }
}
