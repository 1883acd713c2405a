//===- GemmPlan.h - Products of one lhs on packed panels --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_GEMMPLAN_H
#define FACT_LIB_TARGET_HOST_GEMMPLAN_H

#include "HostPlan.h"
#include "fact/Analysis/Bands.h"
#include "fact/Analysis/ContractionRegion.h"

namespace fact::host {
/// One or more matmuls of one lhs, the pointwise ops on their products, and
/// reductions of their values, without the schedule.
struct GemmPlan {
  int64_t k;
  Type storage, compute;
  /// Products that have an rhs each; 1 where batches are rows.
  int64_t batches;
  /// Rows of the results over all batches, and of one batch.
  int64_t rows, batchRows;
  /// A by (row, k), or windows.
  RowView a;
  std::optional<WindowedView> windows;

  /// B by (batch and column, k).
  struct Product {
    mutable MatmulOp matmul;
    int64_t n;
    RowView b;
  };
  llvm::SmallVector<Product> products;
  /// Of the only product, within a batch; unbounded where there are several.
  ProductBands bands;

  /// The numbers of the operands that `pack` packs, ascending; empty when each
  /// tile packs its own panels.
  llvm::SmallVector<unsigned> packedOperands;

  /// A reduction over rows (the columns of the products) or over columns.
  struct Reduction {
    mutable ReduceOp op;
    bool ofRows;
    RowElements input;
  };

  using Form = ContractionRegion::Form;
  struct Result {
    unsigned number;
    Form form;
    RowElements elements;
    RowView destination;
  };

  /// Products of one width that results combine, with the values computed from
  /// them.
  struct Segment {
    int64_t n;
    llvm::SmallVector<unsigned> products;
    std::vector<Reduction> reductions;
    std::vector<Result> results;
  };
  std::vector<Segment> segments;

  static mlir::FailureOr<GemmPlan>
  get(FusedOp fused, ContractionRegion::Kind kind, EmitError emitError);

  /// The columns of all segments, and the largest number of products in one.
  int64_t getColumns() const;
  int64_t getMostProducts() const;
  /// Whether the rhs may be read in place, row by row, for all rows of the lhs
  /// at once.
  bool canStream() const;
  /// Whether tiles may pack blocks of the rhs when they come to them.
  bool canBlock() const;
  /// Whether tiles may read windows from copies of parts of their images.
  bool canReadWindows() const;
  bool hasReductions(bool ofRows) const;
  /// The share of a product's terms that register tiles of these extents
  /// multiply: not those that are 0 or not used.
  double getMultipliedShare(const Extents &micro) const;

  /// The depth of a block of K, such that a block of `columns` of B takes half
  /// of the first cache, and the length of a chain: how many terms of a block
  /// registers add up before the sum in memory. Shorter chains round less, and
  /// each costs an addition in memory.
  int64_t getLongestChain() const;
  std::pair<int64_t, int64_t> chooseBlocks(const Cpu &cpu,
                                           int64_t columns) const;
};

/// The sizes of a `HostGemmAttr`, a `HostBlockedAttr` or a `HostWindowsAttr`.
struct GemmSizes {
  Extents micro;
  int64_t rows, columns;

  static GemmSizes get(ScheduleAttr schedule);
};

/// The windows of one image that a tile of a `HostWindowsAttr` has, and the
/// part of the image that they see, which the tile copies some channels at a
/// time.
struct WindowBox {
  /// Of each dimension: windows of a box, boxes of an image, and pixels that a
  /// box sees.
  llvm::SmallVector<int64_t> spans, boxes, pixels;

  static WindowBox get(const WindowedView &of, const GemmSizes &sizes);
  int64_t getRows() const { return llvm::product_of(spans); }
};

/// Writes `tile`, and `pack` where operands are packed. The schedule is a
/// `HostGemmAttr`, a `HostBlockedAttr` or a `HostStreamAttr`.
void buildGemm(KernelBuilder &b, const GemmPlan &plan, ScheduleAttr schedule);
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_GEMMPLAN_H
