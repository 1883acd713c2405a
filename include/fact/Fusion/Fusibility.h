//===- Fusibility.h - Can ops become one kernel? ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules, language models and people all propose sets of ops. This analysis
// alone decides: it checks that a set is convex, and asks the rule's family
// whether it can emit the region.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_FUSION_FUSIBILITY_H
#define FACT_FUSION_FUSIBILITY_H

#include "fact/Kernel/Target.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// The decided groups of a block. They are disjoint, and the graph with one
/// node per group has no cycle.
class GroupedBlock {
public:
  explicit GroupedBlock(mlir::Block &block);

  mlir::Block &getBlock() const { return block; }
  size_t size() const { return groups.size(); }
  const OpGroup &operator[](size_t i) const { return groups[i]; }
  /// The group of `op`, or null.
  const OpGroup *find(mlir::Operation *op) const;
  void add(OpGroup group);

  /// An op outside of `group` that uses one of its values and feeds one of its
  /// ops, directly or through decided groups; or null.
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
  /// An op cannot be fused, or is in another group.
  op,
  /// The group is not convex.
  cycle,
  /// None of its results is used.
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

  /// Why `group` cannot become a kernel of `rule` beside the decided groups,
  /// with a schedule of `space` (null: of the rule's default); the diagnostic
  /// gives the details. None: it can, as a kernel of `family`.
  std::optional<Obstacle> check(llvm::StringRef rule, const OpGroup &group,
                                SpaceAttrInterface space,
                                const GroupedBlock &decided,
                                EmitError emitError,
                                const Family **family = nullptr) const;

  /// The same for an existing `fact.fused`, with its own schedule or space.
  std::optional<Obstacle> check(FusedOp fused, EmitError emitError) const;

  /// Checks every `fact.fused` of a module.
  mlir::LogicalResult checkAll(mlir::ModuleOp module) const;

  /// The position of the family that takes a group with its default space,
  /// among those of the rule; their number if none does. Emits no diagnostic.
  size_t getRank(llvm::StringRef rule, const OpGroup &group,
                 const GroupedBlock &decided) const;

  /// Whether a family takes the group, and no less specific one than takes
  /// `before`, the group that it grew from: an op is not worth the loss of a
  /// faster kernel.
  bool accepts(llvm::StringRef rule, const OpGroup &group,
               const GroupedBlock &decided, const OpGroup &before = {}) const;

  /// A detached `fact.fused` of a checked group; the caller erases it.
  FusedOp outline(llvm::StringRef rule, const OpGroup &group) const;

  /// Erases the ops of a kernel that nothing reads, and then its operands.
  static void eraseUnused(FusedOp fused);

  /// The microseconds that the best schedule of a kernel is predicted to take;
  /// none if there is no such kernel. Emits no diagnostic.
  std::optional<double> predict(FusedOp fused) const;
  std::optional<double> predict(llvm::StringRef rule,
                                const OpGroup &group) const;
  /// Of the rule whose kernel of the group is the fastest; the last resort
  /// counts for none.
  std::optional<double> predictBest(const OpGroup &group) const;

  /// Whether `before` and a pointwise kernel of `ops` are predicted to be
  /// faster than one kernel of both, the second launch included; false if one
  /// of them is no kernel.
  bool areFasterApart(llvm::StringRef rule, const OpGroup &before,
                      llvm::ArrayRef<mlir::Operation *> ops) const;

  /// Replaces a checked group by a `fact.fused` at its last op. Users may
  /// precede it: sort the block after all groups are fused.
  FusedOp fuse(llvm::StringRef rule, const OpGroup &group,
               mlir::RewriterBase &rewriter) const;

  /// A kernel that copies `value` to memory of its own, with the type `type` of
  /// as many elements.
  mlir::FailureOr<FusedOp> copy(mlir::Value value, mlir::Type type,
                                mlir::OpBuilder &builder, mlir::Location loc,
                                EmitError emitError) const;

  /// Values from outside that the group uses, in order of first use. Without
  /// splat constants, which are cloned into the region.
  static llvm::SetVector<mlir::Value> getInputs(const OpGroup &group);
  /// Values of the group that are used outside of it.
  static llvm::SetVector<mlir::Value> getOutputs(const OpGroup &group);
  /// Whether an op can be part of a group at all.
  static bool isFusible(mlir::Operation *op);

  const Target &getTarget() const { return target; }

private:
  /// Checks that the rule's family accepts the region and has a legal schedule.
  std::optional<Obstacle> checkRegion(FusedOp fused, SpaceAttrInterface space,
                                      EmitError emitError,
                                      const Family **family = nullptr) const;

  const Target &target;
};
} // namespace fact

#endif // FACT_FUSION_FUSIBILITY_H
