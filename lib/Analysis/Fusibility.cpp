//===- Fusibility.cpp - Can one kernel take these ops? --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

//===----------------------------------------------------------------------===//
// Groups that are decided
//===----------------------------------------------------------------------===//

GroupedBlock::GroupedBlock(Block &block) : block(block) {
  for (Operation &op : block)
    positions.try_emplace(&op, positions.size());
}

const OpGroup *GroupedBlock::find(Operation *op) const {
  auto found = groupOf.find(op);
  return found == groupOf.end() ? nullptr : &groups[found->second];
}

GroupedBlock::Span GroupedBlock::getSpan(const OpGroup &group) const {
  Span span{~0u, 0};
  for (Operation *op : group) {
    unsigned position = positions.lookup(op);
    span = {std::min(span.first, position), std::max(span.last, position)};
  }
  return span;
}

void GroupedBlock::add(OpGroup group) {
  for (Operation *op : group)
    groupOf[op] = groups.size();
  spans.push_back(getSpan(group));
  groups.push_back(std::move(group));
}

Operation *GroupedBlock::findDetour(const OpGroup &group) const {
  // A way back ends at or before the group's last op, or goes through a group
  // that reaches across it: what comes later cannot be on it.
  unsigned last = getSpan(group).last;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Span &span : spans)
      if (span.first < last && span.last > last) {
        last = span.last;
        grown = true;
      }
  }
  llvm::SetVector<Operation *> after;
  auto add = [&](Operation *op) {
    auto position = positions.find(op);
    if (position == positions.end() || position->second > last)
      return;
    if (const OpGroup *node = find(op))
      after.insert(node->begin(), node->end());
    else
      after.insert(op);
  };
  for (Operation *op : group)
    for (Operation *user : op->getUsers())
      if (!group.contains(user))
        add(user);
  for (size_t i = 0; i < after.size(); ++i)
    for (Operation *user : after[i]->getUsers()) {
      if (group.contains(user))
        return after[i];
      add(user);
    }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Ops in the order of their block: who proposed a group, and how, does not
/// show in its region.
static OpGroup inOrder(const OpGroup &group) {
  SmallVector<Operation *> ops(group.begin(), group.end());
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return OpGroup(ops.begin(), ops.end());
}

/// Builds the fused op at the builder's insertion point (none: detached).
static FusedOp outline(StringRef rule, const OpGroup &group,
                       OpBuilder &builder) {
  OpGroup ops = inOrder(group);
  SmallVector<Value> inputs = Fusibility::getInputs(ops).takeVector();
  SmallVector<Value> outputs = Fusibility::getOutputs(ops).takeVector();
  SmallVector<Location> locations;
  for (Operation *op : ops)
    locations.push_back(op->getLoc());
  Location loc = FusedLoc::get(builder.getContext(), locations);

  OperationState state(loc, FusedOp::getOperationName());
  FusedOp::build(builder, state, ValueRange(outputs).getTypes(),
                 builder.getStringAttr(rule), inputs, /*strategy=*/{},
                 /*space=*/{}, /*schedule=*/{}, /*priority=*/{});
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

StringRef fact::stringify(Obstacle obstacle) {
  switch (obstacle) {
  case Obstacle::empty:
    return "empty";
  case Obstacle::rule:
    return "rule";
  case Obstacle::op:
    return "op";
  case Obstacle::cycle:
    return "cycle";
  case Obstacle::unused:
    return "unused";
  case Obstacle::realiser:
    return "realiser";
  case Obstacle::space:
    return "space";
  }
  llvm_unreachable("an obstacle has a name");
}

bool Fusibility::isFusible(Operation *op) {
  return isa_and_nonnull<FactDialect>(op->getDialect()) &&
         !isa<FusedOp, PrepareOp, YieldOp, GetWeightOp, ConstantOp>(op);
}

/// A kernel needs one legal schedule: of the space, or (null) of the rule's own
/// and those beside it.
static LogicalResult checkSpace(FusedOp fused, const Realiser &realiser,
                                SpaceAttrInterface space,
                                const MachineDescription &machine,
                                EmitError emitError) {
  std::string reason = "there is none";
  {
    ScopedDiagnosticHandler handler(fused.getContext(), [&](Diagnostic &why) {
      reason = why.str();
      return success();
    });
    auto isLegal = [&](ScheduleAttr schedule) {
      auto emitReason = [&] {
        return mlir::emitError(fused.getLoc()) << schedule.getKey() << ": ";
      };
      // The rule's own are of its family.
      return succeeded(
          space ? realiser.checkSchedule(fused, schedule, machine, emitReason)
                : schedule.verifySchedule(fused, machine, emitReason));
    };
    std::vector<ScheduleAttr> schedules;
    if (SpaceAttrInterface searched =
            space ? space : realiser.getDefaultSpace(fused))
      schedules = searched.enumerate();
    if (llvm::any_of(schedules, isLegal) ||
        (!space && llvm::any_of(realiser.getFixedSchedules(fused), isLegal)))
      return success();
  }
  return emitError() << "its space has no legal schedule; of the last one, "
                     << reason;
}

const Realiser *Fusibility::findRealiser(StringRef rule,
                                         EmitError emitError) const {
  if (const Realiser *realiser = target.findRealiser(rule))
    return realiser;
  InFlightDiagnostic diagnostic =
      emitError() << "target '" << target.getMachine().name
                  << "' has no such rule as '" << rule << "'; it has ";
  llvm::interleaveComma(target.getRealisers(), diagnostic,
                        [&](const std::unique_ptr<Realiser> &known) {
                          diagnostic << "'" << known->getRule() << "'";
                        });
  return nullptr;
}

std::optional<Obstacle> Fusibility::checkRegion(FusedOp fused,
                                                const Realiser &realiser,
                                                SpaceAttrInterface space,
                                                EmitError emitError) const {
  if (failed(realiser.canRealise(fused, emitError)))
    return Obstacle::realiser;
  if (failed(
          checkSpace(fused, realiser, space, target.getMachine(), emitError)))
    return Obstacle::space;
  return std::nullopt;
}

std::optional<Obstacle> Fusibility::check(FusedOp fused,
                                          EmitError emitError) const {
  const Realiser *realiser = findRealiser(fused.getRule(), emitError);
  if (!realiser)
    return Obstacle::rule;
  for (Operation &op : fused.getBodyOps())
    if (!isFusible(&op) && !isa<ConstantOp>(op)) {
      InFlightDiagnostic diagnostic = emitError() << "'" << op.getName()
                                                  << "' is not an op to fuse";
      diagnostic.attachNote(op.getLoc()) << "this one";
      return Obstacle::op;
    }
  auto space = cast_or_null<SpaceAttrInterface>(fused.getSpaceAttr());
  auto schedule = cast_or_null<ScheduleAttr>(fused.getScheduleAttr());
  if (!schedule)
    return checkRegion(fused, *realiser, space, emitError);
  if (failed(realiser->canRealise(fused, emitError)))
    return Obstacle::realiser;
  auto emitIllegal = [&] { return emitError() << schedule.getKey() << ": "; };
  if (failed(realiser->checkSchedule(fused, schedule, target.getMachine(),
                                     emitIllegal)))
    return Obstacle::space;
  return std::nullopt;
}

LogicalResult Fusibility::checkAll(ModuleOp module) const {
  MachineAttr named = getTargetMachine(module);
  StringRef machine = target.getMachine().name;
  bool isLegal = true;
  module.walk([&](FusedOp fused) {
    isLegal &= !check(fused, [&] {
      InFlightDiagnostic diagnostic = fused.emitOpError();
      if (named && named.getName() != machine)
        diagnostic.attachNote(module.getLoc())
            << "the module's kernels are for '" << named.getName()
            << "'; --fact-inline-fused takes them apart for '" << machine
            << "'";
      return diagnostic;
    });
  });
  return success(isLegal);
}

std::optional<Obstacle> Fusibility::check(StringRef rule, const OpGroup &group,
                                          SpaceAttrInterface space,
                                          const GroupedBlock &decided,
                                          EmitError emitError) const {
  if (group.empty())
    return emitError() << "an empty group", Obstacle::empty;
  const Realiser *realiser = findRealiser(rule, emitError);
  if (!realiser)
    return Obstacle::rule;
  for (Operation *op : group) {
    StringRef problem = op->getBlock() != &decided.getBlock() || !isFusible(op)
                            ? "not an op to fuse"
                        : decided.find(op) ? "in another group already"
                                           : "";
    if (problem.empty())
      continue;
    InFlightDiagnostic diagnostic = emitError() << "'" << op->getName()
                                                << "' is " << problem;
    diagnostic.attachNote(op->getLoc()) << "this one";
    return Obstacle::op;
  }
  if (Operation *detour = decided.findDetour(group)) {
    InFlightDiagnostic diagnostic = emitError() << "the group is not convex";
    diagnostic.attachNote(detour->getLoc())
        << "'" << detour->getName() << "' uses it and feeds it";
    return Obstacle::cycle;
  }
  if (getOutputs(group).empty())
    return emitError() << "nothing uses the group", Obstacle::unused;

  // The realiser sees the region it would emit.
  FusedOp fused = outline(rule, group);
  std::optional<Obstacle> obstacle =
      checkRegion(fused, *realiser, space, emitError);
  fused->erase();
  return obstacle;
}

bool Fusibility::accepts(StringRef rule, const OpGroup &group,
                         const GroupedBlock &decided) const {
  MLIRContext *context = group.front()->getContext();
  ScopedDiagnosticHandler silence(context,
                                  [](Diagnostic &) { return success(); });
  return !check(rule, group, {}, decided,
                [&] { return emitError(group.front()->getLoc()); });
}

FusedOp Fusibility::outline(StringRef rule, const OpGroup &group) const {
  OpBuilder builder(group.front()->getContext());
  return ::outline(rule, group, builder);
}

FusedOp Fusibility::fuse(StringRef rule, const OpGroup &group,
                         RewriterBase &rewriter) const {
  OpGroup ops = inOrder(group);
  rewriter.setInsertionPointAfter(ops.back());
  FusedOp fused = ::outline(rule, group, rewriter);
  if (const Realiser *realiser = target.findRealiser(rule))
    fused.setSpaceAttr(realiser->getDefaultSpace(fused));
  SmallVector<Value> outputs = getOutputs(ops).takeVector();
  for (auto [from, to] : llvm::zip_equal(outputs, fused.getResults()))
    rewriter.replaceUsesWithIf(from, to, [&](OpOperand &use) {
      return !group.contains(use.getOwner()) &&
             !fused->isAncestor(use.getOwner());
    });
  for (Operation *op : llvm::reverse(ops))
    rewriter.eraseOp(op);
  return fused;
}
