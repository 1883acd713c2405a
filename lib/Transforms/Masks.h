//===- Masks.h - What is done to scores before a softmax ----------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_LIB_TRANSFORMS_MASKS_H
#define FACT_LIB_TRANSFORMS_MASKS_H

#include "Matchers.h"

namespace fact {
/// Whether a score of this value has no weight beside any score that is seen:
/// -inf, and what is so low that a score would have to exceed 2^99 to matter.
inline bool isHidden(double value) { return value <= -0x1p100; }

/// A mask in parts: what is added, and choices between scores and a value that
/// hides them.
struct Mask {
  /// `factor * value` is added.
  struct Term {
    mlir::Value value;
    double factor = 1;
  };
  /// Where the condition is `hidesWhenTrue`, scores are `fill`.
  struct Choice {
    mlir::Value condition;
    bool hidesWhenTrue = true;
    double fill = 0;
    /// The value that the choice leaves elsewhere.
    mlir::Value rest;

    /// The choice that `select` makes, if one of its values hides.
    static std::optional<Choice> get(SelectOp select);
  };

  llvm::SmallVector<Term> terms;
  llvm::SmallVector<Choice> choices;

  /// The parts of a mask that is added.
  static Mask decompose(mlir::Value mask);

  bool empty() const { return terms.empty() && choices.empty(); }
  void appendLeaves(llvm::SmallVectorImpl<mlir::Value> &leaves) const;

  /// The whole as a summand of scores, for an attention of `element`; null
  /// when there is none.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Type element) const;
};
} // namespace fact

#endif // FACT_LIB_TRANSFORMS_MASKS_H
