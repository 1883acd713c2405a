//===- Standing.cpp - Patterns beside what the rules do -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Standing.h"
#include "fact/Fusion/Problem.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace fact;

static OpGroup withoutReshapes(const OpGroup &ops) {
  OpGroup rest;
  for (Operation *op : ops)
    if (!isa<ReshapeOp>(op))
      rest.insert(op);
  return rest;
}

/// Whether two groups are one kernel: the same rule for the same ops, where
/// reshapes do not count.
static bool isSameGroup(const Proposal &a, const Proposal &b) {
  if (a.rule != b.rule)
    return false;
  OpGroup left = withoutReshapes(a.ops), right = withoutReshapes(b.ops);
  return left.size() == right.size() &&
         llvm::all_of(left, [&](Operation *op) { return right.contains(op); });
}

bool fact::isOwn(const Proposal &pattern, ArrayRef<Proposal> rules) {
  return llvm::none_of(rules, [&](const Proposal &group) {
    return isSameGroup(pattern, group);
  });
}

std::string fact::getProblemId(const Proposal &proposal,
                               const Fusibility &fusibility) {
  FusedOp fused = fusibility.outline(proposal.rule, proposal.ops);
  llvm::scope_exit erase([&] { fused->erase(); });
  return getProblem(fused, fusibility.getTarget()).getId();
}

namespace {
/// One grouping: the group of each op, and the problem of each group.
struct Grouping {
  Grouping(ArrayRef<Proposal> groups, const Fusibility &fusibility)
      : groups(groups) {
    for (auto [i, group] : llvm::enumerate(groups)) {
      problems.push_back(getProblemId(group, fusibility));
      for (Operation *op : group.ops)
        groupOf[op] = i;
    }
  }

  ArrayRef<Proposal> groups;
  std::vector<std::string> problems;
  DenseMap<Operation *, size_t> groupOf;
};
} // namespace

/// Adds the groups of `grouping` that have one of the ops, and the other ops of
/// those groups. Returns whether there was one to add.
static bool connect(const Grouping &grouping, SetVector<Operation *> &ops,
                    SetVector<size_t> &chosen) {
  size_t before = chosen.size();
  // Grows while it is read.
  for (size_t i = 0; i < ops.size(); ++i) {
    auto found = grouping.groupOf.find(ops[i]);
    if (found != grouping.groupOf.end() && chosen.insert(found->second))
      ops.insert_range(grouping.groups[found->second].ops);
  }
  return chosen.size() > before;
}

std::vector<StandingPattern>
fact::compareWithRules(size_t patterns, ArrayRef<Proposal> all,
                       ArrayRef<Proposal> rules, const Fusibility &fusibility) {
  Grouping own(all, fusibility), others(rules, fusibility);
  std::vector<StandingPattern> standing;
  for (auto [i, pattern] : llvm::enumerate(all.take_front(patterns))) {
    StandingPattern &entry = standing.emplace_back();
    entry.strategy =
        pattern.strategy
            ? stringifyStrategyKind(pattern.strategy.getKind()).str()
            : "new";
    entry.isOwn = isOwn(pattern, rules);
    entry.problem = own.problems[i];
    SetVector<Operation *> ops(pattern.ops.begin(), pattern.ops.end());
    SetVector<size_t> mine, theirs;
    while (connect(own, ops, mine) || connect(others, ops, theirs))
      ;
    for (size_t group : mine)
      entry.kernels.push_back(own.problems[group]);
    for (size_t group : theirs)
      entry.rulesKernels.push_back(others.problems[group]);
  }
  return standing;
}
