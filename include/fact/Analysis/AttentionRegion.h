//===- AttentionRegion.h - Attention with the views around it ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_ATTENTIONREGION_H
#define FACT_ANALYSIS_ATTENTIONREGION_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Schedule.h"

namespace fact {
/// A region of views of arguments, one `fact.attention`, and views of its
/// result, as every target reads it. Queries, keys and values may lie in one
/// packed tensor, and heads may be permuted.
struct AttentionRegion {
  int64_t batches, heads, keyHeads, queries, keys;
  /// The size of a head of queries and keys, and of a head of values.
  int64_t headSize, valueSize;
  bool causal;
  /// Whether factors of f32 may be rounded to TF32.
  bool tf32;
  double scale;
  mlir::Type element;

  /// [batch, head, row, column] of arguments; query heads share the heads of
  /// keys and values in groups.
  StridedView query, key, value;
  /// [batch, head, query, key], with stride 0 where the mask repeats.
  std::optional<StridedView> mask;
  /// Where [batch, head, query, column] of the result lands in its buffer.
  StridedView destination;

  /// Query heads per head of keys and values.
  int64_t getGroup() const { return heads / keyHeads; }

  /// Reads a region, or says what stands in the way.
  static mlir::FailureOr<AttentionRegion> get(FusedOp fused,
                                              EmitError emitError);
};
} // namespace fact

#endif // FACT_ANALYSIS_ATTENTIONREGION_H
