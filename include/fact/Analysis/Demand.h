//===- Demand.h - Which elements of a tensor are needed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Propagates the elements that a kernel stores backwards through views,
// pointwise ops, rows and contractions, to those it has to compute and read.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_DEMAND_H
#define FACT_ANALYSIS_DEMAND_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// The elements of each operand that `op` needs for the elements `result` of
/// its result: a lower bound. Empty for an op without TensorOpInterface.
llvm::SmallVector<ElementSets> getDemand(mlir::Operation *op,
                                         const ElementSets &result);

/// The needed elements of each value, found from users to definitions.
class DemandAnalysis {
public:
  /// Marks all elements of `value` as needed. Looks through views at once.
  void addWhole(mlir::Value value);
  void add(mlir::Value value, const ElementSets &sets);
  /// The same for a value in memory: does not look through views.
  void addStored(mlir::Value value, const ElementSets &sets);

  /// The needed elements of a value that is not a view's result, or is in
  /// memory.
  const ElementSets &get(mlir::Value value) { return demands[value]; }
  /// All of them, in the order in which they were first needed.
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }

private:
  llvm::SmallDenseMap<mlir::Value, ElementSets> demands;
  llvm::SmallVector<mlir::Value> values;
};
} // namespace fact

#endif // FACT_ANALYSIS_DEMAND_H
