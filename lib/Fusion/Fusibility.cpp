//===- Fusibility.cpp - Can ops become one kernel? ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Fusion/Fusibility.h"
#include "fact/Analysis/Rounding.h"
#include "fact/Kernel/Rules.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
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
// Decided groups
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
  // A path back into the group ends at or before its last op, or goes through a
  // decided group that spans that op. Later ops cannot be on it.
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

/// Ops in block order, so that a region does not depend on the order in which
/// they were proposed.
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
  case Obstacle::family:
    return "family";
  case Obstacle::space:
    return "space";
  }
  llvm_unreachable("unknown obstacle");
}

bool Fusibility::isFusible(Operation *op) {
  return isa_and_nonnull<FactDialect>(op->getDialect()) &&
         !isa<FusedOp, PrepareOp, YieldOp, GetWeightOp, ConstantOp>(op);
}

std::optional<Obstacle> Fusibility::checkRegion(FusedOp fused,
                                                SpaceAttrInterface space,
                                                EmitError emitError,
                                                const Family **family) const {
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, emitError, space);
  if (failed(plan))
    return target.findRule(fused.getRule()) ? Obstacle::family : Obstacle::rule;
  if (family)
    *family = &(*plan)->getFamily();
  if (auto schedule = cast_or_null<ScheduleAttr>(fused.getScheduleAttr())) {
    if (failed((*plan)->check(schedule, [&] {
          return emitError() << schedule.getKey() << ": ";
        })))
      return Obstacle::space;
  } else if (failed((*plan)->checkSpace(space, emitError))) {
    return Obstacle::space;
  }
  return std::nullopt;
}

std::optional<Obstacle> Fusibility::check(FusedOp fused,
                                          EmitError emitError) const {
  if (target.findRule(fused.getRule()))
    for (Operation &op : fused.getBodyOps())
      if (!isFusible(&op) && !isa<ConstantOp, ub::PoisonOp>(op)) {
        InFlightDiagnostic diagnostic = emitError() << "'" << op.getName()
                                                    << "' cannot be fused";
        diagnostic.attachNote(op.getLoc()) << "the op";
        return Obstacle::op;
      }
  return checkRegion(
      fused, cast_or_null<SpaceAttrInterface>(fused.getSpaceAttr()), emitError);
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
            << "'; run --fact-inline-fused first to discover kernels for '"
            << machine << "'";
      return diagnostic;
    });
  });
  return success(isLegal);
}

std::optional<Obstacle> Fusibility::check(StringRef rule, const OpGroup &group,
                                          SpaceAttrInterface space,
                                          const GroupedBlock &decided,
                                          EmitError emitError,
                                          const Family **family) const {
  if (group.empty())
    return emitError() << "the group has no op", Obstacle::empty;
  for (Operation *op : group) {
    StringRef problem = op->getBlock() != &decided.getBlock() || !isFusible(op)
                            ? "cannot be fused"
                        : decided.find(op) ? "is already in another group"
                                           : "";
    if (problem.empty())
      continue;
    InFlightDiagnostic diagnostic = emitError()
                                    << "'" << op->getName() << "' " << problem;
    diagnostic.attachNote(op->getLoc()) << "the op";
    return Obstacle::op;
  }
  if (Operation *detour = decided.findDetour(group)) {
    InFlightDiagnostic diagnostic = emitError() << "the group is not convex";
    diagnostic.attachNote(detour->getLoc())
        << "'" << detour->getName()
        << "' uses a value of the group and feeds an op of it";
    return Obstacle::cycle;
  }
  for (Operation *op : group)
    if (comparesWithItself(
            op, [&](Operation *producer) { return group.contains(producer); }))
      return emitError() << "'" << op->getName()
                         << "' compares elements of a tensor that the group "
                            "rounds, which has to be stored for that",
             Obstacle::op;
  if (getOutputs(group).empty())
    return emitError() << "no result of the group is used", Obstacle::unused;

  // The family sees the region it would emit.
  FusedOp fused = outline(rule, group);
  std::optional<Obstacle> obstacle =
      checkRegion(fused, space, emitError, family);
  fused->erase();
  return obstacle;
}

size_t Fusibility::getRank(StringRef rule, const OpGroup &group,
                           const GroupedBlock &decided) const {
  MLIRContext *context = group.front()->getContext();
  ScopedDiagnosticHandler silence(context,
                                  [](Diagnostic &) { return success(); });
  const Family *family = nullptr;
  bool isRefused =
      check(
          rule, group, {}, decided,
          [&] { return emitError(group.front()->getLoc()); }, &family)
          .has_value();
  SmallVector<const Family *> families = target.getFamilies(rule);
  return isRefused ? families.size()
                   : llvm::find(families, family) - families.begin();
}

bool Fusibility::accepts(StringRef rule, const OpGroup &group,
                         const GroupedBlock &decided,
                         const OpGroup &before) const {
  size_t rank = getRank(rule, group, decided);
  if (rank == target.getFamilies(rule).size())
    return false;
  return rank == 0 || before.empty() || rank <= getRank(rule, before, decided);
}

FusedOp Fusibility::outline(StringRef rule, const OpGroup &group) const {
  OpBuilder builder(group.front()->getContext());
  return ::outline(rule, group, builder);
}

void Fusibility::eraseUnused(FusedOp fused) {
  Block &body = fused.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (unsigned i = body.getNumArguments(); i-- > 0;)
    if (body.getArgument(i).use_empty()) {
      body.eraseArgument(i);
      fused->eraseOperand(i);
    }
}

std::optional<double> Fusibility::predict(FusedOp fused) const {
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(fused, Silence(fused));
  if (failed(plan))
    return std::nullopt;
  std::optional<Plan::Prediction> best = (*plan)->findBest();
  return best ? std::optional(best->microseconds) : std::nullopt;
}

std::optional<double> Fusibility::predict(StringRef rule,
                                          const OpGroup &group) const {
  FusedOp fused = outline(rule, group);
  std::optional<double> microseconds = predict(fused);
  fused->erase();
  return microseconds;
}

std::optional<double> Fusibility::predictBest(const OpGroup &group) const {
  std::optional<double> best;
  for (const Rule *rule : target.getRules()) {
    std::optional<double> time;
    if (!rule->isLastResort)
      time = predict(rule->name, group);
    if (time && (!best || *time < *best))
      best = time;
  }
  return best;
}

bool Fusibility::areFasterApart(StringRef rule, const OpGroup &before,
                                ArrayRef<Operation *> ops) const {
  OpGroup together = before, alone;
  together.insert(ops.begin(), ops.end());
  alone.insert(ops.begin(), ops.end());
  std::optional<double> one = predict(rule, together);
  std::optional<double> first = predict(rule, before);
  if (!one || !first)
    return false;
  std::optional<double> second = predict(pointwiseRule.name, alone);
  return second && *one > *first + *second;
}

FusedOp Fusibility::fuse(StringRef rule, const OpGroup &group,
                         RewriterBase &rewriter) const {
  OpGroup ops = inOrder(group);
  rewriter.setInsertionPointAfter(ops.back());
  FusedOp fused = ::outline(rule, group, rewriter);
  // A checked group has a plan.
  fused.setSpaceAttr((*target.plan(fused, Silence(fused)))->getSpace());
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

FailureOr<FusedOp> Fusibility::copy(Value value, Type type, OpBuilder &builder,
                                    Location loc, EmitError emitError) const {
  auto copy =
      FusedOp::create(builder, loc, TypeRange(type), "pointwise", value,
                      StrategyAttr(), Attribute(), Attribute(), IntegerAttr());
  Block &body = copy.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inner, loc, ValueRange(body.addArgument(type, loc)));
  FailureOr<std::unique_ptr<Plan>> plan = target.plan(copy, emitError);
  if (failed(plan)) {
    copy->erase();
    return failure();
  }
  copy.setSpaceAttr((*plan)->getSpace());
  return copy;
}
