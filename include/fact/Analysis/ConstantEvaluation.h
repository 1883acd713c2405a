//===- ConstantEvaluation.h - Values known at compile time ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_CONSTANTEVALUATION_H
#define FACT_ANALYSIS_CONSTANTEVALUATION_H

#include "fact/Dialect/Fact/Fact.h"
#include "llvm/ADT/SetVector.h"

namespace fact {
/// The elements of a value that constants and weights with data determine.
struct KnownTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> elements;
  /// Weights whose data was read; using the result means baking them.
  llvm::SetVector<mlir::Operation *> weights;
};

/// Evaluates views, comparisons, selections, casts and sums over constants and
/// weights that carry data. Fails on anything else, and above `limit` elements.
mlir::FailureOr<KnownTensor> evaluateConstant(mlir::Value value,
                                              int64_t limit = 1 << 24);

/// The value if it is one known number everywhere (constants only, no weights).
std::optional<double> getSplatConstant(mlir::Value value);
} // namespace fact

#endif // FACT_ANALYSIS_CONSTANTEVALUATION_H
