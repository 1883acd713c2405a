//===- PlaceParts.cpp - Concatenations written in place -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlaceParts.h"
#include "ChangedKernel.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Placement.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fact;

/// Steps of an unrolled loop share a kernel, which placing them would undo.
static constexpr size_t mostParts = 8;

namespace {
/// A kernel that concatenates values, permutes the result and does nothing else
/// with it.
struct Join {
  /// Handles, whose methods are not const.
  mutable FusedOp fused;
  mutable ConcatOp concat;
  /// From the concatenation on, and the reshapes after them.
  SmallVector<PermuteOp> permutes;
  Value permuted;
  /// The dimension of `permuted` that the concatenation is along.
  int64_t dim;

  static std::optional<Join> get(FusedOp fused);
  RankedTensorType getType() const {
    return cast<RankedTensorType>(permuted.getType());
  }
};

/// A kernel that writes one part of the whole, or several.
struct Writer {
  mutable FusedOp kernel;
  /// The kernel that it replaces; null for a copy.
  mutable FusedOp original;
  /// Of the kernel, and of that which it replaces.
  double microseconds, before = 0;
};

/// Which result of which writer an input of the concatenation is.
struct Part {
  size_t writer;
  unsigned result;
};

/// All parts of a concatenation.
struct Parts {
  SmallVector<Writer> writers;
  SmallVector<Part> parts;

  FusedOp getKernel(const Part &part) const {
    return writers[part.writer].kernel;
  }
};

class PartPlacement {
public:
  PartPlacement(Block &block, const Fusibility &fusibility)
      : block(block), target(fusibility.getTarget()), fusibility(fusibility) {}

  void run();

private:
  OpResult findProducer(const Join &join, unsigned input) const;
  Value place(const Join &join, unsigned input, Value part,
              OpBuilder &builder) const;
  FusedOp placeResult(const Join &join, unsigned input, OpResult result,
                      FusedOp kernel) const;
  FusedOp placeCopy(const Join &join, unsigned input) const;
  bool writeInPlace(const Join &join, unsigned input, double limit,
                    Parts &parts) const;
  bool writeCopy(const Join &join, unsigned input, Parts &parts) const;
  bool findParts(const Join &join, Parts &parts) const;
  void replace(const Join &join, const Parts &parts);

  Block &block;
  const Target &target;
  const Fusibility &fusibility;
};
} // namespace

std::optional<Join> Join::get(FusedOp fused) {
  if (fused.getNumResults() != 1)
    return std::nullopt;
  Join join;
  join.fused = fused;
  join.permuted = skipReshapes(fused.getYield()->getOperand(0));
  Value value = join.permuted;
  while (auto permute = value.getDefiningOp<PermuteOp>()) {
    join.permutes.push_back(permute);
    value = permute.getOperand();
  }
  std::reverse(join.permutes.begin(), join.permutes.end());
  join.concat = value.getDefiningOp<ConcatOp>();
  if (!join.concat || join.concat.getInputs().size() > mostParts ||
      !isa<FloatType>(join.concat.getType().getElementType()) ||
      Placement::get(join.concat))
    return std::nullopt;
  join.dim = join.concat.getDim();
  for (PermuteOp permute : join.permutes)
    join.dim =
        llvm::find(permute.getDims(), join.dim) - permute.getDims().begin();
  return join;
}

/// The result of a kernel that is an operand of a concatenation and nothing
/// else, behind views; null if there is none.
OpResult PartPlacement::findProducer(const Join &join, unsigned input) const {
  Value value = join.concat.getInputs()[input];
  while (value.hasOneUse() &&
         isa_and_nonnull<ReshapeOp, PermuteOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.hasOneUse())
    return {};
  value = join.fused.getInputs()[argument.getArgNumber()];
  while (value.hasOneUse() && value.getDefiningOp<ReshapeOp>())
    value = value.getDefiningOp()->getOperand(0);
  auto result = dyn_cast<OpResult>(value);
  if (!result || !result.hasOneUse())
    return {};
  auto producer = dyn_cast<FusedOp>(result.getOwner());
  if (!producer || producer->getBlock() != &block)
    return {};
  Value yielded = producer.getYield()->getOperand(result.getResultNumber());
  return Placement::get(yielded) ? OpResult() : result;
}

/// The whole, of which `part` is input number `input` and nothing else is
/// known.
Value PartPlacement::place(const Join &join, unsigned input, Value part,
                           OpBuilder &builder) const {
  ConcatOp concat = join.concat;
  Location loc = concat.getLoc();
  SmallVector<Value> inputs;
  for (auto [i, other] : llvm::enumerate(concat.getInputs()))
    inputs.push_back(i == input
                         ? part
                         : ub::PoisonOp::create(builder, loc, other.getType()));
  Value whole = ConcatOp::create(builder, loc, inputs, concat.getDim());
  for (PermuteOp permute : join.permutes)
    whole = PermuteOp::create(builder, permute.getLoc(), permute.getType(),
                              whole, permute.getDims());
  return whole;
}

/// A copy of `before` that writes `result`, a result of the kernel that
/// `before` is or replaces, in place; null if no family can.
FusedOp PartPlacement::placeResult(const Join &join, unsigned input,
                                   OpResult result, FusedOp before) const {
  OpBuilder builder(before);
  auto kernel = cast<FusedOp>(builder.clone(*before));
  Operation *yield = kernel.getYield();
  builder.setInsertionPoint(yield);
  unsigned number = result.getResultNumber();
  // The views between both kernels, then those before the concatenation.
  SmallVector<Operation *> views;
  for (Value value = join.concat.getInputs()[input];;) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      value = join.fused.getInputs()[argument.getArgNumber()];
    if (value == result)
      break;
    views.push_back(value.getDefiningOp());
    value = views.back()->getOperand(0);
  }
  Value part = yield->getOperand(number);
  for (Operation *view : llvm::reverse(views)) {
    IRMapping mapping;
    mapping.map(view->getOperand(0), part);
    part = builder.clone(*view, mapping)->getResult(0);
  }
  yield->setOperand(number, place(join, input, part, builder));
  kernel->getResult(number).setType(join.getType());

  if (!renewSpace(before, kernel, fusibility)) {
    kernel->erase();
    return {};
  }
  return kernel;
}

/// A kernel that computes an operand from those of the concatenation's kernel,
/// in place.
FusedOp PartPlacement::placeCopy(const Join &join, unsigned input) const {
  FusedOp fused = join.fused;
  OpBuilder builder(fused);
  auto copy =
      FusedOp::create(builder, fused.getLoc(), TypeRange(join.getType()),
                      "pointwise", fused.getInputs(), StrategyAttr(),
                      Attribute(), Attribute(), fused.getPriorityAttr());
  Block &body = copy.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : fused.getBody().getArguments())
    mapping.map(argument,
                body.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  for (Operation &op : fused.getBodyOps()) {
    if (&op == join.concat)
      break;
    inner.clone(op, mapping);
  }
  Value part = mapping.lookup(join.concat.getInputs()[input]);
  Value whole = place(join, input, part, inner);
  YieldOp::create(inner, fused.getLoc(), whole);
  Fusibility::eraseUnused(copy);
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(copy, Silence(copy));
  if (failed(plan)) {
    copy->erase();
    return {};
  }
  copy.setSpaceAttr((*plan)->getSpace());
  return copy;
}

/// Lets the kernel that computes an operand write it in place, besides those
/// that it writes already, unless that costs `limit` microseconds or more: the
/// same kernel may be much slower at these strides.
bool PartPlacement::writeInPlace(const Join &join, unsigned input, double limit,
                                 Parts &parts) const {
  OpResult result = findProducer(join, input);
  if (!result)
    return false;
  auto original = cast<FusedOp>(result.getOwner());
  auto *writer = llvm::find_if(parts.writers, [&](const Writer &each) {
    return each.original == original;
  });
  bool isNew = writer == parts.writers.end();
  FusedOp before = isNew ? original : writer->kernel;
  std::optional<double> alone = isNew ? predictLaunch(original, fusibility)
                                      : std::optional(writer->microseconds);
  FusedOp kernel = placeResult(join, input, result, before);
  if (!kernel)
    return false;
  std::optional<double> inPlace = predictLaunch(kernel, fusibility);
  if (!alone || !inPlace || *inPlace - *alone > limit) {
    kernel->erase();
    return false;
  }
  parts.parts.push_back({size_t(writer - parts.writers.begin()),
                         unsigned(result.getResultNumber())});
  if (isNew) {
    parts.writers.push_back({kernel, original, *inPlace, *alone});
    return true;
  }
  writer->kernel->erase();
  writer->kernel = kernel;
  writer->microseconds = *inPlace;
  return true;
}

bool PartPlacement::writeCopy(const Join &join, unsigned input,
                              Parts &parts) const {
  FusedOp copy = placeCopy(join, input);
  std::optional<double> microseconds =
      copy ? predictLaunch(copy, fusibility) : std::nullopt;
  if (!microseconds) {
    if (copy)
      copy->erase();
    return false;
  }
  parts.parts.push_back({parts.writers.size(), 0});
  parts.writers.push_back({copy, FusedOp(), *microseconds});
  return true;
}

/// A kernel for each part, if they are faster than the kernels that they
/// replace.
bool PartPlacement::findParts(const Join &join, Parts &parts) const {
  std::optional<double> joining = predictLaunch(join.fused, fusibility);
  if (!joining)
    return false;
  for (unsigned i = 0; i < join.concat.getInputs().size(); ++i)
    if (!writeInPlace(join, i, *joining, parts) && !writeCopy(join, i, parts))
      return false;
  double before = *joining, after = 0;
  for (const Writer &writer : parts.writers) {
    before += writer.before;
    after += writer.microseconds;
  }
  return after < before &&
         llvm::any_of(
             parts.writers,
             [](const Writer &writer) { return bool(writer.original); });
}

void PartPlacement::replace(const Join &join, const Parts &parts) {
  OpBuilder builder(join.fused);
  Location loc = join.fused.getLoc();
  SmallVector<Value> slices;
  int64_t start = 0;
  for (auto [part, input] :
       llvm::zip_equal(parts.parts, join.concat.getInputs())) {
    int64_t size = cast<RankedTensorType>(input.getType())
                       .getDimSize(join.concat.getDim());
    SmallVector<int64_t> shape(join.getType().getShape());
    shape[join.dim] = size;
    slices.push_back(SliceOp::create(
        builder, loc, join.getType().clone(ArrayRef<int64_t>(shape)),
        parts.getKernel(part).getResult(part.result), join.dim, start,
        /*step=*/1));
    start += size;
  }
  Value whole = ConcatOp::create(builder, loc, slices, join.dim);
  Value result = join.fused.getResult(0);
  if (whole.getType() != result.getType())
    whole = ReshapeOp::create(builder, loc, result.getType(), whole);
  result.replaceAllUsesWith(whole);
  SmallVector<Value> operands(join.fused.getInputs());
  join.fused->erase();
  // Reshapes between the kernels.
  for (Value operand : operands)
    while (Operation *reshape = operand.getDefiningOp<ReshapeOp>()) {
      if (!reshape->use_empty())
        break;
      operand = reshape->getOperand(0);
      reshape->erase();
    }
  for (const Writer &writer : parts.writers) {
    if (!writer.original)
      continue;
    // Those that are placed have no users left.
    for (auto [old, result] : llvm::zip_equal(writer.original.getResults(),
                                              writer.kernel.getResults()))
      if (old.getType() == result.getType())
        old.replaceAllUsesWith(result);
    writer.original->erase();
  }
}

void PartPlacement::run() {
  for (FusedOp fused : llvm::to_vector(block.getOps<FusedOp>())) {
    std::optional<Join> join = Join::get(fused);
    if (!join)
      continue;
    Parts parts;
    if (findParts(*join, parts)) {
      replace(*join, parts);
      continue;
    }
    for (const Writer &writer : parts.writers)
      writer.kernel->erase();
  }
}

void fact::placeParts(Block &block, const Fusibility &fusibility) {
  PartPlacement(block, fusibility).run();
}
