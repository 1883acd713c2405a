//===- MergeGroups.cpp - Kernels of one memory become one -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules grow a group around one anchor. Reductions of one tensor have an
// anchor each, and so have the small kernels that end a loss. Here groups that
// share memory are tried together, and the families' predictions decide.
//
//===----------------------------------------------------------------------===//

#include "MergeGroups.h"
#include "Rounding.h"
#include "fact/Analysis/ReadThrough.h"

using namespace mlir;
using namespace fact;

/// A value with more readers is a table or a weight that whole models share:
/// its readers are too many to try all pairs, and gain little.
static constexpr size_t mostReaders = 16;

/// One kernel must be predicted to take at most this share of the time of two:
/// predictions of different families are not that exact.
static constexpr double mostTime = 0.97;

namespace {
class Merger {
public:
  Merger(std::vector<Proposal> &proposals, const GroupedBlock &decided,
         const UnrolledLoops &loops, const Fusibility &fusibility,
         FusionLimit limit)
      : proposals(proposals), decided(decided), loops(loops),
        fusibility(fusibility), limit(limit), times(proposals.size()) {}

  void run();

private:
  /// A kernel for the ops of two proposals.
  struct Union {
    size_t other;
    const Rule *rule;
    OpGroup ops;
    double time, gain;
  };

  bool isFree(Operation *op) const {
    return op && op->getBlock() == &decided.getBlock() && !decided.find(op) &&
           Fusibility::isFusible(op);
  }
  bool mayMerge(size_t i) const;
  llvm::SetVector<size_t> getNeighbors(size_t i) const;
  OpGroup unite(size_t i, size_t j) const;
  bool isTaken(size_t i, const Union &merged) const;
  std::optional<Union> findUnion(size_t i);
  void index();

  std::vector<Proposal> &proposals;
  const GroupedBlock &decided;
  const UnrolledLoops &loops;
  const Fusibility &fusibility;
  const FusionLimit limit;
  /// Predictions of the proposals, as they are asked for.
  std::vector<std::optional<double>> times;
  /// The proposals that read a value, behind reshapes, and the one of an op.
  llvm::DenseMap<Value, SmallVector<size_t, 2>> readers;
  llvm::DenseMap<Operation *, size_t> proposalOf;
};
} // namespace

/// Whether a kernel passes over memory, and computes little for each element.
/// Views alone may need no kernel: readers find their elements in place.
bool Merger::mayMerge(size_t i) const {
  const OpGroup &ops = proposals[i].ops;
  return !llvm::all_of(ops, llvm::IsaPred<ViewOpInterface>) &&
         llvm::all_of(
             ops, llvm::IsaPred<PointwiseOpInterface, ViewOpInterface, NormOp,
                                SoftmaxOp, ReduceOp, GatherOp, ConcatOp>);
}

void Merger::index() {
  readers.clear();
  proposalOf.clear();
  for (auto [i, proposal] : llvm::enumerate(proposals)) {
    for (Operation *op : proposal.ops)
      proposalOf[op] = i;
    if (!mayMerge(i))
      continue;
    for (Value input : Fusibility::getInputs(proposal.ops)) {
      SmallVector<size_t, 2> &known = readers[skipReshapes(input)];
      if (known.empty() || known.back() != i)
        known.push_back(i);
    }
  }
}

/// The proposals that read what this one reads or gives, or give what it reads.
llvm::SetVector<size_t> Merger::getNeighbors(size_t i) const {
  llvm::SetVector<size_t> found;
  auto addReaders = [&](Value value) {
    auto known = readers.find(value);
    if (known != readers.end() && known->second.size() <= mostReaders)
      found.insert(known->second.begin(), known->second.end());
  };
  for (Value input : Fusibility::getInputs(proposals[i].ops)) {
    Value value = skipReshapes(input);
    addReaders(value);
    auto producer = proposalOf.find(value.getDefiningOp());
    if (producer != proposalOf.end() && mayMerge(producer->second))
      found.insert(producer->second);
  }
  for (Value output : Fusibility::getOutputs(proposals[i].ops))
    addReaders(skipReshapes(output));
  found.remove(i);
  return found;
}

/// The ops of both, and the reshapes between them that nothing else reads.
OpGroup Merger::unite(size_t i, size_t j) const {
  OpGroup ops = proposals[i].ops;
  ops.insert(proposals[j].ops.begin(), proposals[j].ops.end());
  for (size_t k = 0; k < ops.size(); ++k)
    for (Value operand : ops[k]->getOperands()) {
      auto reshape = operand.getDefiningOp<ReshapeOp>();
      if (reshape && isFree(reshape) && !proposalOf.contains(reshape) &&
          ops.contains(skipReshapes(operand).getDefiningOp()) &&
          llvm::all_of(reshape->getUsers(),
                       [&](Operation *user) { return ops.contains(user); }))
        ops.insert(reshape);
    }
  return ops;
}

/// Whether a union is legal beside the other proposals, as a kernel of the
/// rule's most specific family: plain kernels are predicted too roughly.
bool Merger::isTaken(size_t i, const Union &merged) const {
  if (isForbidden(merged.ops, limit))
    return false;
  GroupedBlock others = decided;
  for (auto [k, proposal] : llvm::enumerate(proposals))
    if (k != i && k != merged.other && !proposal.ops.empty())
      others.add(proposal.ops);
  return fusibility.getRank(merged.rule->name, merged.ops, others) == 0;
}

/// Whether a group of a rule could have these ops.
static bool hasAnchor(const Rule &rule, const OpGroup &ops) {
  return !rule.seed || llvm::any_of(ops, [&](Operation *op) {
    return !rule.seed(op, [](Operation *) { return true; }).empty();
  });
}

/// The union with a neighbor that gains most.
std::optional<Merger::Union> Merger::findUnion(size_t i) {
  const Target &target = fusibility.getTarget();
  auto getTime = [&](size_t k) {
    if (!times[k])
      times[k] =
          fusibility.predict(proposals[k].rule, proposals[k].ops).value_or(0);
    return *times[k];
  };
  unsigned stretch = loops.getStretch(proposals[i].ops.front());
  std::optional<Union> best;
  for (size_t j : getNeighbors(i)) {
    if (loops.getStretch(proposals[j].ops.front()) != stretch)
      continue;
    OpGroup ops = unite(i, j);
    double apart = getTime(i) + getTime(j);
    for (const Rule *rule : target.getRules()) {
      if (rule->isLastResort || !hasAnchor(*rule, ops))
        continue;
      std::optional<double> time = fusibility.predict(rule->name, ops);
      if (!time || *time > mostTime * apart ||
          (best && best->gain >= apart - *time))
        continue;
      Union merged{j, rule, ops, *time, apart - *time};
      if (isTaken(i, merged))
        best = std::move(merged);
    }
  }
  return best;
}

void Merger::run() {
  index();
  for (size_t i = 0; i < proposals.size(); ++i)
    while (mayMerge(i)) {
      std::optional<Union> merged = findUnion(i);
      if (!merged)
        break;
      proposals[i].rule = merged->rule->name;
      proposals[i].ops = std::move(merged->ops);
      proposals[merged->other].ops.clear();
      times[i] = merged->time;
      index();
    }
  llvm::erase_if(proposals,
                 [](const Proposal &proposal) { return proposal.ops.empty(); });
}

void fact::mergeGroups(std::vector<Proposal> &proposals,
                       const GroupedBlock &decided, const UnrolledLoops &loops,
                       const Fusibility &fusibility, FusionLimit limit) {
  Merger(proposals, decided, loops, fusibility, limit).run();
}
