//===- Rowwise.cpp - Norms, softmax and reductions over rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row at a time: the first pass computes the row op's input, stores it in a
// buffer and takes the first statistic; further passes read the buffer; the
// last one computes and writes the results. Where not the elements of a row but
// those of neighboring rows are adjacent in memory, as in a reduction over a
// dimension that is not the last, a vector has one element of several rows.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "RowReducer.h"
#include "fact/Analysis/RowRegion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numeric>

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// Buffers of several rows are smaller than this where they can be.
static constexpr int64_t bufferBytes = 512 << 10;

namespace {
struct RowPlan {
  RowRegion region;
  Type compute;
  /// The row op's operands.
  RowElements input;
  std::optional<RowElements> weight, bias;

  struct Result {
    RowElements elements;
    RowView destination;
    bool isFull;
    /// All operands lie at one stride within so many columns.
    int64_t segment;
  };
  std::vector<Result> results;

  /// Whether a result reads the row op's input.
  bool keepsInput() const {
    return llvm::any_of(results, [&](const Result &result) {
      return llvm::any_of(result.elements.elements.getLeaves(),
                          [&](const Elements::Leaf &leaf) {
                            return leaf.isAnchor &&
                                   leaf.value == region.getInput();
                          });
    });
  }
  /// Neighboring rows that one vector holds; 0 where vectors are of columns.
  int64_t countRowsTogether(KernelBuilder &b) const;
  /// The rows from a multiple of this to the next lie at one stride each.
  int64_t getRun() const;
  /// Whether all rows read one row of an operand, as those of a matrix that is
  /// multiplied by a vector do.
  bool sharesOperand() const;
  /// Whether the kernel is one reduction to numbers that keeps nothing.
  bool onlyCombines() const;
  static FailureOr<RowPlan> get(FusedOp fused, EmitError emitError);

private:
  /// All views of operands and results; with `isFull` only those of all
  /// columns.
  SmallVector<const RowView *> getViews(bool isFull) const;
  LogicalResult planOperands(EmitError emitError);
  FailureOr<Result> planResult(const RowRegion::Result &result,
                               EmitError emitError) const;
  bool isAnchor(Value value, const StridedView &view, bool isFull) const;
};

class RowwisePlan : public HostPlan {
public:
  RowwisePlan(const Family &family, FusedOp fused,
              const MachineDescription &machine, RowPlan row)
      : HostPlan(family, fused, machine), row(std::move(row)) {}

  static FailureOr<RowPlan> read(FusedOp fused, EmitError emitError) {
    if (failed(requireElements(fused, emitError)))
      return failure();
    return RowPlan::get(fused, emitError);
  }

  SpaceAttrInterface getSpace() const override {
    return getRowsSpace(fused, row.region.rows, row.region.columns, 16384);
  }

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  RowPlan row;
};

class RowwiseFamily : public FamilyOf<RowwisePlan> {
public:
  RowwiseFamily() : FamilyOf(rowwiseRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Exactly one norm, softmax or reduce, over the last "
           "dimensions. Every result has all elements of the rows, or one "
           "per row.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Bytes of the widest vectors in loops over elements.
static constexpr int64_t loopBytes = 128;
/// Of a result's operands, whole segments of so many columns may be one number.
static constexpr int64_t leastSegment = 16;

/// Whether the columns of a result's operands are those of the row op, whose
/// groups may share numbers, and not parts of rows of something else.
static bool followsRows(const RowElements &elements) {
  bool splits = false, hasAnchor = false;
  for (auto [leaf, view] :
       llvm::zip_equal(elements.elements.getLeaves(), elements.leaves)) {
    if (view.segment != 0 &&
        (view.columnStride != 0 || view.segment < leastSegment))
      return false;
    splits |= view.splitsDimension;
    hasAnchor |= leaf.isAnchor;
  }
  return hasAnchor || !splits;
}

/// An operand of the row op, read over its own shape.
static FailureOr<RowElements> planOperand(Value value, int64_t rows,
                                          int64_t columns, EmitError emitError,
                                          int64_t lanes = 0) {
  auto noAnchor = [](Value, const StridedView &) { return false; };
  FailureOr<Elements> elements = Elements::plan(value, noAnchor, emitError);
  if (failed(elements))
    return failure();
  return RowElements::get(*elements, rows, columns, emitError, lanes);
}

LogicalResult RowPlan::planOperands(EmitError emitError) {
  // A reduction of several dimensions, with others between them.
  int64_t lanes =
      region.isReduction() ? loopBytes / getStorageBytes(compute) : 0;
  FailureOr<RowElements> elements = planOperand(
      region.getInput(), region.rows, region.columns, emitError, lanes);
  if (failed(elements))
    return failure();
  input = *elements;
  // An operand of all rows, which a kernel of its own computes once.
  if (region.rows * region.columns > mostComputed &&
      input.repeats(region.rows, region.columns))
    return emitError() << "would compute what its rows share for each of "
                       << region.rows << " rows";
  for (auto [value, plan] : {std::pair(region.getWeight(), &weight),
                             std::pair(region.getBias(), &bias)}) {
    if (!value)
      continue;
    elements = planOperand(value, 1, region.columns, emitError);
    if (failed(elements))
      return failure();
    *plan = *elements;
  }
  return success();
}

/// The kernel has the row op's output at each element of a result, and its
/// input at each element of a full one.
bool RowPlan::isAnchor(Value value, const StridedView &view,
                       bool isFull) const {
  bool isOutput = value == region.getOutput();
  if (!isOutput && (value != region.getInput() || !isFull))
    return false;
  int64_t rows = region.rows, columns = isFull ? region.columns : 1;
  FailureOr<RowView> split = RowView::get(view, rows, columns);
  if (failed(split))
    return false;
  if (isOutput && region.isReduction())
    return split->isPlain(rows, 1, columns, 0);
  return isFull && split->isPlain(rows, columns, columns, 1);
}

/// Tries the most stripped destination first; the last attempt reports.
FailureOr<RowPlan::Result> RowPlan::planResult(const RowRegion::Result &result,
                                               EmitError emitError) const {
  int64_t columns = result.isFull ? region.columns : 1;
  SmallVector<Destination> destinations = getDestinations(result.yielded);
  for (auto [i, destination] : llvm::enumerate(llvm::reverse(destinations))) {
    std::optional<Silence> silence;
    if (i + 1 < destinations.size())
      silence.emplace(region.op);
    EmitError report = silence ? EmitError(*silence) : emitError;
    FailureOr<Elements> elements = Elements::plan(
        destination.value,
        [&](Value value, const StridedView &view) {
          return isAnchor(value, view, result.isFull);
        },
        report);
    if (failed(elements))
      continue;
    // Columns in segments, as the channels of a group have weights.
    FailureOr<RowElements> split =
        RowElements::get(*elements, region.rows, columns, report,
                         /*lanes=*/result.isFull ? 1 : 0);
    if (succeeded(split) && !followsRows(*split)) {
      (void)(report() << "an operand does not lie in the rows of "
                      << region.op->getName());
      continue;
    }
    FailureOr<RowView> target =
        RowView::get(destination.view, region.rows, columns);
    if (failed(target))
      (void)(report() << "a result of type " << result.yielded.getType()
                      << " must lie in rows of " << columns
                      << " elements at one stride");
    if (succeeded(split) && succeeded(target)) {
      int64_t segment = columns;
      for (const RowView &view : split->leaves)
        segment = std::gcd(segment, view.segment);
      return Result{*split, *target, result.isFull, segment};
    }
  }
  return failure();
}

FailureOr<RowPlan> RowPlan::get(FusedOp fused, EmitError emitError) {
  FailureOr<RowRegion> region = RowRegion::read(fused, emitError);
  if (failed(region))
    return failure();
  Type element =
      cast<RankedTensorType>(region->getInput().getType()).getElementType();
  RowPlan plan{*region, getComputeType(element), {}, {}, {}, {}};
  if (failed(plan.planOperands(emitError)))
    return failure();
  for (const RowRegion::Result &yielded : region->results) {
    FailureOr<Result> result = plan.planResult(yielded, emitError);
    if (failed(result))
      return failure();
    plan.results.push_back(*result);
  }
  return plan;
}

SmallVector<const RowView *> RowPlan::getViews(bool isFull) const {
  SmallVector<const RowView *> views;
  auto append = [&](const RowElements &elements) {
    for (auto [leaf, view] :
         llvm::zip_equal(elements.elements.getLeaves(), elements.leaves))
      if (!leaf.isAnchor)
        views.push_back(&view);
  };
  append(input);
  for (const Result &result : results) {
    if (isFull && !result.isFull)
      continue;
    append(result.elements);
    views.push_back(&result.destination);
  }
  return views;
}

int64_t RowPlan::getRun() const {
  int64_t run = region.rows;
  for (const RowView *view : getViews(/*isFull=*/false))
    run = std::gcd(run, view->getRun());
  return run;
}

static bool isPosition(ReduceOp reduce) {
  return reduce.getKind() == ReduceKind::argmax ||
         reduce.getKind() == ReduceKind::argmin;
}

bool RowPlan::onlyCombines() const {
  auto reduce = dyn_cast<ReduceOp>(region.op);
  return reduce && !isPosition(reduce) && !keepsInput();
}

bool RowPlan::sharesOperand() const {
  return llvm::any_of(input.leaves, [](const RowView &view) {
    return view.columnStride != 0 &&
           llvm::all_of(view.rowStrides,
                        [](int64_t stride) { return stride == 0; });
  });
}

int64_t RowPlan::countRowsTogether(KernelBuilder &b) const {
  auto isScattered = [](int64_t stride) { return stride != 0 && stride != 1; };
  SmallVector<const RowView *> views = getViews(/*isFull=*/true);
  int64_t alongColumns = llvm::count_if(views, [&](const RowView *view) {
    return isScattered(view->columnStride);
  });
  int64_t alongRows = llvm::count_if(views, [&](const RowView *view) {
    return isScattered(view->getRowStride());
  });
  int64_t lanes = b.getRegisterLanes(compute), run = getRun();
  if (region.columns == 1 || run < lanes)
    return 0;
  // Columns that do not fill a vector would be computed one by one: several
  // rows of them are worth loads and stores of single elements, but for sums,
  // which compute little.
  bool isShort =
      region.columns < b.getLoopLanes(compute) && !isa<ReduceOp>(region.op);
  if (alongColumns <= alongRows && !isShort)
    return 0;
  // A pass over a column reads at least a cache line. Accumulators of a
  // reduction fill half of the registers, and those of positions, which have 64
  // bits, as many.
  auto reduce = dyn_cast<ReduceOp>(region.op);
  int64_t registers =
      reduce && !isPosition(reduce) ? b.getCpu().getVectorRegisters() / 2 : 4;
  int64_t together =
      std::min<int64_t>(llvm::bit_floor<uint64_t>(run), registers * lanes);
  int64_t bytes = getStorageBytes(compute);
  // Several processors have work.
  while (together > lanes && together * bytes > 64 &&
         region.rows < 16 * together)
    together /= 2;
  // A buffer of long rows stays in the caches, if few rows suffice for that.
  // Each thread has one.
  if (!reduce || keepsInput()) {
    while (together > lanes && region.columns * together * bytes > bufferBytes)
      together /= 2;
    if (region.columns * together * bytes > 8 * bufferBytes)
      return 0;
  }
  return together;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
class RowBuilder {
public:
  RowBuilder(KernelBuilder &b, const RowPlan &plan, int64_t grain)
      : b(b), plan(plan), together(plan.countRowsTogether(b)),
        atOnce(countRowsAtOnce(grain)), grain(grain),
        reducer(b, plan.compute, plan.region.columns, together) {}

  void build();

private:
  using Element = RowReducer::Element;

  Value add(Value x, Value y) {
    return reducer.combine(vector::CombiningKind::ADD, x, y);
  }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) {
    return reducer.combine(vector::CombiningKind::MUL, x, y);
  }
  /// A number for each row.
  Value scalar(double value) {
    return b.constant(value, b.withWidth(plan.compute, together));
  }
  /// The number of each row in each lane of a vector of `width`.
  Value spread(Value number, int64_t width) {
    return together ? number : b.splat(number, width);
  }
  Value like(Value x, Value number) {
    auto vector = dyn_cast<VectorType>(x.getType());
    return spread(number, vector ? vector.getNumElements() : 0);
  }

  RowElements::Neighbors getNeighbors() const {
    return together ? RowElements::Neighbors::rows
                    : RowElements::Neighbors::columns;
  }
  /// The place of a column in a buffer of `getBufferSize` elements.
  Value inBuffer(Value column) {
    return together ? b.mul(column, together) : column;
  }
  int64_t getBufferSize() const {
    return plan.region.columns * std::max<int64_t>(together, 1);
  }
  Value readBuffer(Value column, int64_t width) {
    return b.load(buffer, plan.compute, inBuffer(column), width);
  }
  /// Elements of the input, which it also stores in the buffer, where there is
  /// one.
  Value fill(Value column, int64_t width, ArrayRef<Value> offsets);

  /// Rows whose reductions are one loop.
  int64_t countRowsAtOnce(int64_t grain) const;
  void buildRow(Value row);
  void buildReduction(Value row, ReduceOp reduce, Element input);
  /// Neighboring rows in vectors of columns.
  void buildRows(Value first, ReduceOp reduce);
  /// Neighboring rows that are adjacent in memory, in several vectors.
  void buildPanel(Value first, ReduceOp reduce);
  void buildSoftmax(Value row, Element input);
  void buildNorm(Value row, NormOp norm, Element input);
  /// The mean of the first elements, which of equal ones is exact.
  Value averageFirst(Element input);
  /// Writes the results of a row from the row op's output.
  void writeResults(Value row, Element output) {
    writeResults(row, output, together);
  }
  /// The same with `width` rows in a vector.
  void writeResults(Value row, Element output, int64_t width);

  KernelBuilder &b;
  const RowPlan &plan;
  /// Rows per vector, or 0.
  int64_t together;
  /// A multiple of them, or rows that are reduced one beside the other.
  int64_t atOnce;
  /// Of the schedule: rows per tile.
  int64_t grain;
  RowReducer reducer;
  /// A copy of the row op's input, and softmax's exponentials.
  Value buffer, exponentials;
};
} // namespace

Value RowBuilder::fill(Value column, int64_t width, ArrayRef<Value> offsets) {
  Value x = plan.input.build(
      b, offsets, column, width, [](Value) { return Value(); }, getNeighbors());
  if (buffer)
    b.store(x, buffer, plan.compute, inBuffer(column));
  return x;
}

void RowBuilder::writeResults(Value row, Element output, int64_t rows) {
  FusedOp fused = b.getFused();
  for (unsigned number = 0; number < plan.results.size(); ++number) {
    const RowPlan::Result &result = plan.results[number];
    Type storage = cast<RankedTensorType>(fused->getResult(number).getType())
                       .getElementType();
    SmallVector<Value> offsets = result.elements.rowOffsets(b, row);
    Value target = b.rowOffset(result.destination, row);
    int64_t stride = result.destination.columnStride;
    auto write = [&](Value column, int64_t width) {
      auto anchor = [&](Value anchor) {
        return anchor == plan.region.getInput() ? readBuffer(column, width)
                                                : output(column, width);
      };
      Value pointer = b.getResultPointer(number);
      Value at = b.add(target, b.mul(column, stride));
      if (result.isFull && !together && stride == 1)
        b.prefetchAhead(fused->getResult(number), pointer, at, width);
      b.store(result.elements.build(b, offsets, column, width, anchor,
                                    getNeighbors()),
              pointer, storage, at,
              together ? result.destination.getRowStride() : stride);
    };
    Value none = b.integer(0), end = b.integer(plan.region.columns);
    if (!result.isFull)
      write(none, rows);
    else if (together)
      b.loop(none, end, 1, [&](Value column) { write(column, rows); });
    else if (result.segment == plan.region.columns)
      b.columns(none, end, reducer.getLanes(), write);
    else
      b.loop(none, end, result.segment, [&](Value first) {
        b.columns(none, b.integer(result.segment), reducer.getLanes(),
                  [&](Value column, int64_t width) {
                    write(b.add(first, column), width);
                  });
      });
  }
}

void RowBuilder::buildRow(Value row) {
  SmallVector<Value> offsets = plan.input.rowOffsets(b, row);
  auto input = [&](Value column, int64_t width) {
    return fill(column, width, offsets);
  };
  Operation *op = plan.region.op;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    buildReduction(row, reduce, input);
  else if (isa<SoftmaxOp>(op))
    buildSoftmax(row, input);
  else
    buildNorm(row, cast<NormOp>(op), input);
}

void RowBuilder::buildReduction(Value row, ReduceOp reduce, Element input) {
  Value result = reducer.reduce(reduce.getKind(), input);
  writeResults(row,
               [&](Value, int64_t width) { return spread(result, width); });
}

/// Rows that are reduced in one loop, where they share loads of an operand.
/// Others would only read from more places.
static constexpr int64_t mostRows = 4;
/// Bytes of a panel's row: long enough for the processor to fetch ahead.
static constexpr int64_t panelBytes = 2048;
/// Columns of a panel that are added to its sums at once.
static constexpr int64_t panelColumns = 8;
/// Additions of a chain; sums of chains are added to others.
static constexpr int64_t longestChain = 64;

int64_t RowBuilder::countRowsAtOnce(int64_t grain) const {
  int64_t rows = plan.region.rows;
  if (!plan.onlyCombines())
    return std::max<int64_t>(together, 1);
  if (!together)
    return plan.sharesOperand() ? std::min({rows, grain, mostRows}) : 1;
  int64_t wide = std::min<int64_t>(llvm::bit_floor<uint64_t>(plan.getRun()),
                                   panelBytes / getStorageBytes(plan.compute));
  // Several processors have work.
  while (wide > together && rows < 4 * wide)
    wide /= 2;
  return plan.region.columns < 2 * panelColumns ? together
                                                : std::max(wide, together);
}

void RowBuilder::buildRows(Value first, ReduceOp reduce) {
  SmallVector<std::function<Value(Value, int64_t)>> inputs;
  for (int64_t i = 0; i < atOnce; ++i)
    inputs.push_back(
        [this, offsets = plan.input.rowOffsets(b, b.add(first, i))](
            Value column, int64_t width) {
          return fill(column, width, offsets);
        });
  SmallVector<Element> elements(inputs.begin(), inputs.end());
  for (auto [i, result] :
       llvm::enumerate(reducer.reduceRows(reduce.getKind(), elements)))
    writeResults(b.add(first, i), [&, result = result](Value, int64_t width) {
      return spread(result, width);
    });
}

/// Sums are in memory, which the first cache holds, so that a column is read in
/// one long piece.
void RowBuilder::buildPanel(Value first, ReduceOp reduce) {
  RowReducer::Arithmetic arithmetic = reducer.getArithmetic(reduce.getKind());
  int64_t columns = plan.region.columns;
  int64_t width = std::min(together, 4 * b.getRegisterLanes(plan.compute));
  Value none = b.integer(0), end = b.integer(atOnce);
  Value total = b.scratch(plan.compute, atOnce);
  Value chain = b.scratch(plan.compute, atOnce);
  Value initial = b.splat(arithmetic.initial, width);
  auto load = [&](Value memory, Value row) {
    return b.load(memory, plan.compute, row, width);
  };
  auto store = [&](Value value, Value memory, Value row) {
    b.store(value, memory, plan.compute, row);
  };
  auto clear = [&](Value memory) {
    b.loop(none, end, width, [&](Value row) { store(initial, memory, row); });
  };
  SmallVector<Value> offsets = plan.input.rowOffsets(b, first);
  // Combines columns [begin, begin + count) with the chains.
  auto combineColumns = [&](Value begin, int64_t count) {
    b.loop(none, end, width, [&](Value row) {
      SmallVector<Value> at;
      for (auto [offset, view] : llvm::zip_equal(offsets, plan.input.leaves))
        at.push_back(b.add(offset, b.mul(row, view.getRowStride())));
      Value sum = load(chain, row);
      for (int64_t i = 0; i < count; ++i)
        sum = reducer.combine(arithmetic.kind, sum,
                              fill(b.add(begin, i), width, at));
      store(sum, chain, row);
    });
  };
  clear(total);
  b.loop(none, b.integer(columns), longestChain, [&](Value begin) {
    Value to = b.min(b.add(begin, longestChain), columns);
    Value whole = b.add(
        begin, b.mul(b.div(b.sub(to, begin), panelColumns), panelColumns));
    clear(chain);
    b.loop(begin, whole, panelColumns,
           [&](Value column) { combineColumns(column, panelColumns); });
    b.loop(whole, to, 1, [&](Value column) { combineColumns(column, 1); });
    b.loop(none, end, width, [&](Value row) {
      store(
          reducer.combine(arithmetic.kind, load(total, row), load(chain, row)),
          total, row);
    });
  });
  b.loop(none, end, width, [&](Value row) {
    Value result = reducer.finish(reduce.getKind(), load(total, row));
    writeResults(
        b.add(first, row), [&](Value, int64_t) { return result; }, width);
  });
}

void RowBuilder::buildSoftmax(Value row, Element input) {
  Value largest = reducer.reduce(ReduceKind::max, input);
  Value sum = reducer.sum([&](Value column, int64_t width) {
    Value x = readBuffer(column, width);
    Value e = math::ExpOp::create(b, sub(x, like(x, largest)));
    b.store(e, exponentials, plan.compute, inBuffer(column));
    return e;
  });
  Value factor = arith::DivFOp::create(b, scalar(1), sum);
  writeResults(row, [&](Value column, int64_t width) {
    Value e = b.load(exponentials, plan.compute, inBuffer(column), width);
    return mul(e, like(e, factor));
  });
}

Value RowBuilder::averageFirst(Element input) {
  int64_t count =
      std::min<int64_t>(llvm::bit_floor<uint64_t>(plan.region.columns), 8);
  SmallVector<Value> terms;
  for (int64_t i = 0; i < count; ++i)
    terms.push_back(mul(input(b.integer(i), together), scalar(1.0 / count)));
  // In pairs: powers of two of a number are exact.
  for (; count > 1; count /= 2)
    for (int64_t i = 0; i < count / 2; ++i)
      terms[i] = arith::AddFOp::create(b, terms[i], terms[i + count / 2]);
  return terms.front();
}

void RowBuilder::buildNorm(Value row, NormOp norm, Element input) {
  Value count = scalar(plan.region.columns);
  Value mean;
  Value squares;
  if (norm.getKind() == NormKind::layer) {
    // Sums differences from the mean of the first elements, so that the mean of
    // equal numbers is exact, and that of numbers close to each other nearly.
    Value first = averageFirst(input);
    Value sum = reducer.sum([&](Value column, int64_t width) {
      Value x = input(column, width);
      return sub(x, like(x, first));
    });
    mean = add(first, arith::DivFOp::create(b, sum, count));
    squares = reducer.sum([&](Value column, int64_t width) {
      Value x = readBuffer(column, width);
      Value difference = sub(x, like(x, mean));
      return mul(difference, difference);
    });
  } else {
    squares = reducer.sum([&](Value column, int64_t width) {
      Value x = input(column, width);
      return mul(x, x);
    });
  }
  Value variance = arith::DivFOp::create(b, squares, count);
  Value deviation = math::SqrtOp::create(
      b, add(variance, scalar(norm.getEps().convertToDouble())));
  Value factor = arith::DivFOp::create(b, scalar(1), deviation);
  Value zero = b.integer(0);
  writeResults(row, [&](Value column, int64_t width) {
    Value x = readBuffer(column, width);
    if (mean)
      x = sub(x, like(x, mean));
    x = mul(x, like(x, factor));
    // Rows share the weights.
    auto operand = [&](const RowElements &elements) {
      Value value =
          elements.build(b, elements.rowOffsets(b, zero), column,
                         together ? 0 : width, [](Value) { return Value(); });
      return together ? b.splat(value, width) : value;
    };
    if (plan.weight)
      x = mul(x, operand(*plan.weight));
    if (plan.bias)
      x = add(x, operand(*plan.bias));
    return x;
  });
}

void RowBuilder::build() {
  int64_t rows = plan.region.rows;
  // Blocks of rows that are computed at once.
  int64_t run = together ? plan.getRun() : rows;
  int64_t blocks = rows / run * (run / atOnce);
  int64_t perTile = std::max<int64_t>(grain / atOnce, 1);
  b.getLayout().tiles = ceilDivide(blocks, perTile);
  Value index = b.beginTile();
  // A reduction reads its input once; exponentials replace the input, unless a
  // result reads that too.
  if (!plan.region.isReduction() || plan.keepsInput())
    buffer = b.scratch(plan.compute, getBufferSize());
  exponentials = buffer;
  if (isa<SoftmaxOp>(plan.region.op) && plan.keepsInput())
    exponentials = b.scratch(plan.compute, getBufferSize());
  auto reduce = dyn_cast<ReduceOp>(plan.region.op);
  Value from = b.mul(index, perTile);
  b.loop(from, b.min(b.add(from, perTile), blocks), 1, [&](Value block) {
    b.blockOfRun(block, run, atOnce, [&](Value first) {
      if (together ? atOnce == together : atOnce == 1)
        buildRow(first);
      else if (together)
        buildPanel(first, reduce);
      else
        buildRows(first, reduce);
    });
  });
  b.endFunction();
}

void RowwisePlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  RowBuilder(b, row, cast<HostRowsAttr>(schedule).getGrain()).build();
}

void host::registerRowwiseFamily(DialectRegistry &registry) {
  registerFamily<RowwiseFamily>(registry);
}
