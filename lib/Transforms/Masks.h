//===- Masks.h - What is done to scores before a softmax --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TRANSFORMS_MASKS_H
#define FACT_LIB_TRANSFORMS_MASKS_H

#include "Matchers.h"

namespace fact {
/// Whether a score of this value has no weight beside any visible score: -inf,
/// or so low that a visible score would have to exceed 2^99 to matter.
inline bool isHidden(double value) { return value <= -0x1p100; }

/// A mask in parts: summands, and choices between scores and a fill value that
/// hides them.
struct Mask {
  /// `factor * value` is added.
  struct Term {
    mlir::Value value;
    double factor = 1;
  };
  /// Scores are `fill` where the condition equals `hidesWhenTrue`.
  struct Choice {
    mlir::Value condition;
    bool hidesWhenTrue = true;
    double fill = 0;
    /// The value elsewhere.
    mlir::Value rest;

    /// The choice that `select` makes, if one of its values hides scores.
    static std::optional<Choice> get(SelectOp select);
  };

  llvm::SmallVector<Term> terms;
  llvm::SmallVector<Choice> choices;

  /// The parts of a mask that is a summand of the scores.
  static Mask decompose(mlir::Value mask);

  bool empty() const { return terms.empty() && choices.empty(); }
  void appendLeaves(llvm::SmallVectorImpl<mlir::Value> &leaves) const;

  /// The whole mask as a summand of the scores of an attention in `element`;
  /// null if there are no parts.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Type element) const;
};
} // namespace fact

#endif // FACT_LIB_TRANSFORMS_MASKS_H
