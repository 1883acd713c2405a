//===- GemmBuilder.cpp - Matrix products on packed panels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// B is packed once in panels of as many columns as the register tile has (by
// the runtime, through `pack`); the rows of A that a tile needs are packed by
// the tile itself. Packing also converts to f32, applies views and transposes,
// and fills up rows and columns with copies of the last, so that the inner loop
// has one form. A long K is taken in blocks, so that what a register tile reads
// stays in the first cache; sums wait in memory of the tile in between. Blocks
// are taken in chains, which start from zero registers and are added to those
// sums: rounding errors grow with the longest chain of additions. After the
// last block the epilogue applies the pointwise ops to vectors and stores what
// is inside the result.
//
// Products that results combine are packed side by side, a panel of each in
// turn, and the register tiles of all of them are done before their epilogue.
// Products that results read apart have their panels one after the other.
//
//===----------------------------------------------------------------------===//

#include "GemmPlan.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>
#include <tuple>

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
/// How a reduction combines two elements, or the lanes of a vector.
struct Combiner {
  double identity;
  vector::CombiningKind kind;

  static Combiner get(ReduceKind kind) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (kind) {
    case ReduceKind::max:
      return {-infinity, vector::CombiningKind::MAXIMUMF};
    case ReduceKind::min:
      return {infinity, vector::CombiningKind::MINIMUMF};
    case ReduceKind::prod:
      return {1, vector::CombiningKind::MUL};
    default:
      return {0, vector::CombiningKind::ADD};
    }
  }
  Value combine(KernelBuilder &b, Value x, Value y) const {
    return vector::makeArithReduction(b, b.getLoc(), kind, x, y);
  }
  Value combineLanes(KernelBuilder &b, Value x) const {
    return vector::ReductionOp::create(b, kind, x,
                                       arith::FastMathFlags::reassoc);
  }
};

/// Where one register tile is: its rows, its panel and its columns.
struct Position {
  /// The rows that are packed together, and the first of the register tile.
  Value firstRow, rowEnd, row;
  /// The panel within the segment, and within what the tile owns.
  Value panel, tilePanel;
  /// The sums of the segment's products, one after the other.
  Value sums;
};

/// Writes one kernel with one schedule.
class GemmBuilder {
public:
  GemmBuilder(KernelBuilder &b, const GemmPlan &plan, HostGemmAttr schedule);

  void build() {
    if (!plan.packedOperands.empty())
      buildPack();
    buildTile();
  }

private:
  using Segment = GemmPlan::Segment;

  /// Panels of a segment among all, and packed panels of one product.
  struct Range {
    int64_t firstPanel, panels, firstUnit;
  };
  int64_t unitElements() const { return plan.k * nr; }
  bool isBlocked() const { return depth < plan.k; }
  int64_t sumsElements() const { return mostProducts * mr * nr; }

  /// Panel `panel` of `batch` of a product's B to `target`.
  void packPanel(const GemmPlan::Product &product, Value batch, Value panel,
                 Value target, Value targetOffset);
  void packRows(Value firstRow, Value rowEnd, Value from, Value to);
  void buildPack();
  void packForTile(Value batch);
  void buildTile();
  void buildRows(Value firstRow, Value rowEnd);
  /// `body(panel within the segment)` for the tile's panels of a segment.
  void forPanels(size_t segment, llvm::function_ref<void(Value)> body);
  void buildMicroTile(size_t segment, const Position &at, Value from, Value to);
  void multiply(Value sums, Value offsetA, Value offsetB, Value from, Value to);
  void multiplyChain(Value sums, Value offsetA, Value offsetB, Value from,
                     Value to);

  void buildEpilogue(const Segment &segment, const Position &at);
  void writeFull(const Segment &segment, const GemmPlan::Result &result,
                 const Position &at);
  /// `body(column within the panel, width)` for a panel's columns.
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
  void writeRows(Value firstRow, Value rowEnd);
  void writeColumns();
  Value finishReduction(ReduceOp op, Value offset, int64_t slotStride);
  /// `body(store)` with a function that stores columns of one row of a result.
  using Store = llvm::function_ref<void(Value column, int64_t width,
                                        llvm::function_ref<Value(Value)>)>;
  void storeRow(const GemmPlan::Result &result, Value row,
                llvm::function_ref<void(Store)> body);

  KernelBuilder &b;
  const GemmPlan &plan;
  /// `depth` is how much of K one block takes, and `chain` how much of a block
  /// registers sum up.
  int64_t mr, nr, lanes, mostProducts, depth, chain, panels, units, tileRows,
      tilePanels;
  SmallVector<Range> ranges;
  bool reducesRows, reducesColumns;

  /// Reductions have so many partial results for each element, which register
  /// tiles take in turn: errors of a sum grow with its longest chain.
  static constexpr int64_t slots = 8;

  // Of the function that is being written.
  Value firstPanel, panelEnd, packedB, firstOffset, packedA, sums;
  /// What reductions have so far, by the op's result.
  DenseMap<Value, Value> partials;
};
} // namespace

GemmBuilder::GemmBuilder(KernelBuilder &b, const GemmPlan &plan,
                         HostGemmAttr schedule)
    : b(b), plan(plan), mr(schedule.getMicro()[0]), nr(schedule.getMicro()[1]),
      mostProducts(plan.getMostProducts()), panels(0), units(0),
      reducesRows(plan.hasReductions(true)),
      reducesColumns(plan.hasReductions(false)) {
  // Vectors of the register's size, or of what divides the micro tile.
  lanes = b.getRegisterLanes(plan.compute);
  while (nr % lanes)
    lanes /= 2;
  std::tie(depth, chain) = plan.chooseBlocks(b.getCpu(), nr * mostProducts);
  for (const Segment &segment : plan.segments) {
    int64_t count = ceilDivide(segment.n, nr);
    ranges.push_back({panels, count, units});
    panels += count;
    units += count * segment.products.size();
  }
  tileRows = std::min(schedule.getRows(), ceilDivide(plan.batchRows, mr) * mr);
  // A row that is reduced lies in one tile.
  tilePanels =
      reducesRows ? panels : std::min(schedule.getColumns() / nr, panels);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

void GemmBuilder::packPanel(const GemmPlan::Product &product, Value batch,
                            Value panel, Value target, Value targetOffset) {
  // A panel stays inside one batch, so its columns are at one stride.
  int64_t n = MatmulOp(product.matmul).getN();
  Value source = b.getPointer(product.b.base);
  Value first = b.mul(panel, nr);
  Value base = b.rowOffset(product.b, b.mul(batch, n));
  int64_t stride = product.b.rowStrides.back();
  PackedLines lines{source, plan.storage, {}, product.b.columnStride};
  for (int64_t j = 0; j < nr; ++j)
    lines.offsets.push_back(
        b.add(base, b.mul(b.min(b.add(first, j), n - 1), stride)));
  Value none = b.integer(0), end = b.integer(plan.k);
  // Neighbouring columns are copied as they lie.
  if (stride == 1 && lines.stride != 1) {
    Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        b.add(first, nr), b.integer(n));
    b.ifThen(
        whole,
        [&] {
          b.loop(none, end, 1, [&](Value k) {
            Value from = b.add(lines.offsets.front(), b.mul(k, lines.stride));
            Value to = b.add(targetOffset, b.mul(k, nr));
            for (int64_t j = 0; j < nr; j += lanes)
              b.store(b.load(source, plan.storage, b.add(from, j), lanes),
                      target, plan.compute, b.add(to, j));
          });
        },
        [&] { packLines(b, lines, none, end, target, targetOffset); });
    return;
  }
  packLines(b, lines, none, end, target, targetOffset);
}

void GemmBuilder::buildPack() {
  KernelLayout &layout = b.getLayout();
  layout.packedOperand = plan.packedOperands.front();
  for (unsigned operand : ArrayRef(plan.packedOperands).drop_front())
    layout.packedWith |= 1u << operand;
  layout.packTiles = plan.batches * units;
  layout.packedBytes =
      layout.packTiles * unitElements() * getStorageBytes(plan.compute);
  auto [index, packed] = b.beginPack();
  Value target = packed;
  Value batch = b.div(index, units), unit = b.rem(index, units);
  Value offset = b.mul(index, unitElements());
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    const Range &range = ranges[s];
    ArrayRef<unsigned> products = plan.segments[s].products;
    int64_t count = products.size();
    Value local = b.add(unit, -range.firstUnit);
    Value panel = b.div(local, count);
    auto pack = [&] {
      for (int64_t i = 0; i < count; ++i) {
        auto packOne = [&] {
          packPanel(plan.products[products[i]], batch, panel, target, offset);
        };
        if (count == 1)
          return packOne();
        Value turn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                           b.rem(local, count), b.integer(i));
        b.ifThen(turn, packOne);
      }
    };
    if (plan.segments.size() == 1) {
      pack();
      continue;
    }
    // Unsigned: what lies before the segment is far behind it.
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, local,
                                         b.integer(range.panels * count));
    b.ifThen(inside, pack);
  }
  b.endFunction();
}

/// Rows of A in groups of the micro tile's: element (k, i) of group g at
/// `g * mr * depth + (k - from) * mr + i`. Missing rows repeat the last one;
/// what comes of them is not stored.
void GemmBuilder::packRows(Value firstRow, Value rowEnd, Value from, Value to) {
  Value source = b.getPointer(plan.a.base);
  Value lastRow = b.add(rowEnd, -1);
  b.loop(firstRow, rowEnd, mr, [&](Value row) {
    PackedLines lines{source, plan.storage, {}, plan.a.columnStride};
    for (int64_t i = 0; i < mr; ++i)
      lines.offsets.push_back(
          b.rowOffset(plan.a, b.min(b.add(row, i), lastRow)));
    packLines(b, lines, from, to, packedA, b.mul(b.sub(row, firstRow), depth));
  });
}

/// The tile's panels, where nobody packed them before.
void GemmBuilder::packForTile(Value batch) {
  packedB = b.scratch(plan.compute, tilePanels * mostProducts * unitElements());
  for (size_t s = 0; s < plan.segments.size(); ++s)
    forPanels(s, [&](Value panel) {
      Value at = b.mul(b.sub(b.add(panel, ranges[s].firstPanel), firstPanel),
                       mostProducts);
      for (auto [i, number] : llvm::enumerate(plan.segments[s].products))
        packPanel(plan.products[number], batch, panel, packedB,
                  b.mul(b.add(at, i), unitElements()));
    });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void GemmBuilder::forPanels(size_t segment,
                            llvm::function_ref<void(Value)> body) {
  if (plan.segments.size() == 1)
    return b.loop(firstPanel, panelEnd, 1, body);
  const Range &range = ranges[segment];
  Value from = b.max(b.add(firstPanel, -range.firstPanel), 0);
  Value to = b.min(b.add(panelEnd, -range.firstPanel), range.panels);
  b.loop(from, to, 1, body);
}

void GemmBuilder::buildTile() {
  int64_t rowTiles = reducesColumns ? 1 : ceilDivide(plan.batchRows, tileRows);
  int64_t panelTiles = ceilDivide(panels, tilePanels);
  b.getLayout().tiles = plan.batches * panelTiles * rowTiles;

  // Neighbouring tiles share panels of B.
  Value index = b.beginTile();
  Value rowTile = b.rem(index, rowTiles);
  Value panelTile = b.rem(b.div(index, rowTiles), panelTiles);
  Value batch = b.div(index, rowTiles * panelTiles);
  Value batchRow = b.mul(batch, plan.batchRows);
  Value batchEnd = b.add(batchRow, plan.batchRows);
  firstPanel = b.mul(panelTile, tilePanels);
  panelEnd = b.min(b.add(firstPanel, tilePanels), panels);
  if (plan.packedOperands.empty()) {
    packForTile(batch);
  } else {
    // The first of the packed operands gives its place.
    packedB = b.getPointer(
        b.getFused().getBody().getArgument(plan.packedOperands.front()));
    firstOffset = b.mul(batch, units * unitElements());
  }
  packedA = b.scratch(plan.compute, tileRows * depth);
  int64_t microTiles = isBlocked() ? tileRows / mr * tilePanels : 1;
  sums = b.scratch(plan.compute, microTiles * sumsElements());

  beginReductions();
  if (reducesColumns) {
    // A column that is reduced lies in one tile.
    b.loop(batchRow, batchEnd, tileRows, [&](Value firstRow) {
      buildRows(firstRow, b.min(b.add(firstRow, tileRows), batchEnd));
    });
    writeColumns();
  } else {
    Value firstRow = b.add(batchRow, b.mul(rowTile, tileRows));
    Value rowEnd = b.min(b.add(firstRow, tileRows), batchEnd);
    buildRows(firstRow, rowEnd);
    writeRows(firstRow, rowEnd);
  }
  b.endFunction();
}

/// All of the tile's panels for some rows.
void GemmBuilder::buildRows(Value firstRow, Value rowEnd) {
  b.loop(b.integer(0), b.integer(plan.k), depth, [&](Value from) {
    Value to = b.min(b.add(from, depth), plan.k);
    packRows(firstRow, rowEnd, from, to);
    for (size_t s = 0; s < plan.segments.size(); ++s)
      forPanels(s, [&](Value panel) {
        Value tilePanel = b.sub(b.add(panel, ranges[s].firstPanel), firstPanel);
        b.loop(firstRow, rowEnd, mr, [&](Value row) {
          Value offset = b.integer(0);
          if (isBlocked())
            offset =
                b.mul(b.add(b.mul(tilePanel, tileRows), b.sub(row, firstRow)),
                      nr * mostProducts);
          buildMicroTile(s, {firstRow, rowEnd, row, panel, tilePanel, offset},
                         from, to);
        });
      });
  });
}

/// One block of K for one register tile of each product, and after the last
/// block the epilogue.
void GemmBuilder::buildMicroTile(size_t s, const Position &at, Value from,
                                 Value to) {
  const Segment &segment = plan.segments[s];
  int64_t count = segment.products.size();
  Value unit = plan.packedOperands.empty()
                   ? b.mul(at.tilePanel, mostProducts)
                   : b.add(b.mul(at.panel, count), ranges[s].firstUnit);
  Value offsetB = b.mul(unit, unitElements());
  if (firstOffset)
    offsetB = b.add(firstOffset, offsetB);
  Value offsetA = b.mul(b.sub(at.row, at.firstRow), depth);
  for (int64_t i = 0; i < count; ++i)
    multiply(b.add(at.sums, i * mr * nr), offsetA,
             b.add(offsetB, i * unitElements()), from, to);
  auto finish = [&] { buildEpilogue(segment, at); };
  if (!isBlocked())
    return finish();
  Value last =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, to, b.integer(plan.k));
  b.ifThen(last, finish);
}

/// One block of K for one register tile of one product, chain by chain.
void GemmBuilder::multiply(Value sumsOffset, Value offsetA, Value offsetB,
                           Value from, Value to) {
  if (chain == plan.k)
    return multiplyChain(sumsOffset, offsetA, offsetB, from, to);
  b.loop(from, to, chain, [&](Value first) {
    Value offset = b.add(offsetA, b.mul(b.sub(first, from), mr));
    Value end = b.add(first, chain);
    // Chains of one length need no loop for what is left.
    if (plan.k % chain || depth % chain)
      end = b.min(end, to);
    multiplyChain(sumsOffset, offset, offsetB, first, end);
  });
}

void GemmBuilder::multiplyChain(Value sumsOffset, Value offsetA, Value offsetB,
                                Value from, Value to) {
  MicroTile micro{mr, nr / lanes, lanes, /*strideA=*/mr};
  SmallVector<Value> zeros(mr * micro.vectors,
                           b.constant(0, b.withWidth(plan.compute, lanes)));
  SmallVector<Value> products = buildMicroKernel(
      b, micro, plan.compute, packedA, offsetA, from, to,
      std::min<int64_t>(chain, 4), zeros, [&](Value k) {
        SmallVector<Value> vectors;
        Value offset = b.add(offsetB, b.mul(k, nr));
        for (int64_t j = 0; j < micro.vectors; ++j)
          vectors.push_back(
              b.load(packedB, plan.compute, b.add(offset, j * lanes), lanes));
        return vectors;
      });
  auto write = [&](bool isFirst) {
    for (auto [i, value] : llvm::enumerate(products)) {
      Value at = b.add(sumsOffset, i * lanes), sum = value;
      if (!isFirst)
        sum = arith::AddFOp::create(b, b.load(sums, plan.compute, at, lanes),
                                    sum);
      b.store(sum, sums, plan.compute, at);
    }
  };
  if (chain == plan.k)
    return write(/*isFirst=*/true);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, b.integer(0));
  b.ifThen(
      isFirst, [&] { write(/*isFirst=*/true); },
      [&] { write(/*isFirst=*/false); });
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

void GemmBuilder::buildEpilogue(const Segment &segment, const Position &at) {
  for (const GemmPlan::Result &result : segment.results)
    if (result.form == GemmPlan::Form::Full)
      writeFull(segment, result, at);
  for (const GemmPlan::Reduction &reduction : segment.reductions) {
    Value partial = partials.lookup(ReduceOp(reduction.op).getResult());
    if (reduction.ofRows)
      reduceRows(segment, reduction, partial, at);
    else
      reduceColumns(segment, reduction, partial, at);
  }
}

void GemmBuilder::forColumns(const Segment &segment, Value panel,
                             llvm::function_ref<void(Value, int64_t)> body) {
  Value count = b.min(b.sub(b.integer(segment.n), b.mul(panel, nr)), nr);
  if (segment.n % lanes == 0)
    b.loop(b.integer(0), count, lanes, [&](Value j) { body(j, lanes); });
  else
    b.columns(b.integer(0), count, lanes, body);
}

Value GemmBuilder::readSums(const Segment &segment, Value anchor,
                            const Position &at, Value row, Value column,
                            int64_t width) {
  int64_t place = 0;
  for (auto [i, number] : llvm::enumerate(segment.products))
    if (MatmulOp(plan.products[number].matmul).getResult() == anchor)
      place = i;
  Value offset = b.add(at.sums, place * mr * nr);
  return b.load(sums, plan.compute,
                b.add(offset, b.add(b.mul(row, nr), column)), width);
}

void GemmBuilder::storeRow(const GemmPlan::Result &result, Value row,
                           llvm::function_ref<void(Store)> body) {
  FusedOp fused = b.getFused();
  Type storage =
      cast<RankedTensorType>(fused->getResult(result.number).getType())
          .getElementType();
  SmallVector<Value> offsets = result.elements.rowOffsets(b, row);
  Value target = b.rowOffset(result.destination, row);
  int64_t stride = result.destination.columnStride;
  body([&](Value column, int64_t width,
           llvm::function_ref<Value(Value)> anchor) {
    Value value = result.elements.build(b, offsets, column, width, anchor);
    b.store(value, b.getResultPointer(result.number), storage,
            b.add(target, b.mul(column, stride)), stride);
  });
}

void GemmBuilder::writeFull(const Segment &segment,
                            const GemmPlan::Result &result,
                            const Position &at) {
  Value rowCount = b.min(b.sub(at.rowEnd, at.row), mr);
  Value firstColumn = b.mul(at.panel, nr);
  b.loop(b.integer(0), rowCount, 1, [&](Value i) {
    storeRow(result, b.add(at.row, i), [&](Store store) {
      forColumns(segment, at.panel, [&](Value j, int64_t width) {
        store(b.add(firstColumn, j), width, [&](Value anchor) {
          return readSums(segment, anchor, at, i, j, width);
        });
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Memory for what reductions have so far: for each row its slots, or for each
/// slot the columns of the tile's panels.
void GemmBuilder::beginReductions() {
  for (const Segment &segment : plan.segments)
    for (const GemmPlan::Reduction &reduction : segment.reductions) {
      ReduceOp op = reduction.op;
      int64_t count = slots * (reduction.ofRows ? tileRows : tilePanels * nr);
      Value partial = b.scratch(plan.compute, count);
      double identity = Combiner::get(op.getKind()).identity;
      b.columns(
          b.integer(0), b.integer(count), lanes, [&](Value i, int64_t width) {
            b.store(b.constant(identity, b.withWidth(plan.compute, width)),
                    partial, plan.compute, i);
          });
      partials[op.getResult()] = partial;
    }
}

Value GemmBuilder::reducedElement(const Segment &segment,
                                  const GemmPlan::Reduction &reduction,
                                  const Position &at, Value row, Value column,
                                  int64_t width) {
  Value index = b.add(at.row, row);
  return reduction.input.build(
      b, reduction.input.rowOffsets(b, index),
      b.add(b.mul(at.panel, nr), column), width, [&](Value anchor) {
        return readSums(segment, anchor, at, row, column, width);
      });
}

void GemmBuilder::reduceRows(const Segment &segment,
                             const GemmPlan::Reduction &reduction,
                             Value partial, const Position &at) {
  Combiner combiner = Combiner::get(ReduceOp(reduction.op).getKind());
  Value rowCount = b.min(b.sub(at.rowEnd, at.row), mr);
  Value count = b.min(b.sub(b.integer(segment.n), b.mul(at.panel, nr)), nr);
  Value start = b.constant(combiner.identity, b.withWidth(plan.compute, lanes));
  b.loop(b.integer(0), rowCount, 1, [&](Value i) {
    Value row =
        b.columns(
             b.integer(0), count, lanes, start,
             [&](Value j, int64_t width, ValueRange state) {
               return SmallVector<Value>{combiner.combine(
                   b, state[0],
                   reducedElement(segment, reduction, at, i, j, width))};
             },
             [&](ValueRange state) {
               return SmallVector<Value>{combiner.combineLanes(b, state[0])};
             })
            .front();
    Value place = b.add(b.mul(b.sub(b.add(at.row, i), at.firstRow), slots),
                        b.rem(at.tilePanel, slots));
    Value before = b.load(partial, plan.compute, place);
    b.store(combiner.combine(b, before, row), partial, plan.compute, place);
  });
}

void GemmBuilder::reduceColumns(const Segment &segment,
                                const GemmPlan::Reduction &reduction,
                                Value partial, const Position &at) {
  Combiner combiner = Combiner::get(ReduceOp(reduction.op).getKind());
  Value rowCount = b.min(b.sub(at.rowEnd, at.row), mr);
  forColumns(segment, at.panel, [&](Value j, int64_t width) {
    Value start =
        b.constant(combiner.identity, b.withWidth(plan.compute, width));
    Value column =
        b.loop(b.integer(0), rowCount, 1, start,
               [&](Value i, ValueRange state) {
                 return SmallVector<Value>{combiner.combine(
                     b, state[0],
                     reducedElement(segment, reduction, at, i, j, width))};
               })
            .front();
    Value slot = b.rem(b.div(at.row, mr), slots);
    Value place = b.add(b.mul(slot, tilePanels * nr),
                        b.add(b.mul(at.tilePanel, nr), j));
    Value before = b.load(partial, plan.compute, place, width);
    b.store(combiner.combine(b, before, column), partial, plan.compute, place);
  });
}

/// What a reduction gives for one row or column, from its partial result.
Value GemmBuilder::finishReduction(ReduceOp op, Value offset,
                                   int64_t slotStride) {
  Value value = Combiner::get(op.getKind())
                    .combineLanes(b, b.load(partials.lookup(op.getResult()),
                                            plan.compute, offset, slots,
                                            slotStride));
  if (op.getKind() != ReduceKind::mean)
    return value;
  int64_t count = 1;
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  for (int64_t dim : op.getDims())
    count *= type.getDimSize(dim);
  return arith::DivFOp::create(b, value, b.constant(count, plan.compute));
}

void GemmBuilder::writeRows(Value firstRow, Value rowEnd) {
  for (const Segment &segment : plan.segments)
    for (const GemmPlan::Result &result : segment.results) {
      if (result.form != GemmPlan::Form::PerRow)
        continue;
      b.loop(firstRow, rowEnd, 1, [&](Value row) {
        storeRow(result, row, [&](Store store) {
          store(b.integer(0), 0, [&](Value anchor) {
            return finishReduction(anchor.getDefiningOp<ReduceOp>(),
                                   b.mul(b.sub(row, firstRow), slots), 1);
          });
        });
      });
    }
}

void GemmBuilder::writeColumns() {
  for (size_t s = 0; s < plan.segments.size(); ++s)
    for (const GemmPlan::Result &result : plan.segments[s].results) {
      if (result.form != GemmPlan::Form::PerColumn)
        continue;
      forPanels(s, [&](Value panel) {
        Value tilePanel = b.sub(b.add(panel, ranges[s].firstPanel), firstPanel);
        Value first = b.mul(panel, nr);
        Value count = b.min(b.sub(b.integer(plan.segments[s].n), first), nr);
        storeRow(result, b.integer(0), [&](Store store) {
          b.loop(b.integer(0), count, 1, [&](Value j) {
            store(b.add(first, j), 0, [&](Value anchor) {
              return finishReduction(anchor.getDefiningOp<ReduceOp>(),
                                     b.add(b.mul(tilePanel, nr), j),
                                     tilePanels * nr);
            });
          });
        });
      });
    }
}

void host::buildGemm(KernelBuilder &b, const GemmPlan &plan,
                     HostGemmAttr schedule) {
  GemmBuilder(b, plan, schedule).build();
}
