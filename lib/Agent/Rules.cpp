//===- Rules.cpp - The embedded rules agent -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every anchor (an attention, a gated pair of contractions, a contraction, a row
// op) grows the largest group that a kernel can take: the views around it, the
// pointwise ops and reductions after it, for row ops those before it too, as
// long as growing removes traffic. The group with the most to gain by
// the speed of light is taken first, unless the registry measured both it and a
// group that it conflicts with, and the other one gains more; those that wanted
// one of its ops grow anew without it. What is left becomes pointwise kernels.
//
//===----------------------------------------------------------------------===//

#include "Retrieval.h"
#include "fact/Analysis/SpeedOfLight.h"

using namespace mlir;
using namespace fact;

namespace {
/// Views and constants cost nothing by themselves.
bool isView(Operation *op) { return isa_and_nonnull<ViewOpInterface>(op); }
bool isPointwise(Operation *op) {
  return isa_and_nonnull<PointwiseOpInterface>(op);
}

/// A group that could be a kernel.
struct Candidate {
  StringRef rule;
  OpGroup ops;
  /// Time that an op a kernel takes longer than one kernel, at the speed of
  /// light.
  double gain = 0;
  /// Time that reading and writing less saves, whether or not arithmetic hides
  /// it.
  double traffic = 0;
  /// The gain by what the registry measured of such kernels.
  std::optional<double> measuredGain = {};

  /// What arithmetic hides at the speed of light, it hides less well in fact.
  double getRank() const { return gain + 0.1 * traffic; }
};

class RulesAgent : public Agent {
public:
  explicit RulesAgent(const Retrieval &retrieval) : retrieval(retrieval) {}

  std::vector<Proposal> propose(const GroupedBlock &decided,
                                const Fusibility &fusibility) override;

private:
  bool isFree(Operation *op) const {
    return op && op->getBlock() == &block->getBlock() && !block->find(op) &&
           Fusibility::isFusible(op);
  }
  bool accepts(StringRef rule, const OpGroup &group) const {
    return fusibility->accepts(rule, group, *block);
  }

  /// What `function` finds of the kernel that a group would be.
  template <typename FunctionT>
  auto inspect(StringRef rule, const OpGroup &ops, FunctionT function) const {
    FusedOp fused = fusibility->outline(rule, ops);
    auto found = function(fused);
    fused->erase();
    return found;
  }

  OpGroup withViewsBefore(StringRef rule, Operation *anchor) const;
  bool gains(StringRef rule, const OpGroup &group, const OpGroup &before,
             Operation *op) const;
  bool take(StringRef rule, OpGroup &group, ArrayRef<Operation *> ops) const;
  bool growForward(StringRef rule, OpGroup &group) const;
  bool growBackward(StringRef rule, OpGroup &group) const;
  bool growSideways(StringRef rule, OpGroup &group) const;
  std::optional<Candidate> anchor(StringRef rule, Operation *op) const;
  std::optional<Candidate> gate(Operation *root) const;
  std::optional<Candidate> gather(MatmulOp first) const;
  std::optional<Candidate> grow(Operation *op) const;
  Candidate weigh(StringRef rule, OpGroup group) const;
  void claim(Candidate candidate);
  void takeAnchors();
  void cover(Operation *op);

  const Retrieval &retrieval;
  /// The groups of others, and those claimed here.
  std::optional<GroupedBlock> block;
  const Fusibility *fusibility = nullptr;
  std::vector<Proposal> proposals;
};
} // namespace

/// Adds the views that feed the anchor, operand by operand, as far as the
/// kernel can read through them. A view with other users is taken only when
/// nobody else needs it materialised.
OpGroup RulesAgent::withViewsBefore(StringRef rule, Operation *anchor) const {
  OpGroup group;
  group.insert(anchor);
  for (Value operand : anchor->getOperands()) {
    OpGroup trial = group;
    Value at = operand;
    for (Operation *op = at.getDefiningOp();
         isView(op) && isFree(op) &&
         llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return trial.contains(user); });
         op = op->getOperand(0).getDefiningOp())
      trial.insert(op);
    // The whole chain, or as much of its end as the kernel can take.
    while (trial.size() > group.size() && !accepts(rule, trial))
      trial.pop_back();
    // A reshape of what another kernel writes costs nothing where it is, and
    // attention may write it.
    while (trial.size() > group.size() && isa<ReshapeOp>(trial.back()) &&
           rule != "attention")
      trial.pop_back();
    group = std::move(trial);
  }
  return group;
}

/// Whether one kernel for all of `group` beats two, the other for `op` alone. A
/// view gains nothing where it adds a result.
bool RulesAgent::gains(StringRef rule, const OpGroup &group,
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

/// What could join a group together with `user`: a reduction of columns reads
/// the rows that a permute makes of them.
static Operation *getReductionOf(Operation *user) {
  if (!isa<PermuteOp>(user) || !user->hasOneUse())
    return nullptr;
  return dyn_cast<ReduceOp>(*user->user_begin());
}

/// Adds to the group what gains there and what the rule accepts.
bool RulesAgent::take(StringRef rule, OpGroup &group,
                      ArrayRef<Operation *> ops) const {
  OpGroup trial = group;
  trial.insert(ops.begin(), ops.end());
  // A view alone at the end saves nothing unless it is the layout that the
  // kernel writes; let the family decide.
  if (!gains(rule, trial, group, ops.back()) || !accepts(rule, trial))
    return false;
  group = std::move(trial);
  return true;
}

/// Takes one more user of the group's results.
bool RulesAgent::growForward(StringRef rule, OpGroup &group) const {
  for (Value output : Fusibility::getOutputs(group))
    for (Operation *user : output.getUsers()) {
      if (!isFree(user) || group.contains(user) ||
          !(isPointwise(user) || isView(user) || isa<ReduceOp>(user)))
        continue;
      Operation *reduction = getReductionOf(user);
      if ((reduction && isFree(reduction) &&
           take(rule, group, {user, reduction})) ||
          take(rule, group, user))
        return true;
    }
  return false;
}

/// Takes one more producer of the group's operands. What others read too, it
/// stores as well.
bool RulesAgent::growBackward(StringRef rule, OpGroup &group) const {
  for (Value input : Fusibility::getInputs(group)) {
    Operation *op = input.getDefiningOp();
    if (!isFree(op) || !(isPointwise(op) || isView(op)))
      continue;
    if (take(rule, group, op))
      return true;
  }
  return false;
}

/// Takes one more reader of the group's operands, which are then read once.
bool RulesAgent::growSideways(StringRef rule, OpGroup &group) const {
  for (Value input : Fusibility::getInputs(group))
    for (Operation *user : input.getUsers())
      if (isFree(user) && isPointwise(user) && !group.contains(user) &&
          take(rule, group, user))
        return true;
  return false;
}

std::optional<Candidate> RulesAgent::anchor(StringRef rule,
                                            Operation *op) const {
  if (!isFree(op) || !fusibility->getTarget().findFamily(rule))
    return std::nullopt;
  OpGroup group = withViewsBefore(rule, op);
  if (!accepts(rule, group))
    return std::nullopt;
  while (growForward(rule, group))
    ;
  if (rule == "rowwise")
    while (growBackward(rule, group) || growForward(rule, group))
      ;
  return weigh(rule, std::move(group));
}

/// Whether loading the weights determines the value.
static bool isFixed(Value value) {
  Operation *op = value.getDefiningOp();
  while (isView(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<GetWeightOp, ConstantOp, PrepareOp>(op);
}

/// silu(x gate^T) * (x up^T): x is read once, and neither product is stored.
/// `root` is the last of the pointwise ops that make one value of both.
std::optional<Candidate> RulesAgent::gate(Operation *root) const {
  OpGroup group;
  group.insert(root);
  SmallVector<MatmulOp> products;
  // All that only this value needs, down to the contractions.
  for (size_t i = 0; i < group.size(); ++i)
    for (Value operand : group[i]->getOperands()) {
      Operation *op = operand.getDefiningOp();
      auto matmul = dyn_cast_or_null<MatmulOp>(op);
      if ((!matmul && !isPointwise(op)) || !isFree(op) || group.contains(op) ||
          !llvm::all_of(op->getUsers(), [&](Operation *user) {
            return group.contains(user);
          }))
        continue;
      if (matmul && products.size() == 2)
        return std::nullopt;
      if (matmul)
        products.push_back(matmul);
      group.insert(op);
    }
  if (products.size() != 2 || products[0].getLhs() != products[1].getLhs())
    return std::nullopt;
  MatmulOp left = products[0], right = products[1];
  // Views of the factors are read in place.
  for (MatmulOp matmul : {left, right})
    for (Operation *op = matmul.getRhs().getDefiningOp();
         isView(op) && isFree(op) && op->hasOneUse();
         op = op->getOperand(0).getDefiningOp())
      group.insert(op);
  // The kernel packs both factors together. Where they are no weights it does so
  // on each launch, which costs more than it saves where there are few rows.
  int64_t rows = left.getType().getNumElements() / left.getN();
  bool packsOnce = isFixed(left.getRhs()) && isFixed(right.getRhs());
  if ((!packsOnce && rows < 2 * left.getK()) ||
      !llvm::all_of(group, [&](Operation *op) { return isFree(op); }) ||
      !accepts("gated_gemm", group))
    return std::nullopt;
  while (growForward("gated_gemm", group))
    ;
  return weigh("gated_gemm", std::move(group));
}

/// Products of one value with several weights, each with what follows it: the
/// value is read once. Worth it where reading takes time.
std::optional<Candidate> RulesAgent::gather(MatmulOp first) const {
  if (!fusibility->getTarget().findFamily("grouped_gemm"))
    return std::nullopt;
  OpGroup group;
  for (Operation *user : first.getLhs().getUsers()) {
    auto matmul = dyn_cast<MatmulOp>(user);
    if (matmul && matmul.getLhs() == first.getLhs() && isFree(matmul) &&
        isFixed(matmul.getRhs()))
      group.insert(matmul);
  }
  // Found from the one that stands first.
  if (group.size() < 2 || llvm::any_of(group, [&](Operation *op) {
        return op->isBeforeInBlock(first);
      }) ||
      !accepts("grouped_gemm", group))
    return std::nullopt;
  double apart = 0;
  for (Operation *matmul : group)
    if (auto alone = anchor("gemm_epilogue", matmul))
      apart += alone->gain;
  while (growForward("grouped_gemm", group))
    ;
  Candidate together = weigh("grouped_gemm", std::move(group));
  if (together.gain <= apart)
    return std::nullopt;
  return together;
}

Candidate RulesAgent::weigh(StringRef rule, OpGroup group) const {
  const MachineDescription &machine = fusibility->getTarget().getMachine();
  // One kernel: at the speed of light, and as the registry measured it.
  auto time = [&](StringRef kernelRule, const OpGroup &ops) {
    return inspect(kernelRule, ops, [&](FusedOp fused) {
      return std::pair(getSpeedOfLight(fused),
                       retrieval.predictMicroseconds(fused));
    });
  };
  auto [together, measured] = time(rule, group);
  double apart = 0, traffic = 0, apartMeasured = 0;
  for (Operation *op : group) {
    SpeedOfLight light = getSpeedOfLight(op);
    double alone = light.getMicroseconds(machine);
    apart += alone;
    traffic += light.getTrafficMicroseconds(machine);
    // What is not known of a small kernel is little.
    if (measured && isa<MatmulOp>(op)) {
      OpGroup one;
      one.insert(op);
      alone = time("gemm_epilogue", one).second.value_or(alone);
    }
    apartMeasured += alone;
  }
  Candidate candidate{rule, std::move(group),
                      apart - together.getMicroseconds(machine),
                      traffic - together.getTrafficMicroseconds(machine)};
  if (measured)
    candidate.measuredGain = apartMeasured - *measured;
  return candidate;
}

void RulesAgent::claim(Candidate candidate) {
  block->add(candidate.ops);
  proposals.push_back({candidate.rule.str(), std::move(candidate.ops)});
}

/// The group that an op anchors, if it is an anchor.
std::optional<Candidate> RulesAgent::grow(Operation *op) const {
  if (!isFree(op))
    return std::nullopt;
  if (isa<AttentionOp>(op))
    return anchor("attention", op);
  if (isPointwise(op) && op->getNumOperands() > 1)
    return gate(op);
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    std::optional<Candidate> grouped = gather(matmul);
    return grouped ? grouped : anchor("gemm_epilogue", op);
  }
  if (isa<NormOp, SoftmaxOp, ReduceOp>(op))
    return anchor("rowwise", op);
  return std::nullopt;
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
  // Of equal gains the earlier in the block is taken first.
  while (!anchors.empty()) {
    auto best = llvm::max_element(anchors, [](const Anchor &a, const Anchor &b) {
      return a.candidate.getRank() < b.candidate.getRank();
    });
    // Measurements decide between those that want the same op.
    for (auto rival = anchors.begin(); rival != anchors.end(); ++rival)
      if (conflict(rival->candidate.ops, best->candidate.ops) &&
          rival->candidate.measuredGain && best->candidate.measuredGain &&
          *rival->candidate.measuredGain > *best->candidate.measuredGain)
        best = rival;
    Anchor taken = std::move(*best);
    anchors.erase(best);
    // A group that was claimed since may lead out of this one and back.
    if (!accepts(taken.candidate.rule, taken.candidate.ops)) {
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

/// One op, and what can join it, by the first rule that takes it.
void RulesAgent::cover(Operation *op) {
  if (!isFree(op))
    return;
  OpGroup group;
  group.insert(op);
  // A reshape of a row-major value is the same memory under another type.
  if (isa<ReshapeOp>(op))
    return;
  for (StringRef rule :
       {"pointwise", "concat", "rowwise", "gemm_epilogue", "generic"}) {
    if (!fusibility->getTarget().findFamily(rule) || !accepts(rule, group))
      continue;
    if (rule == "pointwise")
      while (growForward(rule, group) || growBackward(rule, group) ||
             growSideways(rule, group))
        ;
    if (rule == "concat")
      while (growBackward(rule, group))
        ;
    claim({rule, std::move(group)});
    return;
  }
}

std::vector<Proposal> RulesAgent::propose(const GroupedBlock &decided,
                                          const Fusibility &analysis) {
  block.emplace(decided);
  fusibility = &analysis;
  proposals.clear();
  takeAnchors();
  for (Operation &op : block->getBlock())
    cover(&op);
  // The order in which they were taken.
  for (auto [i, proposal] : llvm::enumerate(proposals))
    proposal.priority = int64_t(proposals.size() - i);
  return std::move(proposals);
}

std::unique_ptr<Agent> fact::createRulesAgent(const Retrieval &retrieval) {
  return std::make_unique<RulesAgent>(retrieval);
}
