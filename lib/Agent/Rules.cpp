//===- Rules.cpp - The embedded rules agent -------------------------------===//
//
// Anchors first: an attention takes the views around it, two contractions of
// one input that a product gates become one, a contraction takes the pointwise
// ops after it, a row op the pointwise ops on both sides; what is left becomes
// pointwise kernels. A group grows while Fusibility accepts it and while
// growing removes traffic, that is, adds no result.
//
//===----------------------------------------------------------------------===//

#include "fact/Agent/Agent.h"

using namespace mlir;
using namespace fact;

namespace {
/// Views and constants cost nothing by themselves.
bool isView(Operation *op) { return op && op->hasTrait<fact::ViewOp>(); }
bool isPointwise(Operation *op) {
  return isa_and_nonnull<PointwiseOpInterface>(op);
}

class RulesAgent : public Agent {
public:
  std::vector<Proposal> propose(Block &block,
                                const Fusibility &fusibility) override;

private:
  bool isFree(Operation *op) const {
    return op && op->getBlock() == block && !claimed.contains(op) &&
           isa<FactDialect>(op->getDialect()) &&
           !isa<GetWeightOp, ConstantOp, FusedOp, PrepareOp, YieldOp>(op);
  }

  void claim(StringRef rule, OpGroup group) {
    for (Operation *op : group)
      claimed.insert(op);
    proposals.push_back({rule.str(), std::move(group)});
  }

  OpGroup withViewsBefore(StringRef rule, Operation *anchor) const;
  bool growForward(StringRef rule, OpGroup &group) const;
  bool growBackward(StringRef rule, OpGroup &group) const;
  void anchor(StringRef rule, Operation *op);
  void gate(MulOp product);
  void cover(Operation *op);

  Block *block = nullptr;
  const Fusibility *fusibility = nullptr;
  llvm::SetVector<Operation *> claimed;
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
    while (trial.size() > group.size() && !fusibility->accepts(rule, trial))
      trial.pop_back();
    group = std::move(trial);
  }
  return group;
}

/// Takes one more user of the group's results.
bool RulesAgent::growForward(StringRef rule, OpGroup &group) const {
  size_t outputs = Fusibility::getOutputs(group).size();
  for (Value output : Fusibility::getOutputs(group))
    for (Operation *user : output.getUsers()) {
      if (!isFree(user) || group.contains(user) ||
          !(isPointwise(user) || isView(user)))
        continue;
      OpGroup trial = group;
      trial.insert(user);
      // A view alone at the end saves nothing unless it is the layout that the
      // kernel writes; let the realiser decide.
      if (Fusibility::getOutputs(trial).size() <= outputs &&
          fusibility->accepts(rule, trial)) {
        group = std::move(trial);
        return true;
      }
    }
  return false;
}

/// Takes one more producer of the group's operands, when only the group uses
/// it.
bool RulesAgent::growBackward(StringRef rule, OpGroup &group) const {
  for (Value input : Fusibility::getInputs(group)) {
    Operation *op = input.getDefiningOp();
    if (!isFree(op) || !(isPointwise(op) || isView(op)))
      continue;
    if (!llvm::all_of(op->getUsers(),
                      [&](Operation *user) { return group.contains(user); }))
      continue;
    OpGroup trial = group;
    trial.insert(op);
    if (fusibility->accepts(rule, trial)) {
      group = std::move(trial);
      return true;
    }
  }
  return false;
}

void RulesAgent::anchor(StringRef rule, Operation *op) {
  if (!isFree(op))
    return;
  OpGroup group = withViewsBefore(rule, op);
  if (!fusibility->accepts(rule, group))
    return;
  while (growForward(rule, group))
    ;
  if (rule == "rowwise")
    while (growBackward(rule, group) || growForward(rule, group))
      ;
  claim(rule, std::move(group));
}

/// The contraction that `value` is a pointwise function of alone, with the ops
/// on the way added to `group`; null when there is none.
static MatmulOp followToMatmul(Value value, OpGroup &group) {
  while (Operation *op = value.getDefiningOp()) {
    if (!op->hasOneUse())
      return {};
    group.insert(op);
    if (auto matmul = dyn_cast<MatmulOp>(op))
      return matmul;
    if (!isPointwise(op) || op->getNumOperands() != 1)
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Whether loading the weights determines the value.
static bool isFixed(Value value) {
  Operation *op = value.getDefiningOp();
  while (isView(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<GetWeightOp, ConstantOp, PrepareOp>(op);
}

/// silu(x gate^T) * (x up^T): x is read once, and neither product is stored.
void RulesAgent::gate(MulOp product) {
  OpGroup group;
  group.insert(product);
  MatmulOp left = followToMatmul(product.getLhs(), group);
  MatmulOp right = followToMatmul(product.getRhs(), group);
  if (!left || !right || left == right || left.getLhs() != right.getLhs())
    return;
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
      !fusibility->accepts("gated_gemm", group))
    return;
  claim("gated_gemm", std::move(group));
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
    if (!fusibility->getTarget().findRealiser(rule) ||
        !fusibility->accepts(rule, group))
      continue;
    if (rule == "pointwise")
      while (growForward(rule, group) || growBackward(rule, group))
        ;
    if (rule == "concat")
      while (growBackward(rule, group))
        ;
    claim(rule, std::move(group));
    return;
  }
}

std::vector<Proposal> RulesAgent::propose(Block &graph,
                                          const Fusibility &analysis) {
  block = &graph;
  fusibility = &analysis;
  claimed.clear();
  proposals.clear();
  for (Operation &op : graph)
    if (isa<AttentionOp>(op))
      anchor("attention", &op);
  for (Operation &op : graph)
    if (auto product = dyn_cast<MulOp>(op))
      gate(product);
  for (Operation &op : graph)
    if (isa<MatmulOp>(op))
      anchor("gemm_epilogue", &op);
  for (Operation &op : graph)
    if (isa<NormOp, SoftmaxOp, ReduceOp>(op))
      anchor("rowwise", &op);
  for (Operation &op : graph)
    cover(&op);
  return std::move(proposals);
}

std::unique_ptr<Agent> fact::createRulesAgent() {
  return std::make_unique<RulesAgent>();
}
