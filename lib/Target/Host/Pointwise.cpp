//===- Pointwise.cpp - Elements computed one by one, and copies of views --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands whose neighbors in a row are far apart, but whose neighbors along
// another dimension are adjacent, are read in blocks of both dimensions, and
// transposed in registers.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "PointwisePlan.h"
#include "SplitConcats.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
/// The parts of a region.
struct PointwiseRegion {
  /// The region, with ops for the halves of rotary embeddings, or for the parts
  /// of what is computed of concatenations; null where there are none.
  OwningOpRef<FusedOp> copy;
  PointwisePlan plan;
};

class HostPointwisePlan : public HostPlan {
public:
  HostPointwisePlan(const Family &family, FusedOp fused,
                    const MachineDescription &machine, PointwiseRegion region)
      : HostPlan(family, fused, machine), region(std::move(region)) {}

  static FailureOr<PointwiseRegion> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override {
    int64_t row = getRowElements();
    return getRowsSpace(fused, getResultType().getNumElements() / row, row,
                        16384);
  }

protected:
  FusedOp getBuiltRegion() const override {
    return region.copy ? region.copy.get() : fused;
  }
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  RankedTensorType getResultType() const {
    return cast<RankedTensorType>(fused->getResult(0).getType());
  }
  int64_t getRowElements() const {
    RankedTensorType type = getResultType();
    return type.getRank() ? type.getShape().back() : 1;
  }

  PointwiseRegion region;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// How many parts of concatenations may be computed apart. Beside reading many
/// elements for each, as large windows do, a copy of the concatenation takes
/// less time than the short rows around windows that are whole.
static size_t countPartsApart(const PointwisePlan &plan) {
  constexpr size_t manyReads = 16, fewParts = 9;
  auto readsMany = [&](const PointwisePlan::Part &part) {
    return llvm::any_of(part.results, [](const PointwisePlan::Result &result) {
      return result.elements.getLeaves().size() > manyReads;
    });
  };
  return llvm::any_of(plan.parts, readsMany) ? fewParts : mostParts;
}

FailureOr<PointwiseRegion> HostPointwisePlan::read(FusedOp fused,
                                                   EmitError emitError) {
  if (failed(requireElements(fused, emitError)))
    return failure();
  PointwiseRegion region;
  if (!fused.getBody().getOps<RotaryOp>().empty())
    region.copy = cast<FusedOp>(fused->clone());
  FusedOp read = region.copy ? *region.copy : fused;
  bool hasConcat = !fused.getBody().getOps<ConcatOp>().empty();
  std::optional<Silence> silence;
  if (hasConcat)
    silence.emplace(fused);
  FailureOr<PointwisePlan> plan =
      PointwisePlan::get(read, silence ? EmitError(*silence) : emitError);
  if (failed(plan) && hasConcat) {
    region.copy = cast<FusedOp>(fused->clone());
    splitConcats(*region.copy);
    plan = PointwisePlan::get(*region.copy, emitError);
    if (succeeded(plan) && plan->parts.size() > countPartsApart(*plan))
      return emitError() << "computes " << plan->parts.size()
                         << " parts of 'fact.concat' apart, more than "
                         << countPartsApart(*plan);
  }
  if (failed(plan))
    return failure();
  region.plan = std::move(*plan);
  return std::move(region);
}

namespace {
class PointwiseFamily : public FamilyOf<HostPointwisePlan> {
public:
  PointwiseFamily() : FamilyOf(pointwiseRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "All results have the same number of elements.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static Type storageOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

namespace {
/// Writes elements of one row of a result.
class RowWriter {
public:
  RowWriter(KernelBuilder &b, const PointwisePlan::Result &result, Value row)
      : b(b), result(result), destination(splitLast(result.destination)),
        target(b.rowOffset(destination, row)) {
    for (const Elements::Leaf &leaf : result.elements.getLeaves()) {
      offsets[&leaf] = b.rowOffset(splitLast(leaf.view), row);
      // One element of the whole row.
      if (leaf.view.strides.back() == 0 && leaf.indices.empty())
        uniform[&leaf] = b.load(b.getPointer(leaf.value), storageOf(leaf.value),
                                offsets[&leaf]);
    }
  }

  /// The row that is `distance` behind another one along the last dimension but
  /// one, which both are in.
  RowWriter(const RowWriter &other, int64_t distance)
      : b(other.b), result(other.result), destination(other.destination) {
    auto getStride = [](const StridedView &view) {
      return view.strides[view.strides.size() - 2];
    };
    target = b.add(other.target, distance * getStride(result.destination));
    for (const Elements::Leaf &leaf : result.elements.getLeaves()) {
      int64_t stride = getStride(leaf.view);
      offsets[&leaf] = b.add(other.offsets.lookup(&leaf), distance * stride);
      if (Value element = other.uniform.lookup(&leaf))
        uniform[&leaf] = stride == 0
                             ? element
                             : b.load(b.getPointer(leaf.value),
                                      storageOf(leaf.value), offsets[&leaf]);
    }
  }

  /// Takes the columns of a leaf from a copy, which begins with `column`.
  void readCopy(const Elements::Leaf &leaf, Value pointer, Value offset) {
    copies[&leaf] = {pointer, offset, 1};
  }
  Elements::Place locate(const Elements::Leaf &leaf, Value column) {
    int64_t stride = leaf.view.strides.back();
    return {b.getPointer(leaf.value),
            b.add(offsets[&leaf], b.mul(column, stride)), stride};
  }
  /// `column`, or `width` columns from there; the first of them is number
  /// `inCopy` of the copies.
  Value read(const Elements::Leaf &leaf, Value column, int64_t width,
             int64_t inCopy = 0, bool prefetches = true) {
    if (Value element = uniform.lookup(&leaf))
      return b.splat(element, width);
    Type storage = storageOf(leaf.value);
    auto copy = copies.find(&leaf);
    if (copy != copies.end())
      return b.load(copy->second.pointer, getComputeType(storage),
                    b.add(copy->second.offset, inCopy), width);
    Elements::Place place = locate(leaf, column);
    if (place.stride == 1 && prefetches)
      b.prefetchAhead(leaf.value, place.pointer, place.offset, width);
    return b.load(place.pointer, storage, place.offset, width, place.stride);
  }
  Value compute(Value column, ElementsBuilder &elements, int64_t inCopy = 0) {
    return elements.build(
        [&](const Elements::Leaf &leaf) {
          return read(leaf, column, elements.getWidth(), inCopy);
        },
        [&](const Elements::Leaf &leaf) { return locate(leaf, column); });
  }
  void write(Value column, ElementsBuilder &elements, int64_t inCopy = 0) {
    writeValue(column, compute(column, elements, inCopy), elements);
  }
  void writeValue(Value column, Value value, ElementsBuilder &elements) {
    Value tensor = b.getFused()->getResult(result.number);
    Value pointer = b.getResultPointer(result.number);
    Value at = getTarget(column);
    if (destination.columnStride == 1)
      b.prefetchAhead(tensor, pointer, at, elements.getWidth());
    b.store(value, pointer, storageOf(tensor), at, destination.columnStride);
  }
  /// Writes neighbors of this result and of those that it takes turns with.
  void writeInTurns(Value column, ArrayRef<Value> values) {
    Type storage = storageOf(b.getFused()->getResult(result.number));
    b.storeInTurns(values, b.getResultPointer(result.number), storage,
                   getTarget(column));
  }

private:
  Value getTarget(Value column) {
    return b.add(target, b.mul(column, destination.columnStride));
  }

  KernelBuilder &b;
  const PointwisePlan::Result &result;
  RowView destination;
  Value target;
  DenseMap<const Elements::Leaf *, Value> offsets, uniform;
  DenseMap<const Elements::Leaf *, Elements::Place> copies;
};

/// Loops over a part in blocks of its last and of another dimension. The last
/// block along a dimension ends with it, and can share elements with the one
/// before. Those that may be another tile's are not written twice.
class BlockWriter {
public:
  BlockWriter(KernelBuilder &b, const PointwisePlan::Part &part, size_t dim)
      : b(b), part(part), dim(dim), extent(part.shape[dim]),
        rows(getBlockSize(extent)), columns(getBlockSize(part.getInner())) {}

  /// Blocks along `dim`, for all other dimensions but the last.
  int64_t countBlocks() const {
    return part.getOuter() / extent * ceilDivide(extent, rows);
  }
  int64_t getBlockElements() const { return rows * part.getInner(); }
  /// Columns of a block in a tile of about `perTile` elements: whole vectors.
  int64_t getColumnsPerTile(int64_t perTile) const {
    return std::min(ceilDivide(std::max(perTile / rows, columns), columns) *
                        columns,
                    part.getInner());
  }
  /// Tiles of so many columns, of which the last has more if there would be
  /// less than a block beyond it.
  int64_t countColumnTiles(int64_t perTile) const {
    return ceilDivide(part.getInner() - columns + 1,
                      getColumnsPerTile(perTile));
  }
  /// Columns [from, to) of a block.
  void build(Value block, Value from, Value to);

private:
  /// The rows of a block are `getRowDistance` apart.
  int64_t getRowDistance() const {
    return llvm::product_of(
        ArrayRef(part.shape).drop_back().drop_front(dim + 1));
  }
  void copyLeaf(const Elements::Leaf &leaf, Value row, Value column,
                Value scratch);

  KernelBuilder &b;
  const PointwisePlan::Part &part;
  size_t dim;
  int64_t extent, rows, columns;
};
} // namespace

/// Columns become rows of `scratch`.
void BlockWriter::copyLeaf(const Elements::Leaf &leaf, Value row, Value column,
                           Value scratch) {
  RowView view = splitLast(leaf.view);
  Value begin = b.add(b.rowOffset(view, row), b.mul(column, view.columnStride));
  PackedLines lines{b.getPointer(leaf.value), storageOf(leaf.value), {}, 1};
  for (int64_t i = 0; i < columns; ++i)
    lines.offsets.push_back(b.add(begin, i * view.columnStride));
  packLines(b, lines, b.integer(0), b.integer(rows), scratch, b.integer(0));
}

void BlockWriter::build(Value block, Value from, Value to) {
  int64_t perRun = ceilDivide(extent, rows), distance = getRowDistance();
  // The dimensions before `dim`, the block along it, and those after it.
  Value after = b.rem(block, distance), rest = b.div(block, distance);
  Value begin = b.mul(b.rem(rest, perRun), rows);
  Value first = b.min(begin, extent - rows);
  Value firstRow = b.add(
      b.mul(b.add(b.mul(b.div(rest, perRun), extent), first), distance), after);
  llvm::MapVector<const Elements::Leaf *, Value> copies;
  for (const PointwisePlan::Result &result : part.results)
    for (const Elements::Leaf &leaf : result.elements.getLeaves())
      if (isTransposed(leaf, dim))
        copies[&leaf] =
            b.scratch(getComputeType(storageOf(leaf.value)), rows * columns);
  int64_t inner = part.getInner();
  int64_t lanes = std::min(b.getLoopLanes(b.getF32Type()), columns);
  b.loop(from, to, columns, [&](Value next) {
    Value column = b.min(next, inner - columns);
    for (auto [leaf, scratch] : copies)
      copyLeaf(*leaf, firstRow, column, scratch);
    b.loop(b.sub(begin, first), b.integer(rows), 1, [&](Value i) {
      Value row = b.add(firstRow, b.mul(i, distance));
      ArrayRef<PointwisePlan::Result> rest = part.results;
      while (!rest.empty()) {
        ArrayRef<PointwisePlan::Result> inTurns = getInTurns(rest);
        rest = rest.drop_front(inTurns.size());
        std::vector<RowWriter> writers;
        for (const PointwisePlan::Result &result : inTurns) {
          writers.emplace_back(b, result, row);
          for (const Elements::Leaf &leaf : result.elements.getLeaves())
            if (Value scratch = copies.lookup(&leaf))
              writers.back().readCopy(leaf, scratch, b.mul(i, columns));
        }
        for (int64_t done = 0; done < columns; done += lanes) {
          Value at = b.add(column, done);
          SmallVector<Value> values;
          for (auto [writer, result] : llvm::zip_equal(writers, inTurns)) {
            ElementsBuilder elements(b, result.elements, lanes);
            if (inTurns.size() == 1)
              writer.write(at, elements, done);
            else
              values.push_back(writer.compute(at, elements, done));
          }
          if (inTurns.size() > 1)
            writers.front().writeInTurns(at, values);
        }
      }
    });
  });
}

/// Tables of the gathers that the rows of a tile share, by result.
using GatherTables = DenseMap<const PointwisePlan::Result *, GatherTable>;

/// The columns of a vector of a result.
static int64_t getLanes(KernelBuilder &b, const PointwisePlan::Result &result) {
  // Little work per vector does not pay for a loop of its own.
  bool isLittle = result.elements.countOps() <= 2;
  return b.getLoopLanes(b.getF32Type()) * (isLittle ? 2 : 1);
}

/// Writes all columns of some rows of a result that gathers by a table.
static void writeSegments(KernelBuilder &b, const PointwisePlan::Result &result,
                          std::vector<RowWriter> &writers,
                          const GatherTable &table) {
  ElementsBuilder elements(b, result.elements, table.width);
  RowWriter &first = writers.front();
  elements.shareRows(
      [&](const Elements::Leaf &leaf, Value column) {
        return first.read(leaf, column, table.width);
      },
      [&](const Elements::Leaf &leaf, Value column) {
        return first.locate(leaf, column);
      },
      table,
      [&](Value column) {
        for (RowWriter &writer : writers)
          writer.write(column, elements);
      });
}

/// Writes columns [from, to) of a row of results that take turns.
static void writeInTurns(KernelBuilder &b,
                         ArrayRef<PointwisePlan::Result> results, Value row,
                         Value from, Value to) {
  std::vector<RowWriter> writers;
  for (const PointwisePlan::Result &result : results)
    writers.emplace_back(b, result, row);
  int64_t lanes = getLanes(b, results.front());
  b.columns(from, to, lanes, [&](Value column, int64_t width) {
    SmallVector<Value> values;
    for (auto [writer, result] : llvm::zip_equal(writers, results)) {
      ElementsBuilder elements(b, result.elements, width);
      values.push_back(writer.compute(column, elements));
    }
    writers.front().writeInTurns(column, values);
  });
}

/// Writes columns [from, to) of some rows of all results of a part.
static void writeColumns(KernelBuilder &b, const PointwisePlan::Part &part,
                         ArrayRef<Value> rows, Value from, Value to,
                         const GatherTables &tables = GatherTables()) {
  ArrayRef<PointwisePlan::Result> rest = part.results;
  while (!rest.empty()) {
    ArrayRef<PointwisePlan::Result> inTurns = getInTurns(rest);
    rest = rest.drop_front(inTurns.size());
    if (inTurns.size() > 1) {
      for (Value row : rows)
        writeInTurns(b, inTurns, row, from, to);
      continue;
    }
    const PointwisePlan::Result &result = inTurns.front();
    std::vector<RowWriter> writers;
    for (Value row : rows)
      writers.emplace_back(b, result, row);
    auto table = tables.find(&result);
    if (table != tables.end()) {
      writeSegments(b, result, writers, table->second);
      continue;
    }
    b.columns(from, to, getLanes(b, result), [&](Value column, int64_t width) {
      ElementsBuilder elements(b, result.elements, width);
      auto writeRows = [&] {
        for (RowWriter &writer : writers)
          writer.write(column, elements);
      };
      if (rows.size() == 1)
        return writeRows();
      elements.shareRows(
          [&](const Elements::Leaf &leaf) {
            return writers.front().read(leaf, column, width);
          },
          [&](const Elements::Leaf &leaf) {
            return writers.front().locate(leaf, column);
          },
          writeRows);
    });
  }
}

/// Fills the tables of the gathers that all rows of a part share.
static GatherTables tabulate(KernelBuilder &b,
                             const PointwisePlan::Part &part) {
  GatherTables tables;
  for (const PointwisePlan::Result &result : part.results) {
    // Long runs gain from wide vectors; those at the ends of short rows, which
    // are no runs, lose.
    int64_t lanes = b.getLoopLanes(b.getF32Type());
    if (part.getInner() >= 32 * lanes)
      lanes = getLanes(b, result);
    std::optional<GatherTable> table =
        GatherTable::get(b, result.elements, part.getInner(), lanes);
    if (!table)
      continue;
    // What all rows share is as in the first one.
    RowWriter writer(b, result, b.integer(0));
    ElementsBuilder(b, result.elements, table->width)
        .tabulate(
            [&](const Elements::Leaf &leaf, Value column) {
              return writer.read(leaf, column, table->width);
            },
            [&](const Elements::Leaf &leaf, Value column) {
              return writer.locate(leaf, column);
            },
            *table);
    tables[&result] = *table;
  }
  return tables;
}

/// Whether rows gather by the same indices.
static bool sharesGathers(const PointwisePlan::Part &part) {
  return llvm::any_of(part.results, [](const PointwisePlan::Result &result) {
    return !result.elements.getGathersForAllRows().empty();
  });
}

/// Rows of a part per tile of about `perTile` elements; enough to share what
/// is found out of their gathers, if that leaves tiles for several threads.
static int64_t getRowsPerTile(const PointwisePlan::Part &part,
                              int64_t perTile) {
  int64_t least = sharesGathers(part)
                      ? std::clamp<int64_t>(part.getOuter() / 16, 16, 64)
                      : 1;
  return std::max(perTile / part.getInner(), std::min(part.getOuter(), least));
}

/// Rows that are written together: several where they gather by the same
/// indices, so that what they share is read once. Copies of rows follow each
/// other, as their elements do in memory, if a table has their indices.
static int64_t countRowsTogether(const PointwisePlan::Part &part,
                                 const GatherTables &tables) {
  bool copies =
      llvm::all_of(part.results, [&](const PointwisePlan::Result &result) {
        return tables.contains(&result) && result.elements.isLeaf();
      });
  return copies || !sharesGathers(part) ? 1
                                        : std::min<int64_t>(part.getOuter(), 4);
}

/// How many rows beside each other along the last dimension but one are
/// computed at once, because they read the same elements (as neighbors in
/// windows, and as factors of a window's places), or because they are short and
/// it takes as long to find a row as to write it.
static int64_t countSharingRows(const PointwisePlan::Part &part) {
  constexpr int64_t mostRows = 4, fewestShared = 4;
  constexpr int64_t mostShortRows = 8, shortRow = 64, littleWork = 2;
  if (part.shape.size() < 2 || part.results.size() != 1)
    return 1;
  size_t dim = part.shape.size() - 2;
  ArrayRef<Elements::Leaf> leaves = part.results.front().elements.getLeaves();
  int64_t shared = 0;
  for (const Elements::Leaf &leaf : leaves) {
    if (!leaf.indices.empty() || leaf.isAnchor)
      return 1;
    int64_t stride = leaf.view.strides[dim];
    if (leaf.view.strides.back() == 0) {
      shared += stride == 0;
      continue;
    }
    shared += llvm::any_of(leaves, [&](const Elements::Leaf &other) {
      return stride != 0 && other.value == leaf.value &&
             other.view.strides == leaf.view.strides &&
             other.view.offset == leaf.view.offset + stride;
    });
  }
  bool isShort = part.getInner() <= shortRow &&
                 part.results.front().elements.countOps() <= littleWork;
  int64_t most = shared >= fewestShared ? mostRows
                 : isShort              ? mostShortRows
                                        : 1;
  return std::min<int64_t>(most, llvm::bit_floor<uint64_t>(part.shape[dim]));
}

/// Writes all columns of rows that share what they read, from `row` on.
static void writeSharing(KernelBuilder &b, const PointwisePlan::Part &part,
                         Value row, int64_t count) {
  const PointwisePlan::Result &result = part.results.front();
  std::vector<RowWriter> writers;
  writers.emplace_back(b, result, row);
  for (int64_t i = 1; i < count; ++i)
    writers.emplace_back(writers.front(), i);
  b.columns(b.integer(0), b.integer(part.getInner()),
            b.getLoopLanes(b.getF32Type()), [&](Value column, int64_t width) {
              ElementsBuilder elements(b, result.elements, width);
              // Leaves of one tensor at one place.
              struct Known {
                const Elements::Leaf *leaf;
                int64_t offset;
                Value value;
              };
              SmallVector<Known> known;
              SmallVector<Value> values = elements.buildTogether(
                  count, [&](const Elements::Leaf &leaf, int64_t i) {
                    int64_t offset = leaf.view.offset +
                                     i * *std::next(leaf.view.strides.rbegin());
                    bool isNear = false;
                    for (const Known &other : known) {
                      if (other.leaf->value != leaf.value ||
                          other.leaf->view.strides != leaf.view.strides)
                        continue;
                      if (other.offset == offset)
                        return other.value;
                      isNear |= std::abs(other.offset - offset) < width;
                    }
                    Value value = writers[i].read(leaf, column, width,
                                                  /*inCopy=*/0, !isNear);
                    known.push_back({&leaf, offset, value});
                    return value;
                  });
              for (auto [writer, value] : llvm::zip_equal(writers, values))
                writer.writeValue(column, value, elements);
            });
}

/// Blocks of rows that share what they read, in a tile of about `perTile`
/// elements.
static int64_t getSharingPerTile(const PointwisePlan::Part &part,
                                 int64_t perTile) {
  int64_t block = countSharingRows(part) * part.getInner();
  return std::max<int64_t>(perTile / block, 1);
}

/// All blocks of such rows.
static int64_t countSharing(const PointwisePlan::Part &part) {
  int64_t run = part.shape[part.shape.size() - 2];
  return part.getOuter() / run * (run / countSharingRows(part));
}

/// Rows [from, to) of a part.
static void writeRows(KernelBuilder &b, const PointwisePlan::Part &part,
                      Value from, Value to) {
  Value begin = b.integer(0), end = b.integer(part.getInner());
  GatherTables tables = tabulate(b, part);
  int64_t together = countRowsTogether(part, tables);
  if (together > 1) {
    Value whole =
        b.add(from, b.mul(b.div(b.sub(to, from), together), together));
    b.loop(from, whole, together, [&](Value row) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < together; ++i)
        rows.push_back(b.add(row, i));
      writeColumns(b, part, rows, begin, end, tables);
    });
    from = whole;
  }
  b.loop(from, to, 1,
         [&](Value row) { writeColumns(b, part, row, begin, end, tables); });
}

/// Blocks of a part per tile of about `perTile` elements.
static int64_t getBlocksPerTile(const BlockWriter &writer, int64_t perTile) {
  return std::max<int64_t>(perTile / writer.getBlockElements(), 1);
}

/// The number of tiles of a part, of about `perTile` elements each.
static int64_t countTiles(KernelBuilder &b, const PointwisePlan::Part &part,
                          int64_t perTile) {
  if (std::optional<size_t> dim = part.findTransposed()) {
    BlockWriter writer(b, part, *dim);
    return ceilDivide(writer.countBlocks(), getBlocksPerTile(writer, perTile)) *
           writer.countColumnTiles(perTile);
  }
  if (part.getOuter() == 1)
    return ceilDivide(part.getInner(), perTile);
  if (countSharingRows(part) > 1)
    return ceilDivide(countSharing(part), getSharingPerTile(part, perTile));
  return ceilDivide(part.getOuter(), getRowsPerTile(part, perTile));
}

/// Tile `index` of a part.
static void buildPart(KernelBuilder &b, const PointwisePlan::Part &part,
                      Value index, int64_t perTile) {
  int64_t inner = part.getInner(), outer = part.getOuter();
  if (std::optional<size_t> dim = part.findTransposed()) {
    BlockWriter writer(b, part, *dim);
    // Several blocks, or a part of the columns of one.
    int64_t blocks = getBlocksPerTile(writer, perTile);
    int64_t columns = writer.getColumnsPerTile(perTile);
    int64_t parts = writer.countColumnTiles(perTile);
    Value number = b.rem(index, parts);
    Value begin = b.mul(number, columns);
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                                         b.integer(parts - 1));
    Value end = arith::SelectOp::create(b, isLast, b.integer(inner),
                                        b.add(begin, columns));
    Value from = b.mul(b.div(index, parts), blocks);
    return b.loop(from, b.min(b.add(from, blocks), writer.countBlocks()), 1,
                  [&](Value block) { writer.build(block, begin, end); });
  }
  if (outer == 1) {
    // One run of elements, cut into tiles.
    Value from = b.mul(index, perTile);
    Value to = b.min(b.add(from, perTile), inner);
    writeColumns(b, part, b.integer(0), from, to);
    return;
  }
  if (int64_t together = countSharingRows(part); together > 1) {
    int64_t blocks = getSharingPerTile(part, perTile);
    Value from = b.mul(index, blocks);
    return b.loop(from, b.min(b.add(from, blocks), countSharing(part)), 1,
                  [&](Value block) {
                    b.blockOfRun(block, part.shape[part.shape.size() - 2],
                                 together, [&](Value row) {
                                   writeSharing(b, part, row, together);
                                 });
                  });
  }
  int64_t rows = getRowsPerTile(part, perTile);
  Value from = b.mul(index, rows);
  writeRows(b, part, from, b.min(b.add(from, rows), outer));
}

/// Tile `index` of these parts, whose tiles are numbered one after the other.
static void buildParts(KernelBuilder &b, ArrayRef<PointwisePlan::Part> parts,
                       Value index, int64_t perTile) {
  if (parts.size() == 1)
    return buildPart(b, parts.front(), index, perTile);
  Value count = b.integer(countTiles(b, parts.front(), perTile));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, count);
  b.ifThen(
      isFirst, [&] { buildPart(b, parts.front(), index, perTile); },
      [&] { buildParts(b, parts.drop_front(), b.sub(index, count), perTile); });
}

void HostPointwisePlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  ArrayRef<PointwisePlan::Part> parts = region.plan.parts;
  int64_t perTile = cast<HostRowsAttr>(schedule).getGrain() * getRowElements();
  b.getLayout().tiles = 0;
  for (const PointwisePlan::Part &part : parts)
    b.getLayout().tiles += countTiles(b, part, perTile);
  Value index = b.beginTile();
  buildParts(b, parts, index, perTile);
  b.endFunction();
}

void host::registerPointwiseFamily(DialectRegistry &registry) {
  registerFamily<PointwiseFamily>(registry);
}
