//===- GemmPlan.h - A region as products of one lhs ---------------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_LIB_TARGET_HOST_GEMMPLAN_H
#define FACT_LIB_TARGET_HOST_GEMMPLAN_H

#include "HostPlan.h"

namespace fact::host {
/// One or more matmuls of one lhs, the pointwise ops on their products, and
/// reductions of what those give: everything but the schedule.
struct GemmPlan {
  int64_t m, k;
  Type storage, compute;
  /// Products that share nothing: 1 when no right side has batches, since then
  /// batches are rows.
  int64_t batches;
  /// Rows of the results over all batches, and of one batch.
  int64_t rows, batchRows;
  /// A by (row, k).
  RowView a;

  /// B by (batch and column, k).
  struct Product {
    MatmulOp matmul;
    RowView b;
  };
  llvm::SmallVector<Product> products;

  /// The right sides that `pack` packs, ascending; empty when tiles pack for
  /// themselves.
  llvm::SmallVector<unsigned> packedOperands;

  /// A reduction of rows (over the columns of the products) or of columns.
  struct Reduction {
    ReduceOp op;
    bool ofRows;
    RowElements input;
  };

  /// One element for each of the products, each row, or each column.
  enum class Form { Full, PerRow, PerColumn };
  struct Result {
    unsigned number;
    Form form;
    RowElements elements;
    RowView destination;
  };

  /// Products of one width that results combine, and all that is made of them.
  struct Segment {
    int64_t n;
    llvm::SmallVector<unsigned> products;
    std::vector<Reduction> reductions;
    std::vector<Result> results;
  };
  std::vector<Segment> segments;

  static mlir::FailureOr<GemmPlan> get(FusedOp fused, EmitError emitError);

  /// Columns of all segments, and the products of the segment with the most.
  int64_t getColumns() const;
  int64_t getMostProducts() const;
  bool hasReductions(bool ofRows) const;

  /// How much of K one block takes, such that what `columns` of B have there
  /// takes half of the first cache; and how many products of a block registers
  /// add one after the other. Shorter chains lose less, and each costs an
  /// addition in memory.
  std::pair<int64_t, int64_t> chooseBlocks(const Cpu &cpu,
                                           int64_t columns) const;
};

/// Writes `tile`, and `pack` where there is something to pack.
void buildGemm(KernelBuilder &b, const GemmPlan &plan, HostGemmAttr schedule);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_GEMMPLAN_H
