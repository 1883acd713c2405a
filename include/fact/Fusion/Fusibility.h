//===- Fusibility.h - Can one kernel take these ops? --------------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//
//
// The one place that knows. Rules, language models and people all propose sets
// of ops; this analysis checks that a set is one convex piece of the graph and
// asks the target's families whether they can emit it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_FUSIBILITY_H
#define FACT_ANALYSIS_FUSIBILITY_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// The groups of a block that are decided. Each op is in one at most, and with
/// every group as one node the graph has no cycle.
class GroupedBlock {
public:
  explicit GroupedBlock(mlir::Block &block);

  mlir::Block &getBlock() const { return block; }
  size_t size() const { return groups.size(); }
  const OpGroup &operator[](size_t i) const { return groups[i]; }
  /// The group that has `op`, or null.
  const OpGroup *find(mlir::Operation *op) const;
  void add(OpGroup group);

  /// An op outside of `group` that uses one of its values and feeds another,
  /// directly or through groups that are decided; or null.
  mlir::Operation *findDetour(const OpGroup &group) const;

private:
  struct Span {
    unsigned first, last;
  };
  Span getSpan(const OpGroup &group) const;

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Operation *, unsigned> groupOf;
  std::vector<OpGroup> groups;
  std::vector<Span> spans;
};

/// Why a group cannot be one kernel.
enum class Obstacle {
  /// It has no op.
  empty,
  /// The target has no such rule.
  rule,
  /// An op that is no work, or is in another group.
  op,
  /// The group is not convex.
  cycle,
  /// Nothing uses what it computes.
  unused,
  /// The rule's family cannot emit it.
  family,
  /// The space has no legal schedule.
  space,
};
llvm::StringRef stringify(Obstacle obstacle);

class Fusibility {
public:
  explicit Fusibility(const Target &target) : target(target) {}

  /// What stands in the way of `rule` taking `group` beside the groups that are
  /// decided, searching `space` (null: the rule's own); the diagnostic names
  /// it. None: it can.
  std::optional<Obstacle> check(llvm::StringRef rule, const OpGroup &group,
                                SpaceAttrInterface space,
                                const GroupedBlock &decided,
                                EmitError emitError) const;

  /// What stands in the way of a `fact.fused` that is there, with the schedule
  /// or the space that it names.
  std::optional<Obstacle> check(FusedOp fused, EmitError emitError) const;

  /// Checks every `fact.fused` of a module.
  mlir::LogicalResult checkAll(mlir::ModuleOp module) const;

  /// Whether a group can be one kernel with the rule's own space; without a
  /// diagnostic.
  bool accepts(llvm::StringRef rule, const OpGroup &group,
               const GroupedBlock &decided) const;

  /// The `fact.fused` of a group that was checked, not part of the module; the
  /// caller erases it.
  FusedOp outline(llvm::StringRef rule, const OpGroup &group) const;

  /// Replaces `group`, which was checked, by a `fact.fused` where its last op
  /// stood. Users may stand before it: sort the block once all are fused.
  FusedOp fuse(llvm::StringRef rule, const OpGroup &group,
               mlir::RewriterBase &rewriter) const;

  /// Values that the group takes from outside, constants excluded: those are
  /// copied in. In order of first use.
  static llvm::SetVector<mlir::Value> getInputs(const OpGroup &group);
  /// Values of the group that others use.
  static llvm::SetVector<mlir::Value> getOutputs(const OpGroup &group);
  /// Whether an op can be part of a group at all.
  static bool isFusible(mlir::Operation *op);

  const Target &getTarget() const { return target; }

private:
  /// Whether the rule's family takes the region and has a schedule for it.
  std::optional<Obstacle> checkRegion(FusedOp fused, SpaceAttrInterface space,
                                      EmitError emitError) const;

  const Target &target;
};
} // namespace fact

#endif // FACT_ANALYSIS_FUSIBILITY_H
