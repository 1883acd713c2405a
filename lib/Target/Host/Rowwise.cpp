//===- Rowwise.cpp - Norms, softmax and reductions over rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row at a time: the pointwise ops before the row operation fill a buffer
// and the first statistic, further passes read the buffer, and the pointwise
// ops after it write the results.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
struct RowPlan {
  Operation *op = nullptr;
  /// What the row operation reads.
  Value input;
  int64_t rows = 1, columns = 1;
  Type compute;
  RowElements before;
  std::optional<RowElements> weight, bias;

  struct Result {
    RowElements elements;
    RowView destination;
    /// False when a result has one element for each row.
    bool isFull;
  };
  std::vector<Result> results;

  bool isReduction() const { return isa<ReduceOp>(op); }
  /// Whether a result reads what the row operation reads.
  bool keepsInput() const {
    return llvm::any_of(results, [&](const Result &result) {
      return llvm::any_of(result.elements.elements.getLeaves(),
                          [&](const Elements::Leaf &leaf) {
                            return leaf.isAnchor && leaf.value == input;
                          });
    });
  }
  static FailureOr<RowPlan> get(FusedOp fused, EmitError emitError);

private:
  LogicalResult planRow(EmitError emitError);
  FailureOr<Result> planResult(Value yielded, EmitError emitError) const;
  bool isAnchor(Value value, const StridedView &view, bool full) const;
};

class RowwisePlan : public HostPlan {
public:
  RowwisePlan(const Family &family, FusedOp fused,
              const MachineDescription &machine, RowPlan row)
      : HostPlan(family, fused, machine), row(std::move(row)) {}

  SpaceAttrInterface getSpace() const override {
    return getRowsSpace(fused, row.rows, row.columns, 16384);
  }

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  RowPlan row;
};

class RowwiseFamily : public Family {
public:
  RowwiseFamily() : Family(rowwiseRule, "host", {&HostRowsAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    return makePlan<RowwisePlan>(fused, machine,
                                 RowPlan::get(fused, emitError));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

static bool never(Value, const StridedView &) { return false; }

/// The elements of an operand, planned over its own shape.
static FailureOr<RowElements>
planOperand(Value value, int64_t rows, int64_t columns, EmitError emitError) {
  FailureOr<Elements> elements = Elements::plan(value, never, emitError);
  if (failed(elements))
    return failure();
  return RowElements::get(*elements, rows, columns, emitError);
}

LogicalResult RowPlan::planRow(EmitError emitError) {
  input = op->getOperand(0);
  auto type = cast<RankedTensorType>(input.getType());
  compute = getComputeType(type.getElementType());
  int64_t trailing = 1;
  if (auto softmax = dyn_cast<SoftmaxOp>(op)) {
    if (softmax.getDim() != static_cast<uint64_t>(type.getRank() - 1))
      return emitError() << "takes a softmax over the last dimension, not over "
                         << softmax.getDim();
  } else if (auto norm = dyn_cast<NormOp>(op)) {
    trailing = norm.getDims();
  } else {
    auto reduce = cast<ReduceOp>(op);
    trailing = reduce.getDims().size();
    for (auto [i, dim] : llvm::enumerate(reduce.getDims()))
      if (dim != type.getRank() - trailing + static_cast<int64_t>(i))
        return emitError() << "takes a reduction over trailing dimensions";
  }
  ArrayRef<int64_t> shape = type.getShape();
  for (int64_t size : shape.take_back(trailing))
    columns *= size;
  rows = type.getNumElements() / columns;
  FailureOr<RowElements> elements =
      planOperand(input, rows, columns, emitError);
  if (failed(elements))
    return failure();
  before = *elements;
  if (auto norm = dyn_cast<NormOp>(op)) {
    for (auto [value, plan] : {std::pair(norm.getWeight(), &weight),
                               std::pair(norm.getBias(), &bias)}) {
      if (!value)
        continue;
      FailureOr<RowElements> row = planOperand(value, 1, columns, emitError);
      if (failed(row))
        return failure();
      *plan = *row;
    }
  }
  return success();
}

/// The kernel has the row operation's result and its input at each element.
bool RowPlan::isAnchor(Value value, const StridedView &view, bool full) const {
  bool isResult = value == op->getResult(0);
  if (!isResult && (value != input || !full))
    return false;
  FailureOr<RowView> split = RowView::get(view, rows, full ? columns : 1);
  if (failed(split))
    return false;
  if (isResult && isReduction())
    return split->isPlain(rows, 1, full ? columns : 1, 0);
  return full && split->isPlain(rows, columns, columns, 1);
}

FailureOr<RowPlan::Result> RowPlan::planResult(Value yielded,
                                               EmitError emitError) const {
  int64_t count = cast<RankedTensorType>(yielded.getType()).getNumElements();
  bool full = count == rows * columns;
  if (!full && count != rows)
    return emitError() << "needs results of " << rows << " rows of " << columns
                       << " elements, or of one";
  SmallVector<Destination> destinations = getDestinations(yielded);
  for (auto [i, destination] : llvm::enumerate(llvm::reverse(destinations))) {
    std::optional<Silence> silence;
    if (i + 1 < destinations.size())
      silence.emplace(op);
    EmitError report = silence ? EmitError(*silence) : emitError;
    FailureOr<Elements> elements = Elements::plan(
        destination.value,
        [&](Value value, const StridedView &view) {
          return isAnchor(value, view, full);
        },
        report);
    if (failed(elements))
      continue;
    FailureOr<RowElements> split =
        RowElements::get(*elements, rows, full ? columns : 1, report);
    FailureOr<RowView> target =
        RowView::get(destination.view, rows, full ? columns : 1);
    if (failed(target))
      (void)(report() << "needs results by rows");
    if (succeeded(split) && succeeded(target))
      return Result{*split, *target, full};
  }
  return failure();
}

FailureOr<RowPlan> RowPlan::get(FusedOp fused, EmitError emitError) {
  RowPlan plan;
  for (Operation &op : fused.getBodyOps()) {
    if (!isa<SoftmaxOp, NormOp, ReduceOp>(op))
      continue;
    if (plan.op)
      return emitError() << "takes one norm, softmax or reduction, and there "
                            "are more";
    plan.op = &op;
  }
  if (!plan.op)
    return emitError() << "needs a norm, a softmax or a reduction";
  if (failed(plan.planRow(emitError)))
    return failure();
  for (Value yielded : fused.getYield()->getOperands()) {
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
      : b(b), plan(plan), lanes(b.getLoopLanes(plan.compute)),
        isFloat(isa<FloatType>(plan.compute)),
        flags(isFloat ? arith::FastMathFlags::contract |
                            arith::FastMathFlags::reassoc
                      : arith::FastMathFlags::none) {}

  void build(int64_t grain);

private:
  Value add(Value x, Value y) {
    return combine(vector::CombiningKind::ADD, x, y);
  }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) {
    return combine(vector::CombiningKind::MUL, x, y);
  }
  Value combine(vector::CombiningKind kind, Value x, Value y) {
    return vector::makeArithReduction(b, b.getLoc(), kind, x, y, fastmath());
  }
  arith::FastMathFlagsAttr fastmath() {
    return arith::FastMathFlagsAttr::get(b.getContext(), flags);
  }
  Value scalar(double value) { return b.constant(value, plan.compute); }
  Value like(Value x, Value scalar) {
    auto vector = dyn_cast<VectorType>(x.getType());
    return b.splat(scalar, vector ? vector.getNumElements() : 0);
  }

  Value readBuffer(Value column, int64_t width) {
    return b.load(buffer, plan.compute, column, width);
  }

  /// Combines `element(column, width)` over the row.
  Value reduceRow(Value initial, vector::CombiningKind kind,
                  llvm::function_ref<Value(Value, int64_t)> element);
  Value sumRow(llvm::function_ref<Value(Value, int64_t)> element) {
    return reduceRow(scalar(0), vector::CombiningKind::ADD, element);
  }
  /// The number that no other is above, or below; of booleans, true or false.
  Value extreme(bool largest);
  vector::CombiningKind extremeKind(bool largest) const;
  arith::CmpIPredicate integerOrder(bool largest) const;

  /// The column of the first extreme element of the row.
  Value findExtreme(bool largest,
                    llvm::function_ref<Value(Value, int64_t)> element);
  Value buildReduction(ReduceKind kind,
                       llvm::function_ref<Value(Value, int64_t)> element);

  /// What the first statistic sees; fills the buffer where there is one.
  Value fill(Value column, int64_t width, ArrayRef<Value> offsets);
  void buildRow(Value row);
  void writeResults(Value row,
                    llvm::function_ref<Value(Value, int64_t)> result);

  KernelBuilder &b;
  const RowPlan &plan;
  int64_t lanes;
  bool isFloat;
  arith::FastMathFlags flags;
  /// The row as the row operation reads it, and softmax's exponentials.
  Value buffer, exponentials;
};
} // namespace

/// Long rows in blocks whose results are combined: a sum loses with its longest
/// chain of additions, which is about the root of the row's length.
Value RowBuilder::reduceRow(Value initial, vector::CombiningKind kind,
                            llvm::function_ref<Value(Value, int64_t)> element) {
  auto next = [&](Value column, int64_t width, ValueRange state) {
    return SmallVector<Value>{combine(kind, state[0], element(column, width))};
  };
  auto joinLanes = [&](ValueRange state) {
    return SmallVector<Value>{
        vector::ReductionOp::create(b, kind, state[0], flags)};
  };
  Value start = b.splat(initial, lanes), none = b.integer(0),
        end = b.integer(plan.columns);
  int64_t vectors = plan.columns / lanes;
  int64_t block = std::max<int64_t>(32, std::sqrt(double(vectors)));
  if (vectors <= 2 * block)
    return b.columns(none, end, lanes, start, next, joinLanes).front();
  Value whole = b.integer(vectors * lanes);
  SmallVector<Value> total = b.loop(
      none, whole, block * lanes, start, [&](Value from, ValueRange state) {
        Value to = b.min(b.add(from, block * lanes), whole);
        Value sum = b.loop(from, to, lanes, start,
                           [&](Value column, ValueRange state) {
                             return next(column, lanes, state);
                           })
                        .front();
        return SmallVector<Value>{combine(kind, state[0], sum)};
      });
  SmallVector<Value> joined = joinLanes(total);
  if (vectors * lanes != plan.columns)
    joined = b.loop(whole, end, 1, joined, [&](Value column, ValueRange state) {
      return next(column, 0, state);
    });
  return joined.front();
}

Value RowBuilder::extreme(bool largest) {
  if (isFloat)
    return scalar(largest ? std::numeric_limits<double>::infinity()
                          : -std::numeric_limits<double>::infinity());
  unsigned bits = plan.compute.getIntOrFloatBitWidth();
  APInt value = bits == 1 ? APInt(1, largest)
                : largest ? APInt::getSignedMaxValue(bits)
                          : APInt::getSignedMinValue(bits);
  return arith::ConstantOp::create(b, b.getIntegerAttr(plan.compute, value));
}

vector::CombiningKind RowBuilder::extremeKind(bool largest) const {
  using Kind = vector::CombiningKind;
  if (isFloat)
    return largest ? Kind::MAXIMUMF : Kind::MINIMUMF;
  if (plan.compute.isInteger(1))
    return largest ? Kind::MAXUI : Kind::MINUI;
  return largest ? Kind::MAXSI : Kind::MINSI;
}

arith::CmpIPredicate RowBuilder::integerOrder(bool largest) const {
  using Predicate = arith::CmpIPredicate;
  if (plan.compute.isInteger(1))
    return largest ? Predicate::ugt : Predicate::ult;
  return largest ? Predicate::sgt : Predicate::slt;
}

/// Each lane keeps its best element and that element's column; lanes and what
/// is left of the row join in the end. NaN is better than any number.
Value RowBuilder::findExtreme(
    bool largest, llvm::function_ref<Value(Value, int64_t)> element) {
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y).getResult();
  };
  auto isBetter = [&](Value x, Value best) -> Value {
    if (!isFloat)
      return arith::CmpIOp::create(b, integerOrder(largest), x, best);
    Value beyond =
        compare(largest ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
                x, best);
    Value isNew =
        arith::AndIOp::create(b, compare(arith::CmpFPredicate::UNO, x, x),
                              compare(arith::CmpFPredicate::ORD, best, best));
    return arith::OrIOp::create(b, beyond, isNew);
  };
  auto choose = [&](Value condition, ArrayRef<Value> x, ValueRange y) {
    return SmallVector<Value>{
        arith::SelectOp::create(b, condition, x[0], y[0]),
        arith::SelectOp::create(b, condition, x[1], y[1])};
  };
  auto isEqual = [&](Value x, Value best) -> Value {
    if (!isFloat)
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, best);
    Value bothNan =
        arith::AndIOp::create(b, compare(arith::CmpFPredicate::UNO, x, x),
                              compare(arith::CmpFPredicate::UNO, best, best));
    return arith::OrIOp::create(b, compare(arith::CmpFPredicate::OEQ, x, best),
                                bothNan);
  };
  // A column that no element has stands for none, and comes last.
  Value worst = extreme(!largest);
  Value none = b.integer(std::numeric_limits<int64_t>::max());
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value iota = arith::ConstantOp::create(b, b.getI64VectorAttr(numbers));
  // Of equal elements the first wins, and the worst possible one over none.
  auto joinOne = [&](Value x, Value column, ValueRange best) {
    Value before =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, best[1]);
    Value first = arith::AndIOp::create(b, isEqual(x, best[0]), before);
    Value better = arith::OrIOp::create(b, isBetter(x, best[0]), first);
    return choose(better, {x, column}, best);
  };
  SmallVector<Value> start{b.splat(worst, lanes), b.splat(none, lanes)};
  return b
      .columns(
          b.integer(0), b.integer(plan.columns), lanes, start,
          [&](Value column, int64_t width, ValueRange best) {
            Value x = element(column, width);
            if (width == 0)
              return joinOne(x, column, best);
            Value columns =
                arith::AddIOp::create(b, b.splat(column, width), iota);
            Value isFirst = arith::CmpIOp::create(
                b, arith::CmpIPredicate::eq, best[1], b.splat(none, width));
            Value better =
                arith::OrIOp::create(b, isBetter(x, best[0]), isFirst);
            return choose(better, {x, columns}, best);
          },
          [&](ValueRange best) {
            SmallVector<Value> result{worst, none};
            for (int64_t lane = 0; lane < lanes; ++lane)
              result =
                  joinOne(b.lane(best[0], lane), b.lane(best[1], lane), result);
            return result;
          })
      .back();
}

Value RowBuilder::buildReduction(
    ReduceKind kind, llvm::function_ref<Value(Value, int64_t)> element) {
  switch (kind) {
  case ReduceKind::sum:
    return sumRow(element);
  case ReduceKind::mean:
    return arith::DivFOp::create(b, sumRow(element), scalar(plan.columns));
  case ReduceKind::max:
    return reduceRow(extreme(false), extremeKind(true), element);
  case ReduceKind::min:
    return reduceRow(extreme(true), extremeKind(false), element);
  case ReduceKind::prod:
    return reduceRow(scalar(1), vector::CombiningKind::MUL, element);
  case ReduceKind::argmax:
  case ReduceKind::argmin:
    return findExtreme(kind == ReduceKind::argmax, element);
  }
  llvm_unreachable("all kinds are above");
}

Value RowBuilder::fill(Value column, int64_t width, ArrayRef<Value> offsets) {
  Value x = plan.before.build(b, offsets, column, width,
                              [](Value) { return Value(); });
  if (buffer)
    b.store(x, buffer, plan.compute, column);
  return x;
}

void RowBuilder::writeResults(Value row,
                              llvm::function_ref<Value(Value, int64_t)> value) {
  FusedOp fused = b.getFused();
  for (unsigned number = 0; number < plan.results.size(); ++number) {
    const RowPlan::Result &result = plan.results[number];
    Type storage = cast<RankedTensorType>(fused->getResult(number).getType())
                       .getElementType();
    SmallVector<Value> offsets = result.elements.rowOffsets(b, row);
    Value target = b.rowOffset(result.destination, row);
    int64_t stride = result.destination.columnStride;
    auto write = [&](Value column, int64_t width) {
      Value element = result.elements.build(
          b, offsets, column, width, [&](Value anchor) {
            return anchor == plan.input ? readBuffer(column, width)
                                        : value(column, width);
          });
      b.store(element, b.getResultPointer(number), storage,
              b.add(target, b.mul(column, stride)), stride);
    };
    if (result.isFull)
      b.columns(b.integer(0), b.integer(plan.columns), lanes, write);
    else
      write(b.integer(0), 0);
  }
}

void RowBuilder::buildRow(Value row) {
  SmallVector<Value> offsets = plan.before.rowOffsets(b, row);
  auto filled = [&](Value column, int64_t width) {
    return fill(column, width, offsets);
  };

  if (auto reduce = dyn_cast<ReduceOp>(plan.op)) {
    Value result = buildReduction(reduce.getKind(), filled);
    writeResults(row,
                 [&](Value, int64_t width) { return b.splat(result, width); });
    return;
  }

  if (isa<SoftmaxOp>(plan.op)) {
    Value largest = buildReduction(ReduceKind::max, filled);
    Value sum = sumRow([&](Value column, int64_t width) {
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
    return;
  }

  auto norm = cast<NormOp>(plan.op);
  Value count = scalar(plan.columns);
  Value mean;
  Value squares;
  if (norm.getKind() == NormKind::layer) {
    // From the first element on: the mean of equal numbers is exact, and that of
    // numbers close to each other nearly.
    Value first = filled(b.integer(0), 0);
    Value sum = sumRow([&](Value column, int64_t width) {
      Value x = filled(column, width);
      return sub(x, like(x, first));
    });
    mean = add(first, arith::DivFOp::create(b, sum, count));
    squares = sumRow([&](Value column, int64_t width) {
      Value x = readBuffer(column, width);
      Value difference = sub(x, like(x, mean));
      return mul(difference, difference);
    });
  } else {
    squares = sumRow([&](Value column, int64_t width) {
      Value x = filled(column, width);
      return mul(x, x);
    });
  }
  Value variance = arith::DivFOp::create(b, squares, count);
  Value deviation = math::SqrtOp::create(
      b, add(variance, scalar(norm.getEps().convertToDouble())));
  Value factor = arith::DivFOp::create(b, scalar(1), deviation);
  SmallVector<Value> none;
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
  b.getLayout().tiles = ceilDivide(plan.rows, grain);
  Value index = b.beginTile();
  // A reduction may do without; exponentials take the input's place unless a
  // result reads that too.
  if (!plan.isReduction() || plan.keepsInput())
    buffer = b.scratch(plan.compute, plan.columns);
  exponentials = buffer;
  if (isa<SoftmaxOp>(plan.op) && plan.keepsInput())
    exponentials = b.scratch(plan.compute, plan.columns);
  Value from = b.mul(index, grain);
  b.loop(from, b.min(b.add(from, grain), plan.rows), 1,
         [&](Value row) { buildRow(row); });
  b.endFunction();
}

void RowwisePlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  RowBuilder(b, row).build(cast<HostRowsAttr>(schedule).getGrain());
}

void host::registerRowwiseFamily(DialectRegistry &registry) {
  registerFamily<RowwiseFamily>(registry);
}
