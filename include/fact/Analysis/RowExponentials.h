//===- RowExponentials.h - Sums of exponentials of rows ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_ROWEXPONENTIALS_H
#define FACT_ANALYSIS_ROWEXPONENTIALS_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// A sum of exponentials against the maximum of the same elements, as in
/// logsumexp and log_softmax: sum(exp(x - max(x))). Read element by element, it
/// is one reduction, of log(exp(a) + exp(b)), and needs no second pass.
struct RowExponentials {
  mutable ReduceOp maximum, sum;
  /// The value of which both are taken.
  mlir::Value value;
  /// Whether an infinite maximum counts as 0, as in logsumexp.
  bool isGuarded = false;
  /// All ops from the maximum to the sum, in order.
  llvm::SmallVector<mlir::Operation *> ops;

  static std::optional<RowExponentials> get(ReduceOp sum);
};
} // namespace fact

#endif // FACT_ANALYSIS_ROWEXPONENTIALS_H
