//===- Demand.h - Which elements of a tensor are needed ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel has to read and to compute follows from what it stores, element
// by element, backwards through views, pointwise ops, rows and contractions.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_ANALYSIS_DEMAND_H
#define FACT_ANALYSIS_DEMAND_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// What `op` needs of each operand to make the elements `result` of its result:
/// no fewer elements than these. An op that does not implement
/// TensorOpInterface may need none.
llvm::SmallVector<ElementSets> getDemand(mlir::Operation *op,
                                         const ElementSets &result);

/// The elements of each value that are needed, found from users to definitions.
class DemandAnalysis {
public:
  /// All elements of `value` are needed. Views are passed through at once.
  void addWhole(mlir::Value value);
  void add(mlir::Value value, const ElementSets &sets);
  /// The same for a value that is in memory, whatever makes it.
  void addStored(mlir::Value value, const ElementSets &sets);

  /// Of a value that no view makes, or that is in memory.
  const ElementSets &get(mlir::Value value) { return demands[value]; }
  /// All of them, in the order in which they were first needed.
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }

private:
  llvm::SmallDenseMap<mlir::Value, ElementSets> demands;
  llvm::SmallVector<mlir::Value> values;
};
} // namespace fact

#endif // FACT_ANALYSIS_DEMAND_H
