//===- Problem.h - What a region asks of the registry -------------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_ANALYSIS_PROBLEM_H
#define FACT_ANALYSIS_PROBLEM_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Registry/Registry.h"

namespace fact {
/// The problem that a region is, as the registry knows it. `architecture` is
/// the machine's: "sm_90a", "host".
///
/// Extents follow from what the region is anchored at:
/// - an attention: batch, heads, kv_heads, queries, keys, head;
/// - a contraction: m, n, k, batch, tensors, where batches that share the rhs
///   are rows of m, and n counts the columns of all results of a grouped GEMM;
/// - a norm, a softmax or a reduction: rows, columns, tensors;
/// - none of these: elements (of the largest result), tensors.
/// `tensors` says how much it reads and writes beside the factors of a
/// contraction, in multiples of the anchor's size: 2 for a residual.
///
/// `ops` are the ops in order, without constants. Views are left out, all of
/// them where there is a contraction, which reads through them, else reshapes.
///
/// Without extents when a shape is not static; such a problem matches nothing.
patterns::Problem getProblem(FusedOp fused, llvm::StringRef architecture);
} // namespace fact

#endif // FACT_ANALYSIS_PROBLEM_H
