//===- GemmEpilogue.cpp - The values computed from packed products --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The epilogue of a register tile applies the pointwise ops to its sums, stores
// the part inside of the result, and adds the tile to the partial results of
// reductions, which are finished when the tile's rows or columns are.
//
//===----------------------------------------------------------------------===//

#include "GemmBuilder.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

//===----------------------------------------------------------------------===//
// Results of the product's size
//===----------------------------------------------------------------------===//

void GemmBuilder::buildEpilogue(const Segment &segment, const Position &at) {
  for (const GemmPlan::Result &result : segment.results)
    if (result.form == GemmPlan::Form::Full)
      writeFull(segment, result, at);
  for (const GemmPlan::Reduction &reduction : segment.reductions) {
    Value partial = partials.lookup(reduction.op.getResult());
    if (reduction.ofRows)
      reduceRows(segment, reduction, partial, at);
    else
      reduceColumns(segment, reduction, partial, at);
  }
}

bool GemmBuilder::writesRegisters(const Segment &segment) const {
  // The epilogue is written once for each register.
  constexpr int64_t mostOps = 4;
  auto isLittle = [](const GemmPlan::Result &result) {
    return result.form == GemmPlan::Form::Full &&
           result.elements.elements.countOps() <= mostOps;
  };
  return chain == plan.k && segment.products.size() == 1 &&
         segment.reductions.empty() && segment.results.size() == 1 &&
         isLittle(segment.results.front());
}

Value GemmBuilder::isWhole(const Segment &segment, const Position &at) {
  auto isWithin = [&](Value end, Value limit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, limit);
  };
  Value column = b.mul(at.panel, nr);
  Value isWhole =
      arith::AndIOp::create(b, isWithin(b.add(at.row, mr), at.rowEnd),
                            isWithin(b.add(column, nr), b.integer(segment.n)));
  if (Value inPiece = areTogether(segment.results.front(), at.row, mr))
    return arith::AndIOp::create(b, isWhole, inPiece);
  return isWhole;
}

void GemmBuilder::writeRegisters(const Segment &segment, ValueRange products,
                                 const Position &at) {
  Value first = b.mul(at.panel, nr);
  int64_t vectors = nr / lanes;
  const GemmPlan::Result &result = segment.results.front();
  int64_t together = getRowsTogether(result);
  for (int64_t i = 0; i < mr; i += together) {
    while (together > mr - i)
      together /= 2;
    if (together == 1) {
      storeRow(result, b.add(at.row, i), [&](Store store) {
        for (int64_t j = 0; j < vectors; ++j)
          store(b.add(first, j * lanes), lanes,
                [&](Value) { return products[i * vectors + j]; });
      });
      continue;
    }
    for (int64_t j = 0; j < vectors; ++j)
      storeColumns(result, b.add(at.row, i), b.add(first, j * lanes), lanes,
                   together, [&](Value) {
                     SmallVector<Value> rows;
                     for (int64_t r = i; r < i + together; ++r)
                       rows.push_back(products[r * vectors + j]);
                     return rows;
                   });
  }
}

void GemmBuilder::finishRegisters(const Segment &segment, ValueRange products,
                                  const Position &at) {
  b.ifThen(
      isWhole(segment, at), [&] { writeRegisters(segment, products, at); },
      [&] {
        addToSums(products, at.sums, /*isFirst=*/true);
        buildEpilogue(segment, at);
      });
}

void GemmBuilder::forColumns(const Segment &segment, Value panel,
                             llvm::function_ref<void(Value, int64_t)> body) {
  auto buildWhole = [&] {
    if (streams)
      return b.columns(b.integer(0), b.integer(nr), lanes, body);
    for (int64_t j = 0; j < nr; j += lanes)
      body(b.integer(j), lanes);
  };
  if (segment.n % nr == 0)
    return buildWhole();
  Value rest = b.sub(b.integer(segment.n), b.mul(panel, nr));
  Value isWhole =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rest, b.integer(nr));
  // The last panel.
  auto buildRest = [&] {
    if (segment.n % lanes == 0)
      b.loop(b.integer(0), rest, lanes, [&](Value j) { body(j, lanes); });
    else
      b.columns(b.integer(0), rest, lanes, body);
  };
  b.ifThen(isWhole, buildWhole, buildRest);
}

Value GemmBuilder::readSums(const Segment &segment, Value anchor,
                            const Position &at, Value row, Value column,
                            int64_t width) {
  int64_t place = 0;
  for (auto [i, number] : llvm::enumerate(segment.products))
    if (plan.products[number].matmul.getResult() == anchor)
      place = i;
  Value offset = b.add(at.sums, place * mr * nr);
  return b.load(sums, plan.compute,
                b.add(offset, b.add(b.mul(row, nr), column)), width);
}

void GemmBuilder::storeRow(const GemmPlan::Result &result, Value row,
                           llvm::function_ref<void(Store)> body) {
  Type storage = getElementTypeOrSelf(b.getFused()->getResult(result.number));
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
  auto writeRow = [&](Value i) {
    storeRow(result, b.add(at.row, i), [&](Store store) {
      forColumns(segment, at.panel, [&](Value j, int64_t width) {
        store(b.add(firstColumn, j), width, [&](Value anchor) {
          return readSums(segment, anchor, at, i, j, width);
        });
      });
    });
  };
  int64_t together = getRowsTogether(result);
  if (together == 1)
    return b.loop(b.integer(0), rowCount, 1, writeRow);
  auto writeRows = [&](Value i, int64_t together) {
    Value row = b.add(at.row, i), end = b.add(i, together);
    Value isWhole =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sle, end, rowCount);
    if (Value inPiece = areTogether(result, row, together))
      isWhole = arith::AndIOp::create(b, isWhole, inPiece);
    auto writeColumns = [&] {
      forColumns(segment, at.panel, [&](Value j, int64_t width) {
        storeColumns(result, row, b.add(firstColumn, j), width, together,
                     [&](Value anchor) {
                       SmallVector<Value> rows;
                       for (int64_t r = 0; r < together; ++r)
                         rows.push_back(readSums(segment, anchor, at,
                                                 b.add(i, r), j, width));
                       return rows;
                     });
      });
    };
    b.ifThen(isWhole, writeColumns,
             [&] { b.loop(i, b.min(end, rowCount), 1, writeRow); });
  };
  // Fewer at the end of a register tile.
  int64_t rest = mr / together * together;
  b.loop(b.integer(0), b.min(rowCount, rest), together,
         [&](Value i) { writeRows(i, together); });
  for (int64_t i = rest; i < mr; i += together) {
    while (together > mr - i)
      together /= 2;
    if (together > 1)
      writeRows(b.integer(i), together);
    else
      b.loop(b.integer(i), rowCount, 1, writeRow);
  }
}

//===----------------------------------------------------------------------===//
// Results whose columns are contiguous in memory
//===----------------------------------------------------------------------===//

int64_t GemmBuilder::getRowsTogether(const GemmPlan::Result &result) const {
  const RowView &destination = result.destination;
  if (destination.columnStride == 1 || destination.getRowStride() != 1)
    return 1;
  int64_t together = llvm::bit_floor<uint64_t>(std::min(mr, lanes));
  // Operands end where the result does, or are the same for all rows.
  auto fits = [&](const RowView &leaf) {
    bool isShared = llvm::all_of(leaf.rowStrides,
                                 [](int64_t stride) { return stride == 0; });
    return isShared || leaf.getRun() % destination.getRun() == 0;
  };
  for (auto [leaf, view] : llvm::zip_equal(result.elements.elements.getLeaves(),
                                           result.elements.leaves))
    if (!leaf.isAnchor && !fits(view))
      return 1;
  return together;
}

Value GemmBuilder::areTogether(const GemmPlan::Result &result, Value row,
                               int64_t count) {
  int64_t together = getRowsTogether(result);
  int64_t run = result.destination.getRun();
  bool isLine = copies && run % plan.windows->counts.back() == 0;
  if (together == 1 || run == plan.rows || isLine ||
      (run % together == 0 && plan.batchRows % together == 0 &&
       mr % together == 0))
    return nullptr;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                               b.add(b.rem(row, run), count), b.integer(run));
}

void GemmBuilder::storeColumns(
    const GemmPlan::Result &result, Value row, Value column, int64_t width,
    int64_t together, llvm::function_ref<SmallVector<Value>(Value)> rows) {
  Type storage = getElementTypeOrSelf(b.getFused()->getResult(result.number));
  // Column by column, as many as there are in a vector.
  llvm::MapVector<Value, SmallVector<Value>> turned;
  for (const Elements::Leaf &leaf : result.elements.elements.getLeaves())
    if (leaf.isAnchor && !turned.contains(leaf.value)) {
      SmallVector<Value> found = rows(leaf.value);
      turned[leaf.value] =
          width ? b.takeTurns(found)
                : SmallVector<Value>{vector::FromElementsOp::create(
                      b, VectorType::get({together}, plan.compute), found)};
    }
  SmallVector<Value> offsets = result.elements.rowOffsets(b, row);
  Value target = b.rowOffset(result.destination, row);
  for (int64_t j = 0; j < std::max<int64_t>(width, 1); ++j) {
    auto getPiece = [&](Value anchor) -> Value {
      ArrayRef<Value> vectors = turned[anchor];
      int64_t at = j * together;
      if (!width)
        return vectors.front();
      return vector::ExtractStridedSliceOp::create(
          b, vectors[at / width], ArrayRef<int64_t>{at % width},
          ArrayRef<int64_t>{together}, ArrayRef<int64_t>{1});
    };
    Value next = b.add(column, j);
    Value value = result.elements.build(b, offsets, next, together, getPiece,
                                        RowElements::Neighbors::rows);
    b.store(value, b.getResultPointer(result.number), storage,
            b.add(target, b.mul(next, result.destination.columnStride)));
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

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
} // namespace

/// Allocates the partial results, as [row][slot] or as [slot][column] of the
/// tile, and sets them to the identity.
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
  Combiner combiner = Combiner::get(reduction.op.getKind());
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
  Combiner combiner = Combiner::get(reduction.op.getKind());
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
    Value place =
        b.add(b.mul(slot, tilePanels * nr), b.add(b.mul(at.tilePanel, nr), j));
    Value before = b.load(partial, plan.compute, place, width);
    b.store(combiner.combine(b, before, column), partial, plan.compute, place);
  });
}

/// The result of a reduction for one row or column, from its partial results.
Value GemmBuilder::finishReduction(ReduceOp op, Value offset,
                                   int64_t slotStride) {
  Value value =
      Combiner::get(op.getKind())
          .combineLanes(b, b.load(partials.lookup(op.getResult()), plan.compute,
                                  offset, slots, slotStride));
  if (op.getKind() != ReduceKind::mean)
    return value;
  int64_t count = 1;
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  for (int64_t dim : op.getDims())
    count *= type.getDimSize(dim);
  return arith::DivFOp::create(b, value, b.constant(count, plan.compute));
}

void GemmBuilder::writeRows(Value firstRow, Value from, Value to) {
  for (const Segment &segment : plan.segments)
    for (const GemmPlan::Result &result : segment.results) {
      if (result.form != GemmPlan::Form::PerRow)
        continue;
      b.loop(from, to, 1, [&](Value row) {
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
