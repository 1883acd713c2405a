//===- Rules.cpp - The embedded rules agent -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From each anchor, a rule grows the largest group that one kernel can compute:
// the views around the anchor, and pointwise ops and reductions in the rule's
// directions, as long as growing removes traffic. The group with the largest
// speed-of-light gain is taken first; between overlapping groups that the
// registry measured, the measured gains decide. Groups that lost an op to it
// grow again without that op. Rules without anchors take what is left. At last,
// groups that share memory merge where one kernel is predicted to be faster.
// Groups keep to the stretches of unrolled loops, so that those of alike steps
// are alike.
//
//===----------------------------------------------------------------------===//

#include "Layouts.h"
#include "MergeGroups.h"
#include "Recomputation.h"
#include "Rounding.h"
#include "RowStatistics.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Analysis/WindowedView.h"
#include "fact/Dialect/Fact/Types.h"
#include "fact/Fusion/FusionLimit.h"
#include "fact/Fusion/Retrieval.h"

using namespace mlir;
using namespace fact;

namespace {
bool isView(Operation *op) { return isa_and_nonnull<ViewOpInterface>(op); }
bool isPointwise(Operation *op) {
  return isa_and_nonnull<PointwiseOpInterface>(op);
}

/// A group that could be a kernel.
struct Candidate {
  const Rule *rule;
  OpGroup ops;
  /// Speed-of-light time saved by fusing: sum over the ops minus the kernel.
  double gain = 0;
  /// The same for traffic alone, whether or not arithmetic hides it.
  double traffic = 0;
  /// Time to copy operands that the kernel cannot read as they are, and to
  /// store results across memory, which decides between the rules of one
  /// anchor.
  double copies = 0;
  /// The gain by the registry's measurements of such kernels.
  std::optional<double> measuredGain = {};

  /// Counts traffic that arithmetic hides in part: real kernels hide less of
  /// it.
  double getRank() const { return gain + 0.1 * traffic; }
};

class RulesAgent : public Agent {
public:
  RulesAgent(const Retrieval &retrieval, FusionLimit limit)
      : retrieval(retrieval), limit(limit) {}

  std::vector<Proposal> propose(const GroupedBlock &decided,
                                const Fusibility &fusibility) override;

private:
  bool isFree(Operation *op) const {
    return op && op->getBlock() == &block->getBlock() && !block->find(op) &&
           Fusibility::isFusible(op);
  }
  /// Whether a group is a kernel, of one stretch of the unrolled loops.
  bool accepts(const Rule &rule, const OpGroup &group,
               const OpGroup &before = {}) const {
    unsigned stretch = loops->getStretch(group.front());
    if (isForbidden(group, limit))
      return false;
    return llvm::all_of(group,
                        [&](Operation *op) {
                          return loops->getStretch(op) == stretch;
                        }) &&
           fusibility->accepts(rule.name, group, *block, before);
  }
  size_t getRank(const Candidate &candidate) const {
    return fusibility->getRank(candidate.rule->name, candidate.ops, *block);
  }
  std::vector<const Rule *> getRules() const {
    return fusibility->getTarget().getRules();
  }

  /// Applies `function` to the kernel that a group would become.
  template <typename FunctionT>
  auto inspect(const Rule &rule, const OpGroup &ops, FunctionT function) const {
    FusedOp fused = fusibility->outline(rule.name, ops);
    auto found = function(fused);
    fused->erase();
    return found;
  }

  /// A rule, and the ops that its group grows from.
  using Seed = std::pair<const Rule *, OpGroup>;
  SmallVector<Seed> getSeeds(Operation *op) const;
  OpGroup withViewsBefore(const Rule &rule, const OpGroup &anchors,
                          OpGroup group) const;
  bool gains(const Rule &rule, const OpGroup &group, const OpGroup &before,
             Operation *op) const;
  bool take(const Rule &rule, OpGroup &group, ArrayRef<Operation *> ops) const;
  bool growForward(const Rule &rule, OpGroup &group) const;
  bool isRepeated(Operation *op, const OpGroup &group) const;
  bool growBackward(const Rule &rule, OpGroup &group) const;
  bool growToSmaller(const Rule &rule, OpGroup &group) const;
  bool growSideways(const Rule &rule, OpGroup &group) const;
  void growAll(const Rule &rule, OpGroup &group) const;
  std::optional<Candidate> grow(const Rule &rule, const OpGroup &anchors) const;
  std::optional<Candidate> growAlone(ArrayRef<Seed> seeds) const;
  bool losesKernels(const Candidate &group, const OpGroup &anchors) const;
  std::optional<Candidate> grow(Operation *op) const;
  double measureAlone(Operation *op, double predicted) const;
  double countCopies(const OpGroup &group) const;
  Candidate weigh(const Rule &rule, OpGroup group) const;
  std::optional<double> predict(const Candidate &one,
                                const Candidate &other) const;
  bool isBetter(const Candidate &one, const Candidate &other) const;
  void claim(Candidate candidate);
  void takeAnchors();
  void cover(Operation *op);

  const Retrieval &retrieval;
  const FusionLimit limit;
  /// The decided groups, and those claimed here.
  std::optional<GroupedBlock> block;
  std::optional<UnrolledLoops> loops;
  const Fusibility *fusibility = nullptr;
  std::vector<Proposal> proposals;
};
} // namespace

/// The operand of an op that a kernel may read through: a view, or the padding
/// around a tensor, which windows reach into. Null for other ops.
static Value getReadThrough(Operation *op) {
  if (isView(op))
    return op->getOperand(0);
  std::optional<SplatPadding> padding = SplatPadding::get(op);
  return padding ? padding->source : Value();
}

/// Adds the views that feed the anchors of a group, operand by operand, as far
/// as the kernel can read through them. A view with users outside of the group
/// is not added.
OpGroup RulesAgent::withViewsBefore(const Rule &rule, const OpGroup &anchors,
                                    OpGroup group) const {
  for (Operation *anchor : anchors)
    for (Value operand : anchor->getOperands()) {
      OpGroup trial = group;
      for (Operation *op = operand.getDefiningOp();
           getReadThrough(op) && isFree(op) &&
           llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return trial.contains(user); });
           op = getReadThrough(op).getDefiningOp())
        trial.insert(op);
      // The whole chain, or as much of its end as the kernel accepts.
      while (trial.size() > group.size() && !accepts(rule, trial, group))
        trial.pop_back();
      while (trial.size() > group.size() && isa<ReshapeOp>(trial.back()) &&
             !rule.takesReshapes)
        trial.pop_back();
      ArrayRef<Operation *> views = trial.getArrayRef();
      if (!areBetterCopied(rule.name, group, views.drop_front(group.size()),
                           *fusibility))
        group = std::move(trial);
    }
  return group;
}

/// Whether one kernel for `group` beats two, for `before` and for `op`. A view
/// that adds a result gains nothing.
bool RulesAgent::gains(const Rule &rule, const OpGroup &group,
                       const OpGroup &before, Operation *op) const {
  if (Fusibility::getOutputs(group).size() <=
      Fusibility::getOutputs(before).size())
    return true;
  if (isView(op))
    return false;
  const MachineDescription &machine = fusibility->getTarget().getMachine();
  auto time = [&](const OpGroup &ops) {
    return inspect(rule, ops, [&](FusedOp fused) {
      return getSpeedOfLight(fused).getMicroseconds(machine);
    });
  };
  return time(group) <
         time(before) + getSpeedOfLight(op).getMicroseconds(machine);
}

/// The reduction that joins a group together with a permute `user`, or null:
/// columns are reduced as the rows of a permuted value.
static Operation *getReductionOf(Operation *user) {
  if (!isa<PermuteOp>(user) || !user->hasOneUse())
    return nullptr;
  return dyn_cast<ReduceOp>(*user->user_begin());
}

/// The op that joins a group together with a mask `user`, or null: not all
/// kernels store booleans.
static Operation *getReaderOfMask(Operation *user) {
  if (!isPointwise(user) || !user->hasOneUse() ||
      !getElementTypeOrSelf(user->getResult(0).getType()).isInteger(1))
    return nullptr;
  Operation *reader = *user->user_begin();
  return isPointwise(reader) ? reader : nullptr;
}

/// Adds ops to the group if that gains and the rule accepts it.
bool RulesAgent::take(const Rule &rule, OpGroup &group,
                      ArrayRef<Operation *> ops) const {
  OpGroup trial = group;
  trial.insert(ops.begin(), ops.end());
  // A view alone at the end saves nothing unless it is the layout that the
  // kernel writes; let the family decide.
  if (!gains(rule, trial, group, ops.back()) || !accepts(rule, trial, group) ||
      (ops.size() == 1 &&
       (recomputesTooMuch(rule.name, group, ops.front(), *fusibility) ||
        areBetterCopied(rule.name, group, ops, *fusibility))))
    return false;
  group = std::move(trial);
  return true;
}

/// Whether kernels may read through an op to the values that it moves.
static bool isRead(Operation *op) {
  return isa_and_nonnull<GatherOp, ConcatOp>(op);
}

/// Takes one more user of the group's results.
bool RulesAgent::growForward(const Rule &rule, OpGroup &group) const {
  for (Value output : Fusibility::getOutputs(group))
    for (Operation *user : output.getUsers()) {
      if (!isFree(user) || group.contains(user) ||
          !(isPointwise(user) || isView(user) || isRead(user) ||
            isa<ReduceOp, ScanOp>(user)))
        continue;
      Operation *reduction = getReductionOf(user);
      if ((reduction && isFree(reduction) &&
           take(rule, group, {user, reduction})) ||
          take(rule, group, user))
        return true;
      SmallVector<Operation *> exponentials = getExponentialsOf(user);
      if (!exponentials.empty() &&
          llvm::all_of(exponentials,
                       [&](Operation *op) {
                         return group.contains(op) || isFree(op);
                       }) &&
          areBetterReduced(rule.name, group, exponentials, *fusibility) &&
          take(rule, group, exponentials))
        return true;
      Operation *reader = getReaderOfMask(user);
      if (reader && isFree(reader) && !group.contains(reader) &&
          take(rule, group, {user, reader}))
        return true;
    }
  return false;
}

/// Whether a pointwise op can end the kernel of a contraction or a row op.
static bool isEpilogue(Operation *op) {
  SmallVector<Operation *> ops{op};
  constexpr size_t farthest = 16;
  for (size_t i = 0; i < ops.size() && i < farthest; ++i)
    for (Value operand : ops[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isa_and_nonnull<ContractionOpInterface, RowOpInterface>(producer))
        return true;
      if (isPointwise(producer) || isView(producer))
        ops.push_back(producer);
    }
  return false;
}

static int64_t countElements(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
}

/// Whether a pointwise op can end the kernel of a product that is smaller than
/// what the group computes: the group would compute it for many elements again.
bool RulesAgent::isRepeated(Operation *op, const OpGroup &group) const {
  if (!isPointwise(op) || llvm::none_of(group, [&](Operation *other) {
        return countElements(other) > countElements(op);
      }))
    return false;
  SmallVector<Operation *> ops{op};
  constexpr size_t farthest = 16;
  for (size_t i = 0; i < ops.size() && i < farthest; ++i)
    for (Value operand : ops[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (isa_and_nonnull<ContractionOpInterface>(producer) &&
          isFree(producer) && countElements(producer) == countElements(op))
        return true;
      if (isPointwise(producer) || isa_and_nonnull<ReshapeOp>(producer))
        ops.push_back(producer);
    }
  return false;
}

/// Takes one more producer of the group's operands. A value with other users
/// becomes a result of the group.
bool RulesAgent::growBackward(const Rule &rule, OpGroup &group) const {
  for (Value input : Fusibility::getInputs(group)) {
    Operation *op = input.getDefiningOp();
    if (!isFree(op) || !(isPointwise(op) || isView(op) || isRead(op)) ||
        (rule.leavesEpilogues && isEpilogue(op)) || isRepeated(op, group))
      continue;
    if (take(rule, group, op))
      return true;
  }
  return false;
}

/// Whether an op is pointwise, writes more than it reads, as a cast of a mask
/// does, and has one reader, of as many elements.
static bool widens(Operation *op) {
  if (!isPointwise(op) || !op->hasOneUse() ||
      op->user_begin()->getNumResults() != 1)
    return false;
  auto countBytes = [](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getNumElements() * getStorageBytes(type.getElementType());
  };
  int64_t read = 0;
  for (Value operand :
       llvm::SetVector<Value>(op->operand_begin(), op->operand_end()))
    read += countBytes(operand);
  return read < countBytes(op->getResult(0)) &&
         countElements(op) == countElements(*op->user_begin());
}

/// Takes one more producer of the group's operands that is larger than what it
/// is computed from, which the group reads instead.
bool RulesAgent::growToSmaller(const Rule &rule, OpGroup &group) const {
  for (Value input : Fusibility::getInputs(group)) {
    Operation *op = input.getDefiningOp();
    if (isFree(op) && widens(op) && take(rule, group, op))
      return true;
  }
  return false;
}

/// Takes one more reader of the group's operands, which are then read once.
bool RulesAgent::growSideways(const Rule &rule, OpGroup &group) const {
  for (Value input : Fusibility::getInputs(group))
    for (Operation *user : input.getUsers())
      if (isFree(user) && isPointwise(user) && !group.contains(user) &&
          take(rule, group, user))
        return true;
  return false;
}

void RulesAgent::growAll(const Rule &rule, OpGroup &group) const {
  if (limit == FusionLimit::contractionsAlone &&
      llvm::any_of(group, llvm::IsaPred<ContractionOpInterface>))
    return;
  while ((rule.forward && growForward(rule, group)) ||
         (rule.backward ? growBackward(rule, group)
                        : rule.forward && growToSmaller(rule, group)) ||
         (rule.sideways && growSideways(rule, group)))
    ;
}

std::optional<Candidate> RulesAgent::grow(const Rule &rule,
                                          const OpGroup &anchors) const {
  OpGroup group = withViewsBefore(rule, anchors, anchors);
  if (!accepts(rule, group))
    return std::nullopt;
  size_t before = group.size();
  growAll(rule, group);
  // The kernel that writes what was added may read through more of them.
  if (group.size() > before)
    group = withViewsBefore(rule, anchors, std::move(group));
  return weigh(rule, std::move(group));
}

SmallVector<RulesAgent::Seed> RulesAgent::getSeeds(Operation *op) const {
  SmallVector<Seed> seeds;
  if (!isFree(op))
    return seeds;
  for (const Rule *rule : getRules()) {
    if (!rule->seed)
      continue;
    OpGroup anchors =
        rule->seed(op, [&](Operation *other) { return isFree(other); });
    if (!anchors.empty())
      seeds.emplace_back(rule, std::move(anchors));
  }
  return seeds;
}

/// The predicted time of a group, and of the ops that only another one has.
std::optional<double> RulesAgent::predict(const Candidate &one,
                                          const Candidate &other) const {
  std::optional<double> time = fusibility->predict(one.rule->name, one.ops);
  OpGroup rest;
  for (Operation *op : other.ops)
    if (!one.ops.contains(op))
      rest.insert(op);
  if (!time || rest.empty())
    return time;
  if (std::optional<double> together = fusibility->predictBest(rest))
    return *time + *together;
  for (Operation *op : rest) {
    OpGroup alone;
    alone.insert(op);
    *time += fusibility->predictBest(alone).value_or(0);
  }
  return time;
}

/// Whether a group is better than another of the same anchor: it gains more, or
/// if they read windows, which kernels do in very different ways, it is
/// predicted to be faster.
bool RulesAgent::isBetter(const Candidate &one, const Candidate &other) const {
  auto readsWindows = [](const Candidate &candidate) {
    return llvm::any_of(candidate.ops, llvm::IsaPred<WindowsOp>);
  };
  if (readsWindows(one) || readsWindows(other)) {
    std::optional<double> time = predict(one, other);
    std::optional<double> otherTime = predict(other, one);
    if (time && otherTime)
      return *time < *otherTime;
  }
  return one.gain - one.copies > other.gain - other.copies;
}

/// The best group among the seeds of one op.
std::optional<Candidate> RulesAgent::growAlone(ArrayRef<Seed> seeds) const {
  std::optional<Candidate> best;
  for (const auto &[rule, anchors] : seeds) {
    if (anchors.size() != 1)
      continue;
    std::optional<Candidate> candidate = grow(*rule, anchors);
    if (candidate && (!best || isBetter(*candidate, *best)))
      best = std::move(candidate);
  }
  return best;
}

/// Whether a more specific family takes an anchor alone than takes all of them.
bool RulesAgent::losesKernels(const Candidate &group,
                              const OpGroup &anchors) const {
  size_t rank = getRank(group);
  return rank > 0 && llvm::any_of(anchors, [&](Operation *anchor) {
           std::optional<Candidate> alone = growAlone(getSeeds(anchor));
           return alone && getRank(*alone) < rank;
         });
}

/// The best group that `op` anchors, if any. A group with several anchors has
/// to gain more than the groups of its anchors do together, or as much on a
/// processor, which packs what they share once.
std::optional<Candidate> RulesAgent::grow(Operation *op) const {
  SmallVector<Seed> seeds = getSeeds(op);
  std::optional<Candidate> best = growAlone(seeds);
  double bestGain = best ? best->gain : 0;
  for (const auto &[rule, anchors] : seeds) {
    if (anchors.size() < 2 ||
        ((limit == FusionLimit::oneContraction ||
          limit == FusionLimit::contractionsAlone) &&
         llvm::count_if(anchors, llvm::IsaPred<ContractionOpInterface>) > 1))
      continue;
    std::optional<Candidate> candidate = grow(*rule, anchors);
    if (!candidate || losesKernels(*candidate, anchors))
      continue;
    double gain = candidate->gain;
    if (best)
      for (Operation *anchor : anchors)
        if (anchor != op)
          if (std::optional<Candidate> alone = growAlone(getSeeds(anchor)))
            gain -= alone->gain;
    double least = bestGain;
    if (fusibility->getTarget().getMachine().isHost())
      least -= 1e-6 * std::abs(bestGain) + 1e-9;
    if (!best || gain > least) {
      best = std::move(candidate);
      bestGain = gain;
    }
  }
  return best;
}

/// The time of an anchor as a kernel of its own: as the registry measured it,
/// else `predicted`.
double RulesAgent::measureAlone(Operation *op, double predicted) const {
  for (const Rule *rule : getRules()) {
    OpGroup alone =
        rule->seed
            ? rule->seed(op, [&](Operation *other) { return other == op; })
            : OpGroup();
    if (alone.size() != 1)
      continue;
    std::optional<double> measured = inspect(*rule, alone, [&](FusedOp fused) {
      return retrieval.predictMicroseconds(fused);
    });
    if (measured)
      return *measured;
  }
  return predicted;
}

/// Time to copy the operands that are views which the group does not read
/// through.
double RulesAgent::countCopies(const OpGroup &group) const {
  double bytes = 0;
  for (Value input : Fusibility::getInputs(group)) {
    Operation *op = skipReshapes(input).getDefiningOp();
    if (isView(op) && isFree(op))
      bytes += 2 * double(getStorageBytes(input.getType()));
  }
  return 1e6 * bytes / fusibility->getTarget().getMachine().bandwidth;
}

Candidate RulesAgent::weigh(const Rule &rule, OpGroup group) const {
  const MachineDescription &machine = fusibility->getTarget().getMachine();
  // One kernel: at the speed of light, and as the registry measured it.
  auto [together, measured, scattered] =
      inspect(rule, group, [&](FusedOp fused) {
        auto plan = fusibility->getTarget().plan(fused, Silence(fused));
        return std::tuple(getSpeedOfLight(fused),
                          retrieval.predictMicroseconds(fused),
                          succeeded(plan) ? (*plan)->getScatteredBytes() : 0);
      });
  double apart = 0, traffic = 0, apartMeasured = 0;
  for (Operation *op : group) {
    SpeedOfLight light = getSpeedOfLight(op);
    double alone = light.getMicroseconds(machine);
    apart += alone;
    traffic += light.getTrafficMicroseconds(machine);
    if (measured)
      apartMeasured += measureAlone(op, alone);
  }
  double copies = countCopies(group) + 1e6 * scattered / machine.bandwidth;
  Candidate candidate{
      &rule, std::move(group), apart - together.getMicroseconds(machine),
      traffic - together.getTrafficMicroseconds(machine), copies};
  if (measured)
    candidate.measuredGain = apartMeasured - *measured;
  return candidate;
}

void RulesAgent::claim(Candidate candidate) {
  block->add(candidate.ops);
  proposals.push_back({candidate.rule->name, std::move(candidate.ops)});
}

static bool conflict(const OpGroup &a, const OpGroup &b) {
  return llvm::any_of(a, [&](Operation *op) { return b.contains(op); });
}

void RulesAgent::takeAnchors() {
  struct Anchor {
    Operation *op;
    Candidate candidate;
  };
  std::vector<Anchor> anchors;
  for (Operation &op : block->getBlock())
    if (auto candidate = grow(&op))
      anchors.push_back({&op, std::move(*candidate)});
  // Between equal ranks, the earlier in the block is taken first.
  while (!anchors.empty()) {
    auto best =
        llvm::max_element(anchors, [](const Anchor &a, const Anchor &b) {
          return a.candidate.getRank() < b.candidate.getRank();
        });
    // Measurements decide between overlapping groups.
    for (auto rival = anchors.begin(); rival != anchors.end(); ++rival)
      if (conflict(rival->candidate.ops, best->candidate.ops) &&
          rival->candidate.measuredGain && best->candidate.measuredGain &&
          *rival->candidate.measuredGain > *best->candidate.measuredGain)
        best = rival;
    Anchor taken = std::move(*best);
    anchors.erase(best);
    // A group claimed since may have made this one non-convex.
    if (!accepts(*taken.candidate.rule, taken.candidate.ops)) {
      if (auto again = grow(taken.op))
        anchors.push_back({taken.op, std::move(*again)});
      continue;
    }
    OpGroup ops = taken.candidate.ops;
    claim(std::move(taken.candidate));
    std::vector<Anchor> left;
    for (Anchor &anchor : anchors) {
      if (conflict(anchor.candidate.ops, ops)) {
        if (auto again = grow(anchor.op))
          left.push_back({anchor.op, std::move(*again)});
      } else {
        left.push_back(std::move(anchor));
      }
    }
    anchors = std::move(left);
  }
}

/// Claims an op, and those that can join it, for the rule that takes most of
/// them; of equal ones the last, which takes fewer kinds of ops.
void RulesAgent::cover(Operation *op) {
  // A reshape of a row-major value is the same memory under another type.
  if (!isFree(op) || isa<ReshapeOp>(op))
    return;
  for (bool isLastResort : {false, true}) {
    std::optional<Candidate> best;
    for (const Rule *rule : getRules()) {
      OpGroup group;
      group.insert(op);
      if (rule->isLastResort != isLastResort || !accepts(*rule, group))
        continue;
      growAll(*rule, group);
      if (!best || group.size() >= best->ops.size())
        best = Candidate{rule, std::move(group)};
    }
    if (best)
      return claim(std::move(*best));
  }
}

std::vector<Proposal> RulesAgent::propose(const GroupedBlock &decided,
                                          const Fusibility &analysis) {
  block.emplace(decided);
  loops.emplace(block->getBlock());
  fusibility = &analysis;
  proposals.clear();
  takeAnchors();
  // Views join the groups of the ops that read them; the others are copies.
  for (bool areViews : {false, true})
    for (Operation &op : block->getBlock())
      if (isView(&op) == areViews)
        cover(&op);
  mergeGroups(proposals, decided, *loops, analysis, limit);
  // Earlier claims have higher priority.
  for (auto [i, proposal] : llvm::enumerate(proposals))
    proposal.priority = int64_t(proposals.size() - i);
  return std::move(proposals);
}

std::unique_ptr<Agent> fact::createRulesAgent(const Retrieval &retrieval) {
  return createRulesAgent(retrieval, FusionLimit::none);
}

std::unique_ptr<Agent> fact::createRulesAgent(const Retrieval &retrieval,
                                              FusionLimit limit) {
  return std::make_unique<RulesAgent>(retrieval, limit);
}
