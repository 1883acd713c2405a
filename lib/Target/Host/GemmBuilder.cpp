//===- GemmBuilder.cpp - Matrix products on packed panels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime packs B once, through `pack`, in panels as wide as the register
// tile, or each tile packs its panels, all of them or a block at a time; each
// tile packs its rows of A itself. Packing also converts to f32,
// applies views and transposes, and repeats the last row or column up to a
// whole register tile, so that the inner loop has one form.
//
// K is split into blocks whose panels fit the first cache; between blocks the
// sums lie in memory of the tile. A block is split into chains, which registers
// add up from zero before they add to those sums: rounding errors grow with the
// longest chain of additions. The epilogue follows the last block.
//
// The panels of products that results combine alternate, and the register tiles
// of all of them are computed before their epilogue. Other products have their
// panels one after the other.
//
//===----------------------------------------------------------------------===//

#include "GemmBuilder.h"
#include <tuple>

using namespace mlir;
using namespace fact;
using namespace fact::host;

GemmBuilder::GemmBuilder(KernelBuilder &b, const GemmPlan &plan,
                         ScheduleAttr schedule)
    : b(b), plan(plan), streams(isa<HostStreamAttr>(schedule)),
      blocks(isa<HostBlockedAttr>(schedule)),
      copies(isa<HostWindowsAttr>(schedule)),
      mostProducts(plan.getMostProducts()), panels(0), units(0),
      reducesRows(plan.hasReductions(true)),
      reducesColumns(plan.hasReductions(false)) {
  int64_t rows, columns;
  if (auto stream = dyn_cast<HostStreamAttr>(schedule)) {
    rows = mr = plan.batchRows;
    columns = nr = stream.getColumns();
  } else {
    GemmSizes sizes = GemmSizes::get(schedule);
    mr = sizes.micro[0], nr = sizes.micro[1];
    rows = sizes.rows, columns = sizes.columns;
  }
  // Vectors of a whole register, or of a part that divides the register tile.
  lanes = b.getRegisterLanes(plan.compute);
  while (nr % lanes)
    lanes /= 2;
  std::tie(depth, chain) = plan.chooseBlocks(
      b.getCpu(), streams ? mr : nr * mostProducts * (blocks ? 2 : 1));
  if (streams)
    depth = chain;
  for (const Segment &segment : plan.segments) {
    int64_t count = ceilDivide(segment.n, nr);
    ranges.push_back({panels, count, units});
    panels += count;
    units += count * segment.products.size();
  }
  tileRows = std::min(rows, ceilDivide(plan.batchRows, mr) * mr);
  if (copies)
    planWindows(GemmSizes::get(schedule));
  // A reduced row lies in one tile.
  tilePanels = reducesRows ? panels : std::min(columns / nr, panels);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

void GemmBuilder::packPanel(const GemmPlan::Product &product, Value batch,
                            Value panel, const Terms &terms, Value target,
                            Value targetOffset) {
  // A panel stays inside one batch, so its columns are at one stride.
  int64_t n = product.n;
  Value source = b.getPointer(product.b.base);
  Value first = b.mul(panel, nr);
  Value base = b.rowOffset(product.b, b.mul(batch, n));
  int64_t stride = product.b.rowStrides.back();
  PackedLines lines{source, plan.storage, {}, product.b.columnStride};
  for (int64_t j = 0; j < nr; ++j)
    lines.offsets.push_back(
        b.add(base, b.mul(b.min(b.add(first, j), n - 1), stride)));
  auto [from, to] = terms;
  // Columns that are contiguous in memory are copied with vectors.
  if (stride == 1 && lines.stride != 1) {
    Value whole = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        b.add(first, nr), b.integer(n));
    b.ifThen(
        whole,
        [&, from = from, to = to] {
          packAdjacentLines(b, lines, from, to, target, targetOffset);
        },
        [&, from = from, to = to] {
          packLines(b, lines, from, to, target, targetOffset);
        });
    return;
  }
  packLines(b, lines, from, to, target, targetOffset);
}

/// Panels that are packed in one loop over K, if rows of B are contiguous: a
/// piece of a row is then several cache lines, of which none is read twice.
static constexpr int64_t panelsAtOnce = 8;

/// Such pieces of rows are too short for a processor to fetch ahead by itself.
/// More would evict each other where rows are a power of two apart.
static constexpr int64_t rowsAhead = 4;

void GemmBuilder::packPanels(const GemmPlan::Product &product, Value batch,
                             Value first, Value end, const Terms &terms,
                             Value target, Value targetOffset) {
  auto packEach = [&](Value from) {
    b.loop(from, end, 1, [&](Value panel) {
      Value at = b.mul(b.sub(panel, first), unitElements());
      packPanel(product, batch, panel, terms, target, b.add(targetOffset, at));
    });
  };
  const RowView &view = product.b;
  if (view.rowStrides.back() != 1 || view.columnStride == 1)
    return packEach(first);
  Value source = b.getPointer(view.base);
  Value base = b.rowOffset(view, b.mul(batch, product.n));
  Value whole = b.max(b.sub(b.min(end, product.n / nr), first), 0);
  Value rest = b.add(first, b.mul(b.div(whole, panelsAtOnce), panelsAtOnce));
  b.loop(first, rest, panelsAtOnce, [&](Value panel) {
    Value from = b.add(base, b.mul(panel, nr));
    Value to = b.add(targetOffset, b.mul(b.sub(panel, first), unitElements()));
    b.loop(terms.from, terms.to, 1, [&](Value k) {
      Value row = b.add(from, b.mul(k, view.columnStride));
      Value at = b.add(to, b.mul(b.sub(k, terms.from), nr));
      int64_t line = 64 / getStorageBytes(plan.storage);
      for (int64_t i = 0; i < panelsAtOnce * nr; i += line)
        b.prefetch(source, plan.storage,
                   b.add(row, rowsAhead * view.columnStride + i));
      for (int64_t i = 0; i < panelsAtOnce; ++i)
        for (int64_t j = 0; j < nr; j += lanes)
          b.store(b.load(source, plan.storage, b.add(row, i * nr + j), lanes),
                  target, plan.compute, b.add(at, i * unitElements() + j));
    });
  });
  packEach(rest);
}

void GemmBuilder::buildPack() {
  KernelLayout &layout = b.getLayout();
  // Several panels per tile, if enough tiles are left for all threads.
  bool isOne = plan.products.size() == 1;
  int64_t together = isOne && units >= 8 * panelsAtOnce ? panelsAtOnce : 1;
  layout.packedOperand = plan.packedOperands.front();
  for (unsigned operand : ArrayRef(plan.packedOperands).drop_front())
    layout.packedWith |= 1u << operand;
  int64_t perBatch = ceilDivide(units, together);
  layout.packTiles = plan.batches * perBatch;
  layout.packedBytes =
      plan.batches * units * unitElements() * getStorageBytes(plan.compute);
  auto [index, packed] = b.beginPack();
  Value target = packed;
  if (isOne) {
    Value batch = b.div(index, perBatch);
    Value first = b.mul(b.rem(index, perBatch), together);
    packPanels(plan.products.front(), batch, first,
               b.min(b.add(first, together), units), getAllTerms(), target,
               b.mul(b.add(b.mul(batch, units), first), unitElements()));
    return b.endFunction();
  }
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
          packPanel(plan.products[products[i]], batch, panel, getAllTerms(),
                    target, offset);
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
    // Unsigned, so that a unit before the segment wraps and fails the check.
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, local,
                                         b.integer(range.panels * count));
    b.ifThen(inside, pack);
  }
  b.endFunction();
}

/// Packs rows of A in groups of a register tile: element (k, i) of group g at
/// `g * mr * depth + (k - from) * mr + i`. Missing rows repeat the last one;
/// their results are not stored.
void GemmBuilder::packRows(Value firstRow, Value rowEnd, Value from, Value to) {
  if (plan.windows)
    return packWindows(firstRow, rowEnd, from, to);
  Value source = b.getPointer(plan.a.base);
  Value lastRow = b.add(rowEnd, -1);
  int64_t distance = getDistance(plan.a.rowShape, plan.a.rowStrides);
  b.loop(firstRow, rowEnd, mr, [&](Value row) {
    PackedLines lines{source, plan.storage, {}, plan.a.columnStride};
    for (int64_t i = 0; i < mr; ++i)
      lines.offsets.push_back(
          b.rowOffset(plan.a, b.min(b.add(row, i), lastRow)));
    packGroup(lines, from, to, b.mul(b.sub(row, firstRow), depth),
              b.sub(rowEnd, row), distance);
  });
}

/// The least distance of two neighbors in row-major order, if each lies behind
/// the one before it, and vectors of such neighbors are loaded at once; else 0.
int64_t GemmBuilder::getDistance(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> strides) {
  for (size_t i = 0; i + 1 < shape.size(); ++i)
    if (strides[i] < shape[i + 1] * strides[i + 1])
      return 0;
  bool isNear = !strides.empty() && strides.back() > 0 &&
                strides.back() <= KernelBuilder::mostApart;
  return isNear ? strides.back() : 0;
}

/// Packs the rows of one register tile, of which `count` are no repetitions. If
/// each lies at least `distance` behind the one before it (0 if not), they are
/// that far apart, and packed with vectors, where none is a repetition and the
/// last is as far from the first as their number says.
void GemmBuilder::packGroup(const PackedLines &lines, Value from, Value to,
                            Value offset, Value count, int64_t distance) {
  auto packApart = [&] { packLines(b, lines, from, to, packedA, offset); };
  if (lines.stride == 1 || mr == 1 || !distance)
    return packApart();
  Value adjacent =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                            b.sub(lines.offsets.back(), lines.offsets.front()),
                            b.integer((mr - 1) * distance));
  Value isWhole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, count, b.integer(mr));
  adjacent = arith::AndIOp::create(b, adjacent, isWhole);
  for (Value inside : lines.inside)
    adjacent = arith::AndIOp::create(b, adjacent, inside);
  b.ifThen(
      adjacent,
      [&] { packAdjacentLines(b, lines, from, to, packedA, offset, distance); },
      packApart);
}

/// The same for rows that are windows: pixel by pixel, zeros outside of the
/// images.
void GemmBuilder::packWindows(Value firstRow, Value rowEnd, Value from,
                              Value to) {
  const WindowedView &of = *plan.windows;
  size_t batchRank = of.getBatchRank(), dims = of.counts.size();
  ArrayRef<int64_t> sizes = ArrayRef(of.image.shape).slice(batchRank, dims);
  ArrayRef<int64_t> strides = ArrayRef(of.image.strides).slice(batchRank, dims);
  int64_t channels = of.getChannels();
  SmallVector<int64_t> rowShape(ArrayRef(of.image.shape).take_front(batchRank));
  llvm::append_range(rowShape, of.counts);
  // Of images with channels first. What is inside of an image is in order if
  // its pixels are; windows that are more than one pixel apart have to be.
  int64_t distance = getDistance(ArrayRef(of.image.shape).drop_back(),
                                 ArrayRef(of.image.strides).drop_back());
  if (distance != 1 || of.strides.back() != 1) {
    SmallVector<int64_t> rowStrides(
        ArrayRef(of.image.strides).take_front(batchRank));
    for (size_t d = 0; d < dims; ++d)
      rowStrides.push_back(of.strides[d] * strides[d]);
    distance = getDistance(rowShape, rowStrides);
  }
  Value source = b.getPointer(of.image.base);
  Value lastRow = b.add(rowEnd, -1);
  b.loop(firstRow, rowEnd, mr, [&](Value row) {
    // Of each row, its image and its window's first element, which may lie
    // before the image.
    SmallVector<Value> images;
    SmallVector<SmallVector<Value>> firsts;
    for (int64_t i = 0; i < mr; ++i) {
      SmallVector<Value> at =
          b.splitIndex(b.min(b.add(row, i), lastRow), rowShape);
      Value image = b.integer(of.image.offset);
      for (size_t d = 0; d < batchRank; ++d)
        image = b.add(image, b.mul(at[d], of.image.strides[d]));
      images.push_back(image);
      SmallVector<Value> &first = firsts.emplace_back();
      for (size_t d = 0; d < dims; ++d)
        first.push_back(
            b.add(b.mul(at[batchRank + d], of.strides[d]), -of.zeros[d]));
    }
    Value group = b.mul(b.sub(row, firstRow), depth);
    Value tapEnd = b.div(b.add(to, channels - 1), channels);
    b.loop(b.div(from, channels), tapEnd, 1, [&](Value tap) {
      SmallVector<Value> places = b.splitIndex(tap, of.kernel);
      Value first = b.mul(tap, channels);
      PackedLines lines{source, plan.storage, {}, of.image.strides.back()};
      for (int64_t i = 0; i < mr; ++i) {
        Value offset = images[i], inside;
        for (size_t d = 0; d < dims; ++d) {
          Value at = b.add(firsts[i][d], b.mul(places[d], of.dilations[d]));
          offset = b.add(offset, b.mul(at, strides[d]));
          // Unsigned, so that a place before the image fails the check.
          Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                             b.integer(sizes[d]));
          inside =
              inside ? Value(arith::AndIOp::create(b, inside, fits)) : fits;
        }
        lines.offsets.push_back(
            arith::SelectOp::create(b, inside, offset, b.integer(0)));
        lines.inside.push_back(inside);
      }
      Value begin = b.max(b.sub(from, first), 0);
      Value end = b.min(b.sub(to, first), channels);
      Value done = b.sub(b.add(first, begin), from);
      packGroup(lines, begin, end, b.add(group, b.mul(done, mr)),
                b.sub(rowEnd, row), distance);
    });
  });
}

/// Packs the tile's panels, where `pack` does not; of blocks, makes room.
void GemmBuilder::packForTile(Value batch) {
  packedB = b.scratch(plan.compute, tilePanels * mostProducts * unitElements());
  if (blocks)
    return;
  if (plan.products.size() == 1)
    return packPanels(plan.products.front(), batch, firstPanel, panelEnd,
                      getAllTerms(), packedB, b.integer(0));
  for (size_t s = 0; s < plan.segments.size(); ++s)
    forPanels(s, [&](Value panel) {
      Value at = b.mul(b.sub(b.add(panel, ranges[s].firstPanel), firstPanel),
                       mostProducts);
      for (auto [i, number] : llvm::enumerate(plan.segments[s].products))
        packPanel(plan.products[number], batch, panel, getAllTerms(), packedB,
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

GemmBuilder::Terms GemmBuilder::getTerms(const Area &area, const Terms &block) {
  const ProductBands &bands = plan.bands;
  if (!bands.isBounded())
    return block;
  Value from = block.from, to = block.to;
  auto max = [&](Value x, Value y) -> Value {
    return arith::MaxSIOp::create(b, x, y);
  };
  Value batchRow = b.mul(batch, plan.batchRows);
  Value row = b.sub(area.row, batchRow), rowEnd = b.sub(area.rowEnd, batchRow);
  if (bands.lhs.lower > -Band::none)
    from = max(from, b.add(row, bands.lhs.lower));
  if (bands.lhs.upper < Band::none)
    to = b.min(to, b.add(rowEnd, bands.lhs.upper));
  if (bands.rhs.upper < Band::none)
    from = max(from, b.add(area.column, -bands.rhs.upper));
  if (bands.rhs.lower > -Band::none)
    to = b.min(to, b.add(area.columnEnd, -bands.rhs.lower));
  // The last and the first diagonal of the area are not of the result's band.
  auto stop = [&](arith::CmpIPredicate predicate, Value diagonal,
                  int64_t bound) {
    Value outside =
        arith::CmpIOp::create(b, predicate, diagonal, b.integer(bound));
    to = arith::SelectOp::create(b, outside, from, to);
  };
  if (bands.result.lower > -Band::none)
    stop(arith::CmpIPredicate::slt, b.sub(b.add(area.columnEnd, -1), row),
         bands.result.lower);
  if (bands.result.upper < Band::none)
    stop(arith::CmpIPredicate::sgt, b.sub(area.column, b.add(rowEnd, -1)),
         bands.result.upper);
  return {from, max(from, to)};
}

void GemmBuilder::ifAny(const Area &area, const Terms &block,
                        llvm::function_ref<void()> body) {
  // Streams multiply all terms.
  if (streams || !plan.bands.isBounded())
    return body();
  Terms terms = getTerms(area, block);
  b.ifThen(
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, terms.from, terms.to),
      body);
}

Value GemmBuilder::beginTile(int64_t rowTiles) {
  int64_t panelTiles = ceilDivide(panels, tilePanels);
  b.getLayout().tiles = plan.batches * panelTiles * rowTiles;

  // Consecutive tiles share panels of B.
  Value index = b.beginTile();
  Value rowTile = b.rem(index, rowTiles);
  Value panelTile = b.rem(b.div(index, rowTiles), panelTiles);
  batch = b.div(index, rowTiles * panelTiles);
  firstPanel = b.mul(panelTile, tilePanels);
  panelEnd = b.min(b.add(firstPanel, tilePanels), panels);
  if (streams) {
    chains = b.scratch(plan.compute, mr * nr);
  } else if (!packsBefore()) {
    packForTile(batch);
  } else {
    // The runtime passes the panels in place of the first packed operand.
    packedB = b.getPointer(
        b.getFused().getBody().getArgument(plan.packedOperands.front()));
    firstOffset = b.mul(batch, units * unitElements());
  }
  return rowTile;
}

void GemmBuilder::buildTile() {
  if (copies) {
    buildWindows(
        beginTile(plan.batchRows / llvm::product_of(plan.windows->counts) *
                  llvm::product_of(box.boxes)));
    return b.endFunction();
  }
  Value rowTile =
      beginTile(reducesColumns ? 1 : ceilDivide(plan.batchRows, tileRows));
  Value batchRow = b.mul(batch, plan.batchRows);
  Value batchEnd = b.add(batchRow, plan.batchRows);
  packedA = b.scratch(plan.compute, tileRows * depth);
  int64_t microTiles = isBlocked() ? tileRows / mr * tilePanels : 1;
  sums = b.scratch(plan.compute, microTiles * sumsElements());

  beginReductions();
  if (reducesColumns) {
    // A reduced column lies in one tile.
    b.loop(batchRow, batchEnd, tileRows, [&](Value firstRow) {
      buildRows(firstRow, b.min(b.add(firstRow, tileRows), batchEnd));
    });
    writeColumns();
  } else {
    Value firstRow = b.add(batchRow, b.mul(rowTile, tileRows));
    Value rowEnd = b.min(b.add(firstRow, tileRows), batchEnd);
    buildRows(firstRow, rowEnd);
    writeRows(firstRow, firstRow, rowEnd);
  }
  b.endFunction();
}

/// Multiplies some rows with all of the tile's panels.
void GemmBuilder::buildRows(Value firstRow, Value rowEnd) {
  b.loop(b.integer(0), b.integer(plan.k), depth, [&](Value from) {
    Value to = b.min(b.add(from, depth), plan.k);
    // The last register tile of a batch ends behind its rows.
    Area tile{firstRow, b.add(firstRow, tileRows), b.mul(firstPanel, nr),
              b.mul(panelEnd, nr)};
    ifAny(tile, {from, to}, [&] {
      packRows(firstRow, rowEnd, from, to);
      if (blocks)
        packPanels(plan.products.front(), batch, firstPanel, panelEnd,
                   {from, to}, packedB, b.integer(0));
    });
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

Value GemmBuilder::getUnitOffset(size_t segment, const Position &at) {
  int64_t count = plan.segments[segment].products.size();
  Value unit = packsBefore()
                   ? b.add(b.mul(at.panel, count), ranges[segment].firstUnit)
                   : b.mul(at.tilePanel, mostProducts);
  Value offset = b.mul(unit, unitElements());
  return firstOffset ? b.add(firstOffset, offset) : offset;
}

/// Multiplies one block of K for one register tile of each product; the
/// epilogue follows the last block.
void GemmBuilder::buildMicroTile(size_t s, const Position &at, Value from,
                                 Value to) {
  const Segment &segment = plan.segments[s];
  auto finish = [&] { buildEpilogue(segment, at); };
  Value last =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, to, b.integer(plan.k));
  if (streams) {
    stream(segment, at, from, to);
    return b.ifThen(last, finish);
  }
  int64_t count = segment.products.size();
  Value offsetB = getUnitOffset(s, at);
  // A block begins with term `from`.
  if (blocks)
    offsetB = b.sub(offsetB, b.mul(from, nr));
  Value column = b.mul(at.panel, nr);
  Terms terms = getTerms({at.row, b.add(at.row, mr), column, b.add(column, nr)},
                         {from, to});
  // Of the first of these terms.
  Value offsetA = b.add(b.mul(b.sub(at.row, at.firstRow), depth),
                        b.mul(b.sub(terms.from, from), mr));
  if (writesRegisters(segment))
    return finishRegisters(
        segment, multiplyTerms(offsetA, offsetB, terms.from, terms.to), at);
  // The first block may have no chain.
  if (plan.bands.isBounded() && chain < plan.k)
    b.ifThen(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, b.integer(0)),
        [&] {
          for (int64_t i = 0; i < mr * nr; i += lanes)
            b.store(b.constant(0, b.withWidth(plan.compute, lanes)), sums,
                    plan.compute, b.add(at.sums, i));
        });
  for (int64_t i = 0; i < count; ++i)
    multiply(b.add(at.sums, i * mr * nr), offsetA,
             b.add(offsetB, i * unitElements()), terms);
  if (!isBlocked())
    return finish();
  b.ifThen(last, finish);
}

/// Multiplies one block of K for one register tile of one product, chain by
/// chain.
void GemmBuilder::multiply(Value sumsOffset, Value offsetA, Value offsetB,
                           const Terms &terms) {
  if (chain == plan.k)
    return multiplyChain(sumsOffset, offsetA, offsetB, terms.from, terms.to);
  b.loop(terms.from, terms.to, chain, [&](Value first) {
    Value offset = b.add(offsetA, b.mul(b.sub(first, terms.from), mr));
    Value end = b.add(first, chain);
    // Chains that divide the blocks need no bound check.
    if (plan.k % chain || depth % chain || plan.bands.isBounded())
      end = b.min(end, terms.to);
    multiplyChain(sumsOffset, offset, offsetB, first, end);
  });
}

SmallVector<Value> GemmBuilder::readPacked(Value offsetB, Value k) {
  SmallVector<Value> vectors;
  Value offset = b.add(offsetB, b.mul(k, nr));
  for (int64_t j = 0; j < nr; j += lanes)
    vectors.push_back(b.load(packedB, plan.compute, b.add(offset, j), lanes));
  return vectors;
}

SmallVector<Value> GemmBuilder::multiplyTerms(Value offsetA, Value offsetB,
                                              Value from, Value to) {
  MicroTile micro{mr, nr / lanes, lanes, /*strideA=*/mr};
  SmallVector<Value> zeros(mr * micro.vectors,
                           b.constant(0, b.withWidth(plan.compute, lanes)));
  return buildMicroKernel(b, micro, plan.compute, packedA, offsetA, from, to,
                          std::min<int64_t>(chain, 4), zeros,
                          [&](Value k) { return readPacked(offsetB, k); });
}

void GemmBuilder::addToSums(ValueRange products, Value offset, bool isFirst) {
  for (auto [i, value] : llvm::enumerate(products)) {
    Value at = b.add(offset, i * lanes), sum = value;
    if (!isFirst)
      sum =
          arith::AddFOp::create(b, b.load(sums, plan.compute, at, lanes), sum);
    b.store(sum, sums, plan.compute, at);
  }
}

void GemmBuilder::addChain(ValueRange products, Value offset, Value from) {
  if (chain == plan.k || plan.bands.isBounded())
    return addToSums(products, offset, /*isFirst=*/chain == plan.k);
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, b.integer(0));
  b.ifThen(
      isFirst, [&] { addToSums(products, offset, /*isFirst=*/true); },
      [&] { addToSums(products, offset, /*isFirst=*/false); });
}

void GemmBuilder::multiplyChain(Value sumsOffset, Value offsetA, Value offsetB,
                                Value from, Value to) {
  addChain(multiplyTerms(offsetA, offsetB, from, to), sumsOffset, from);
}

void host::buildGemm(KernelBuilder &b, const GemmPlan &plan,
                     ScheduleAttr schedule) {
  GemmBuilder(b, plan, schedule).build();
}
