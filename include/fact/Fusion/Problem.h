//===- Problem.h - The registry's problem for a region ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_FUSION_PROBLEM_H
#define FACT_FUSION_PROBLEM_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Registry/Registry.h"

namespace fact {
/// The registry's problem for a region. `architecture` is the machine's:
/// "sm_90a", "host".
///
/// The anchor of the region determines the extents:
/// - an attention: batch, heads, kv_heads, queries, keys, head;
/// - a contraction: m, n, k, batch, tensors, where batches that share the rhs
///   are rows of m, and n counts the columns of all results of a grouped GEMM;
/// - a norm, a softmax or a reduction: rows, columns, tensors;
/// - none of these: elements (of the largest result), tensors.
/// `tensors` is the traffic beside the factors of a contraction, in multiples
/// of the anchor's size: 2 with a residual.
///
/// `ops` lists the ops in order, without constants and reshapes. With a
/// contraction, which reads through views, it has no views at all.
///
/// A region with a dynamic shape has no extents, and matches nothing.
patterns::Problem getProblem(FusedOp fused, llvm::StringRef architecture);
} // namespace fact

#endif // FACT_FUSION_PROBLEM_H
