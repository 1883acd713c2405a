//===- Rowwise.cpp - Norms, softmax and reductions over rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row at a time: the first pass computes the row op's input, stores it in a
// buffer and takes the first statistic; further passes read the buffer; the
// last one computes and writes the results.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "RowReducer.h"
#include "fact/Analysis/RowRegion.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

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
  static FailureOr<RowPlan> get(FusedOp fused, EmitError emitError);

private:
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

/// An operand of the row op, read over its own shape.
static FailureOr<RowElements>
planOperand(Value value, int64_t rows, int64_t columns, EmitError emitError) {
  auto noAnchor = [](Value, const StridedView &) { return false; };
  FailureOr<Elements> elements = Elements::plan(value, noAnchor, emitError);
  if (failed(elements))
    return failure();
  return RowElements::get(*elements, rows, columns, emitError);
}

LogicalResult RowPlan::planOperands(EmitError emitError) {
  FailureOr<RowElements> elements =
      planOperand(region.getInput(), region.rows, region.columns, emitError);
  if (failed(elements))
    return failure();
  input = *elements;
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
    FailureOr<RowElements> split =
        RowElements::get(*elements, region.rows, columns, report);
    FailureOr<RowView> target =
        RowView::get(destination.view, region.rows, columns);
    if (failed(target))
      (void)(report() << "a result of type " << result.yielded.getType()
                      << " must lie in rows of " << columns
                      << " elements at one stride");
    if (succeeded(split) && succeeded(target))
      return Result{*split, *target, result.isFull};
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

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
class RowBuilder {
public:
  RowBuilder(KernelBuilder &b, const RowPlan &plan)
      : b(b), plan(plan), reducer(b, plan.compute, plan.region.columns) {}

  void build(int64_t grain);

private:
  using Element = RowReducer::Element;

  Value add(Value x, Value y) {
    return reducer.combine(vector::CombiningKind::ADD, x, y);
  }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) {
    return reducer.combine(vector::CombiningKind::MUL, x, y);
  }
  Value scalar(double value) { return b.constant(value, plan.compute); }
  /// `scalar` in each lane of a vector as wide as `x`.
  Value like(Value x, Value scalar) {
    auto vector = dyn_cast<VectorType>(x.getType());
    return b.splat(scalar, vector ? vector.getNumElements() : 0);
  }

  Value readBuffer(Value column, int64_t width) {
    return b.load(buffer, plan.compute, column, width);
  }
  /// Elements of the input, which it also stores in the buffer, where there is
  /// one.
  Value fill(Value column, int64_t width, ArrayRef<Value> offsets);

  void buildRow(Value row);
  void buildReduction(Value row, ReduceOp reduce, Element input);
  void buildSoftmax(Value row, Element input);
  void buildNorm(Value row, NormOp norm, Element input);
  /// Writes the results of a row from the row op's output.
  void writeResults(Value row, Element output);

  KernelBuilder &b;
  const RowPlan &plan;
  RowReducer reducer;
  /// A copy of the row op's input, and softmax's exponentials.
  Value buffer, exponentials;
};
} // namespace

Value RowBuilder::fill(Value column, int64_t width, ArrayRef<Value> offsets) {
  Value x = plan.input.build(b, offsets, column, width,
                             [](Value) { return Value(); });
  if (buffer)
    b.store(x, buffer, plan.compute, column);
  return x;
}

void RowBuilder::writeResults(Value row, Element output) {
  FusedOp fused = b.getFused();
  for (unsigned number = 0; number < plan.results.size(); ++number) {
    const RowPlan::Result &result = plan.results[number];
    Type storage = cast<RankedTensorType>(fused->getResult(number).getType())
                       .getElementType();
    SmallVector<Value> offsets = result.elements.rowOffsets(b, row);
    Value target = b.rowOffset(result.destination, row);
    int64_t stride = result.destination.columnStride;
    auto write = [&](Value column, int64_t width) {
      Value element =
          result.elements.build(b, offsets, column, width, [&](Value anchor) {
            return anchor == plan.region.getInput() ? readBuffer(column, width)
                                                    : output(column, width);
          });
      b.store(element, b.getResultPointer(number), storage,
              b.add(target, b.mul(column, stride)), stride);
    };
    if (result.isFull)
      b.columns(b.integer(0), b.integer(plan.region.columns),
                reducer.getLanes(), write);
    else
      write(b.integer(0), 0);
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
               [&](Value, int64_t width) { return b.splat(result, width); });
}

void RowBuilder::buildSoftmax(Value row, Element input) {
  Value largest = reducer.reduce(ReduceKind::max, input);
  Value sum = reducer.sum([&](Value column, int64_t width) {
    Value x = readBuffer(column, width);
    Value e = math::ExpOp::create(b, sub(x, like(x, largest)));
    b.store(e, exponentials, plan.compute, column);
    return e;
  });
  Value factor = arith::DivFOp::create(b, scalar(1), sum);
  writeResults(row, [&](Value column, int64_t width) {
    Value e = b.load(exponentials, plan.compute, column, width);
    return mul(e, like(e, factor));
  });
}

void RowBuilder::buildNorm(Value row, NormOp norm, Element input) {
  Value count = scalar(plan.region.columns);
  Value mean;
  Value squares;
  if (norm.getKind() == NormKind::layer) {
    // Sums differences from the first element, so that the mean of equal
    // numbers is exact, and that of numbers close to each other nearly.
    Value first = input(b.integer(0), 0);
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
    auto operand = [&](const RowElements &elements) {
      return elements.build(b, elements.rowOffsets(b, zero), column, width,
                            [](Value) { return Value(); });
    };
    if (plan.weight)
      x = mul(x, operand(*plan.weight));
    if (plan.bias)
      x = add(x, operand(*plan.bias));
    return x;
  });
}

void RowBuilder::build(int64_t grain) {
  int64_t rows = plan.region.rows, columns = plan.region.columns;
  b.getLayout().tiles = ceilDivide(rows, grain);
  Value index = b.beginTile();
  // A reduction reads its input once; exponentials replace the input, unless a
  // result reads that too.
  if (!plan.region.isReduction() || plan.keepsInput())
    buffer = b.scratch(plan.compute, columns);
  exponentials = buffer;
  if (isa<SoftmaxOp>(plan.region.op) && plan.keepsInput())
    exponentials = b.scratch(plan.compute, columns);
  Value from = b.mul(index, grain);
  b.loop(from, b.min(b.add(from, grain), rows), 1,
         [&](Value row) { buildRow(row); });
  b.endFunction();
}

void RowwisePlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  RowBuilder(b, row).build(cast<HostRowsAttr>(schedule).getGrain());
}

void host::registerRowwiseFamily(DialectRegistry &registry) {
  registerFamily<RowwiseFamily>(registry);
}
