//===- ElementOracle.h - Demand, element by element -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TEST_UNIT_ANALYSIS_ELEMENTORACLE_H
#define FACT_TEST_UNIT_ANALYSIS_ELEMENTORACLE_H

#include "fact/Dialect/Fact/Fact.h"
#include <map>
#include <vector>

namespace fact::test {
/// Marks every element that a region needs, one by one, without a notion of
/// sets, boxes or strides.
class ElementOracle {
public:
  explicit ElementOracle(FusedOp fused);

  /// Bytes that are read and written.
  double bytes = 0;
  /// One for each element of a pointwise op that is needed, and of what a row
  /// op reads.
  double scalarFlops = 0;
  /// Two for each multiplication and addition.
  double matrixFlops = 0;

private:
  using Index = std::vector<int64_t>;
  void mark(mlir::Value value, const Index &index);
  /// Marks `value`, which broadcasts to where `index` is.
  void markBroadcast(mlir::Value value, const Index &index);
  void visit(mlir::Operation *op, const Index &index);
  void visitMatmul(MatmulOp op, const Index &index);
  void visitAttention(AttentionOp op, const Index &index);

  std::map<void *, std::vector<bool>> marks;
  /// Pairs of a row and a key, of an attention op.
  std::map<Index, bool> scores;
};
} // namespace fact::test

#endif // FACT_TEST_UNIT_ANALYSIS_ELEMENTORACLE_H
