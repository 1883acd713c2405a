//===- GemmBuilder.h - Matrix products on packed panels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_GEMMBUILDER_H
#define FACT_LIB_TARGET_HOST_GEMMBUILDER_H

#include "GemmPlan.h"

namespace fact::host {
/// The rows and the panel of one register tile.
struct Position {
  /// The rows that are packed together, and the register tile's first row. Of
  /// windows that are read from copies, the rows are those of one line, and the
  /// first one is as far before `row` as its partial results are behind the
  /// tile's first.
  Value firstRow, rowEnd, row;
  /// The panel's number within the segment, and within the tile.
  Value panel, tilePanel;
  /// The offset of the sums of the segment's products, one after the other.
  Value sums;
};

/// Writes one kernel with one schedule. Its epilogue is in GemmEpilogue.cpp.
class GemmBuilder {
public:
  GemmBuilder(KernelBuilder &b, const GemmPlan &plan, ScheduleAttr schedule);

  void build() {
    if (packsBefore())
      buildPack();
    buildTile();
  }

private:
  using Segment = GemmPlan::Segment;

  /// A segment's panels among all panels, and its first unit. A unit is the
  /// packed panel of one product.
  struct Range {
    int64_t firstPanel, panels, firstUnit;
  };
  /// Whether `pack` packs B, and not each tile.
  bool packsBefore() const {
    return !streams && !blocks && !plan.packedOperands.empty();
  }
  int64_t unitElements() const { return (blocks ? depth : plan.k) * nr; }
  bool isBlocked() const { return depth < plan.k; }
  int64_t sumsElements() const { return mostProducts * mr * nr; }

  /// Terms of all sums, or of a block of them.
  struct Terms {
    Value from, to;
  };
  Terms getAllTerms() const { return {b.integer(0), b.integer(plan.k)}; }
  /// Rows of all batches, and columns, [begin, end).
  struct Area {
    Value row, rowEnd, column, columnEnd;
  };
  /// The terms of a block that sums of an area need: none where `to` is not
  /// more than `from`. What bands leave out is 0 or not used.
  Terms getTerms(const Area &area, const Terms &block);
  /// Runs `body` if an area needs terms of a block.
  void ifAny(const Area &area, const Terms &block,
             llvm::function_ref<void()> body);
  /// Packs a panel of one batch of a product's B.
  void packPanel(const GemmPlan::Product &product, Value batch, Value panel,
                 const Terms &terms, Value target, Value targetOffset);
  /// Packs panels [first, end) of a segment's only product, one after the
  /// other.
  void packPanels(const GemmPlan::Product &product, Value batch, Value first,
                  Value end, const Terms &terms, Value target,
                  Value targetOffset);
  void packRows(Value firstRow, Value rowEnd, Value from, Value to);
  void packWindows(Value firstRow, Value rowEnd, Value from, Value to);
  void packGroup(const PackedLines &lines, Value from, Value to, Value offset,
                 Value count, int64_t distance);
  static int64_t getDistance(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> strides);
  void buildPack();
  void packForTile(Value batch);
  void buildTile();
  /// Begins a tile of some panels of a batch. Returns its number among the
  /// `rowTiles` of the batch that have those panels.
  Value beginTile(int64_t rowTiles);
  void buildRows(Value firstRow, Value rowEnd);
  /// Calls `body(panel)` for the tile's panels of a segment, numbered within
  /// the segment.
  void forPanels(size_t segment, llvm::function_ref<void(Value)> body);
  void buildMicroTile(size_t segment, const Position &at, Value from, Value to);
  /// The same for a product whose rhs is read in place. In GemmStream.cpp.
  void stream(const Segment &segment, const Position &at, Value from, Value to);
  void streamRows(Value base, Value count, Value from, Value k, int64_t rows);
  void addChains(const Position &at, Value count, Value isFirst);
  /// The same for windows that are read from copies. In GemmWindows.cpp.
  struct BoxOfWindows;
  void planWindows(const GemmSizes &sizes);
  void buildWindows(Value boxIndex);
  void copyPixels(const BoxOfWindows &of);
  void forWindows(const BoxOfWindows &of,
                  llvm::function_ref<void(Value row, Value rowEnd, Value tile,
                                          Value offsetA)>
                      body);
  void multiplyWindows(size_t segment, const BoxOfWindows &of,
                       const Position &at, Value offsetA);
  llvm::SmallVector<Value> multiplyTaps(const BoxOfWindows &of, Value offsetA,
                                        Value offsetB, Value from, Value to);
  /// The offset of the first packed unit of a panel.
  Value getUnitOffset(size_t segment, const Position &at);
  void multiply(Value sums, Value offsetA, Value offsetB, const Terms &terms);
  /// The sums of some terms of a register tile, by row and vector.
  llvm::SmallVector<Value> multiplyTerms(Value offsetA, Value offsetB,
                                         Value from, Value to);
  void multiplyChain(Value sums, Value offsetA, Value offsetB, Value from,
                     Value to);

  void buildEpilogue(const Segment &segment, const Position &at);
  /// Whether register tiles that are whole become results without memory
  /// between: their sums are one chain, and little is computed from them.
  bool writesRegisters(const Segment &segment) const;
  /// Whether the results have all rows and columns of a register tile.
  Value isWhole(const Segment &segment, const Position &at);
  void writeRegisters(const Segment &segment, ValueRange products,
                      const Position &at);
  /// The end of a register tile whose sums are all in registers.
  void finishRegisters(const Segment &segment, ValueRange products,
                       const Position &at);
  /// Stores or adds the vectors of a register tile to its sums in memory.
  void addToSums(ValueRange products, Value offset, bool isFirst);
  /// The same for a chain that begins with term, or with channel and tap,
  /// `from`.
  void addChain(ValueRange products, Value offset, Value from);
  /// The vectors of row k of a packed panel.
  llvm::SmallVector<Value> readPacked(Value offsetB, Value k);
  void writeFull(const Segment &segment, const GemmPlan::Result &result,
                 const Position &at);
  /// How many rows of a register tile are stored at once because they have
  /// elements beside each other in memory, where columns have not; otherwise 1.
  int64_t getRowsTogether(const GemmPlan::Result &result) const;
  /// Whether `count` rows are in one piece of a result that is written so: null
  /// if all are.
  Value areTogether(const GemmPlan::Result &result, Value row, int64_t count);
  /// Writes `width` columns, column by column, of so many rows; `rows` gives
  /// the vectors of an anchor.
  void
  storeColumns(const GemmPlan::Result &result, Value row, Value column,
               int64_t width, int64_t together,
               llvm::function_ref<llvm::SmallVector<Value>(Value anchor)> rows);
  /// Calls `body(column, width)` for a panel's columns, numbered within the
  /// panel.
  void forColumns(const Segment &segment, Value panel,
                  llvm::function_ref<void(Value, int64_t)> body);
  Value readSums(const Segment &segment, Value anchor, const Position &at,
                 Value row, Value column, int64_t width);
  Value reducedElement(const Segment &segment,
                       const GemmPlan::Reduction &reduction, const Position &at,
                       Value row, Value column, int64_t width);

  void beginReductions();
  void reduceRows(const Segment &segment, const GemmPlan::Reduction &reduction,
                  Value partial, const Position &at);
  void reduceColumns(const Segment &segment,
                     const GemmPlan::Reduction &reduction, Value partial,
                     const Position &at);
  /// Writes what rows [from, to) are reduced to; the partial results begin with
  /// those of `firstRow`.
  void writeRows(Value firstRow, Value from, Value to);
  void writeColumns();
  Value finishReduction(ReduceOp op, Value offset, int64_t slotStride);
  /// Calls `body(store)`, where `store` writes columns of one row of a result.
  using Store = llvm::function_ref<void(Value column, int64_t width,
                                        llvm::function_ref<Value(Value)>)>;
  void storeRow(const GemmPlan::Result &result, Value row,
                llvm::function_ref<void(Store)> body);

  KernelBuilder &b;
  const GemmPlan &plan;
  /// Whether the rhs is read in place, or packed block by block; whether
  /// windows are read from copies.
  bool streams, blocks, copies;
  /// Rows and columns of the register tile, or of a tile that streams, and
  /// lanes of its vectors.
  int64_t mr, nr, lanes;
  /// The largest number of products in a segment.
  int64_t mostProducts;
  /// Terms per block of K, and terms of a block that registers add up.
  int64_t depth, chain;
  /// Panels and units of all segments.
  int64_t panels, units;
  /// Rows and panels per tile.
  int64_t tileRows, tilePanels;
  llvm::SmallVector<Range> ranges;
  bool reducesRows, reducesColumns;

  /// Partial results per reduced element, which register tiles take in turn:
  /// the rounding error of a sum grows with its longest chain of additions.
  static constexpr int64_t slots = 8;

  // Values of the function that is being written.
  Value batch, firstPanel, panelEnd, packedB, firstOffset, packedA, sums;
  /// Of a tile that streams: the sums of the block of K.
  Value chains;
  /// Of a tile that copies parts of images: of each pixel so many channels at a
  /// time, to places so far apart, and the taps of a chain.
  WindowBox box;
  int64_t boxChannels, chainTaps, channelStride;
  llvm::SmallVector<int64_t> pixelStrides;
  /// The memory of partial results, by the result of the reduction.
  llvm::DenseMap<Value, Value> partials;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_GEMMBUILDER_H
