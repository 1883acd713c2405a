//===- Fusibility.cpp - Can one kernel take these ops? --------------------===//

#include "fact/Analysis/Fusibility.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fact;

/// A constant small enough to be part of a kernel's code.
static bool isInlinedConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

llvm::SetVector<Value> Fusibility::getInputs(const OpGroup &group) {
  llvm::SetVector<Value> inputs;
  for (Operation *op : group)
    for (Value operand : op->getOperands())
      if (!group.contains(operand.getDefiningOp()) &&
          !isInlinedConstant(operand))
        inputs.insert(operand);
  return inputs;
}

llvm::SetVector<Value> Fusibility::getOutputs(const OpGroup &group) {
  llvm::SetVector<Value> outputs;
  for (Operation *op : group)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !group.contains(user); }))
        outputs.insert(result);
  return outputs;
}

/// The op outside of the group that uses one of its values and feeds another,
/// or null: then the group is convex.
static Operation *findDetour(const OpGroup &group) {
  llvm::SetVector<Operation *> after;
  for (Operation *op : group)
    for (Operation *user : op->getUsers())
      if (!group.contains(user))
        after.insert(user);
  for (size_t i = 0; i < after.size(); ++i)
    for (Operation *user : after[i]->getUsers()) {
      if (group.contains(user))
        return after[i];
      after.insert(user);
    }
  return nullptr;
}

/// Ops in the order of their block.
static SmallVector<Operation *> inOrder(const OpGroup &group) {
  SmallVector<Operation *> ops(group.begin(), group.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// Builds the fused op at the builder's insertion point (none: detached).
static FusedOp outline(StringRef rule, const OpGroup &group,
                       OpBuilder &builder) {
  SmallVector<Operation *> ops = inOrder(group);
  SmallVector<Value> inputs = Fusibility::getInputs(group).takeVector();
  SmallVector<Value> outputs = Fusibility::getOutputs(group).takeVector();
  SmallVector<Location> locations;
  for (Operation *op : ops)
    locations.push_back(op->getLoc());
  Location loc = FusedLoc::get(builder.getContext(), locations);

  OperationState state(loc, FusedOp::getOperationName());
  FusedOp::build(builder, state, ValueRange(outputs).getTypes(),
                 builder.getStringAttr(rule), inputs, /*strategy=*/{},
                 /*space=*/{}, /*schedule=*/{});
  auto fused = cast<FusedOp>(builder.create(state));

  Block &body = fused.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        inner.clone(*operand.getDefiningOp(), mapping);
    inner.clone(*op, mapping);
  }
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(inner, loc, yielded);
  return fused;
}

LogicalResult Fusibility::check(StringRef rule, const OpGroup &group,
                                EmitError emitError) const {
  if (group.empty())
    return emitError() << "an empty group";
  const Realiser *realiser = target.findRealiser(rule);
  if (!realiser) {
    InFlightDiagnostic diagnostic =
        emitError() << "target '" << target.getMachine().name
                    << "' has no rule '" << rule << "'; it has ";
    llvm::interleaveComma(target.getRealisers(), diagnostic,
                          [&](const std::unique_ptr<Realiser> &known) {
                            diagnostic << "'" << known->getRule() << "'";
                          });
    return diagnostic;
  }
  Block *block = group.front()->getBlock();
  for (Operation *op : group)
    if (op->getBlock() != block || !isa<FactDialect>(op->getDialect()) ||
        isa<FusedOp, PrepareOp, YieldOp, GetWeightOp>(op)) {
      InFlightDiagnostic diagnostic = emitError() << "not an op to fuse";
      diagnostic.attachNote(op->getLoc()) << "this one";
      return diagnostic;
    }
  if (Operation *detour = findDetour(group)) {
    InFlightDiagnostic diagnostic = emitError() << "the group is not convex";
    diagnostic.attachNote(detour->getLoc())
        << "'" << detour->getName() << "' uses it and feeds it";
    return diagnostic;
  }
  if (getOutputs(group).empty())
    return emitError() << "nothing uses the group";

  // The realiser sees the region it would emit; it is not part of the module.
  OpBuilder builder(group.front()->getContext());
  FusedOp fused = outline(rule, group, builder);
  LogicalResult result = realiser->canRealise(fused, emitError);
  fused->erase();
  return result;
}

bool Fusibility::accepts(StringRef rule, const OpGroup &group) const {
  MLIRContext *context = group.front()->getContext();
  ScopedDiagnosticHandler silence(context,
                                  [](Diagnostic &) { return success(); });
  return succeeded(
      check(rule, group, [&] { return emitError(group.front()->getLoc()); }));
}

FusedOp Fusibility::fuse(StringRef rule, const OpGroup &group,
                         RewriterBase &rewriter) const {
  SmallVector<Operation *> ops = inOrder(group);
  rewriter.setInsertionPointAfter(ops.back());
  FusedOp fused = outline(rule, group, rewriter);
  if (const Realiser *realiser = target.findRealiser(rule))
    fused.setSpaceAttr(realiser->getDefaultSpace(fused));
  SmallVector<Value> outputs = getOutputs(group).takeVector();
  for (auto [from, to] : llvm::zip_equal(outputs, fused.getResults()))
    rewriter.replaceUsesWithIf(from, to, [&](OpOperand &use) {
      return !group.contains(use.getOwner()) &&
             !fused->isAncestor(use.getOwner());
    });
  for (Operation *op : llvm::reverse(ops))
    rewriter.eraseOp(op);
  return fused;
}
