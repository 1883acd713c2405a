//===- UnrolledLoops.h - The steps of loops that were unrolled --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `torch.export` unrolls loops. A scan over the rows of a tensor arrives as one
// slice per step, with readers that are alike, and often ends in one
// concatenation of what the steps computed. Kernels that keep to the steps are
// alike too, so one of them serves all.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_UNROLLEDLOOPS_H
#define FACT_ANALYSIS_UNROLLEDLOOPS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// The slices that the steps of an unrolled loop read of one value, in the
/// order of the steps. All have one type and one dimension.
struct UnrolledLoop {
  llvm::SmallVector<SliceOp> slices;

  mlir::Value getSource() { return slices.front().getOperand(); }
  int64_t getDim() { return slices.front().getDim(); }
};

/// The unrolled loops of a block that are too long for one kernel.
class UnrolledLoops {
public:
  explicit UnrolledLoops(mlir::Block &block);

  llvm::ArrayRef<UnrolledLoop> getLoops() const { return loops; }
  /// Concatenations of what steps computed.
  llvm::ArrayRef<ConcatOp> getJoins() const { return joins; }

  /// Numbers the stretches of the block in which loops run a few steps each: an
  /// op is in no earlier stretch than its operands, and a view in that of its
  /// readers, if it is one. Ops before all loops are in stretch 0. A join is
  /// alone in its own.
  unsigned getStretch(mlir::Operation *op) const {
    return stretches.lookup(op);
  }

private:
  void findLoops(mlir::Block &block);
  void setStretches(mlir::Block &block,
                    llvm::ArrayRef<unsigned> stepsPerStretch);
  llvm::SmallVector<unsigned> countStepsPerStretch(mlir::Block &block) const;

  llvm::SmallVector<UnrolledLoop> loops;
  llvm::SmallVector<ConcatOp> joins;
  llvm::DenseMap<mlir::Operation *, unsigned> stretches;
};
} // namespace fact

#endif // FACT_ANALYSIS_UNROLLEDLOOPS_H
