//===- Fusibility.h - Can one kernel take these ops? --------------*- C++ -*-===//
//
// The one place that knows. Rules, language models and people all propose sets
// of ops; this analysis checks that a set is one convex piece of the graph and
// asks the target's realisers whether they can emit it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_FUSIBILITY_H
#define FACT_ANALYSIS_FUSIBILITY_H

#include "fact/Target/Target.h"
#include "llvm/ADT/SetVector.h"

namespace fact {
/// Ops of one block that one kernel should compute.
using OpGroup = llvm::SetVector<mlir::Operation *>;

class Fusibility {
public:
  explicit Fusibility(const Target &target) : target(target) {}

  /// Whether `rule` can take `group`; the diagnostic names the obstacle.
  mlir::LogicalResult check(llvm::StringRef rule, const OpGroup &group,
                            EmitError emitError) const;

  /// The same without a diagnostic.
  bool accepts(llvm::StringRef rule, const OpGroup &group) const;

  /// Replaces `group` by a `fact.fused`, where its last op stood. The caller
  /// has checked the group.
  FusedOp fuse(llvm::StringRef rule, const OpGroup &group,
               mlir::RewriterBase &rewriter) const;

  /// Values that the group takes from outside, constants excluded: those are
  /// copied in. In order of first use.
  static llvm::SetVector<mlir::Value> getInputs(const OpGroup &group);
  /// Values of the group that others use.
  static llvm::SetVector<mlir::Value> getOutputs(const OpGroup &group);

  const Target &getTarget() const { return target; }

private:
  const Target &target;
};
} // namespace fact

#endif // FACT_ANALYSIS_FUSIBILITY_H
