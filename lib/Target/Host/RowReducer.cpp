//===- RowReducer.cpp - Reductions of the elements of a row ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowReducer.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

RowReducer::RowReducer(KernelBuilder &b, Type compute, int64_t columns,
                       int64_t together)
    : b(b), compute(compute), columns(columns), together(together),
      lanes(together ? together : b.getLoopLanes(compute)),
      isFloat(isa<FloatType>(compute)),
      flags(isFloat
                ? arith::FastMathFlags::contract | arith::FastMathFlags::reassoc
                : arith::FastMathFlags::none) {}

/// Vectors that are added one by one.
static constexpr int64_t longestBlock = 64;

Value RowReducer::combine(vector::CombiningKind kind, Value x, Value y) {
  return vector::makeArithReduction(
      b, b.getLoc(), kind, x, y,
      arith::FastMathFlagsAttr::get(b.getContext(), flags));
}

SmallVector<Value> RowReducer::loopOverRow(
    ValueRange state,
    llvm::function_ref<SmallVector<Value>(Value, int64_t, ValueRange)> body,
    llvm::function_ref<SmallVector<Value>(ValueRange)> joinLanes) {
  Value none = b.integer(0), end = b.integer(columns);
  if (!together)
    return b.columns(none, end, lanes, state, body, joinLanes);
  return b.loop(none, end, 1, state, [&](Value column, ValueRange arguments) {
    return body(column, together, arguments);
  });
}

/// Reduces long rows in blocks of blocks and combines their results: the error
/// of a sum grows with its longest chain of additions, which then grows with
/// the logarithm of the row's length.
SmallVector<Value> RowReducer::combineRows(const Arithmetic &arithmetic,
                                           ArrayRef<Element> rows) {
  auto combineAll = [&](ValueRange state, ValueRange others) {
    SmallVector<Value> next;
    for (auto [x, y] : llvm::zip_equal(state, others))
      next.push_back(combine(arithmetic.kind, x, y));
    return next;
  };
  auto next = [&](Value column, int64_t width, ValueRange state) {
    SmallVector<Value> elements;
    for (Element element : rows)
      elements.push_back(element(column, width));
    return combineAll(state, elements);
  };
  auto joinLanes = [&](ValueRange state) {
    SmallVector<Value> joined(state);
    if (!together)
      for (Value &each : joined)
        each = vector::ReductionOp::create(b, arithmetic.kind, each, flags);
    return joined;
  };
  SmallVector<Value> start(rows.size(), b.splat(arithmetic.initial, lanes));
  Value none = b.integer(0), end = b.integer(columns);
  int64_t step = getStep(), vectors = columns / step;
  if (vectors <= longestBlock)
    return loopOverRow(start, next, joinLanes);
  // Columns [from, to), of about `count` vectors.
  auto reduce = [&](auto &self, Value from, Value to,
                    int64_t count) -> SmallVector<Value> {
    if (count <= longestBlock)
      return b.loop(from, to, step, start, [&](Value column, ValueRange state) {
        return next(column, lanes, state);
      });
    int64_t block =
        std::max<int64_t>(longestBlock / 2, llvm::divideCeil(count, 16));
    return b.loop(from, to, block * step, start,
                  [&](Value begin, ValueRange state) {
                    Value end = b.min(b.add(begin, block * step), to);
                    return combineAll(state, self(self, begin, end, block));
                  });
  };
  Value whole = b.integer(vectors * step);
  SmallVector<Value> joined = joinLanes(reduce(reduce, none, whole, vectors));
  if (vectors * step != columns)
    joined = b.loop(whole, end, 1, joined, [&](Value column, ValueRange state) {
      return next(column, 0, state);
    });
  return joined;
}

Value RowReducer::extreme(bool largest) {
  if (isFloat)
    return scalar(largest ? std::numeric_limits<double>::infinity()
                          : -std::numeric_limits<double>::infinity());
  unsigned bits = compute.getIntOrFloatBitWidth();
  APInt value = bits == 1 ? APInt(1, largest)
                : largest ? APInt::getSignedMaxValue(bits)
                          : APInt::getSignedMinValue(bits);
  return arith::ConstantOp::create(b, b.getIntegerAttr(compute, value));
}

vector::CombiningKind RowReducer::extremeKind(bool largest) const {
  using Kind = vector::CombiningKind;
  if (isFloat)
    return largest ? Kind::MAXIMUMF : Kind::MINIMUMF;
  if (compute.isInteger(1))
    return largest ? Kind::MAXUI : Kind::MINUI;
  return largest ? Kind::MAXSI : Kind::MINSI;
}

arith::CmpIPredicate RowReducer::integerOrder(bool largest) const {
  using Predicate = arith::CmpIPredicate;
  if (compute.isInteger(1))
    return largest ? Predicate::ugt : Predicate::ult;
  return largest ? Predicate::sgt : Predicate::slt;
}

/// Each lane keeps its best element and that element's column; the lanes of one
/// row and its remainder are joined at the end. NaN is better than any number.
Value RowReducer::findExtreme(bool largest, Element element) {
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y).getResult();
  };
  auto isBetter = [&](Value x, Value best) -> Value {
    if (!isFloat)
      return arith::CmpIOp::create(b, integerOrder(largest), x, best);
    Value beyond =
        compare(largest ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT,
                x, best);
    return arith::AndIOp::create(
        b, beyond, compare(arith::CmpFPredicate::ORD, best, best));
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
  // Columns are as wide as elements where they can be, so that a vector of
  // either has as many registers. `none` comes after all of them.
  bool isNarrow = compute.getIntOrFloatBitWidth() <= 32 &&
                  columns < std::numeric_limits<int32_t>::max();
  Type number = isNarrow ? b.getI32Type() : b.getI64Type();
  auto narrow = [&](Value column) -> Value {
    return isNarrow ? arith::TruncIOp::create(b, number, column) : column;
  };
  Value worst = extreme(!largest);
  Value none = arith::ConstantOp::create(
      b,
      b.getIntegerAttr(number, isNarrow ? std::numeric_limits<int32_t>::max()
                                        : std::numeric_limits<int64_t>::max()));
  auto vectorType = VectorType::get({lanes}, number);
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(b.getIntegerAttr(number, together ? 0 : lane));
  Value iota =
      arith::ConstantOp::create(b, DenseElementsAttr::get(vectorType, numbers));
  // Of equal elements the first wins, and any element over none.
  auto joinOne = [&](Value x, Value column, ValueRange best) {
    Value before =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, best[1]);
    Value first = arith::AndIOp::create(b, isEqual(x, best[0]), before);
    Value better = arith::OrIOp::create(b, isBetter(x, best[0]), first);
    return choose(better, {x, column}, best);
  };
  // If nothing is better than the worst, the first element of a lane is it.
  bool hasVectors = together || columns >= lanes;
  SmallVector<Value> start{b.splat(worst, lanes),
                           hasVectors ? iota : b.splat(none, lanes)};
  auto next = [&](Value column, int64_t width, ValueRange best) {
    Value x = element(column, width);
    if (width == 0)
      return joinOne(x, narrow(column), best);
    Value columns =
        arith::AddIOp::create(b, b.splat(narrow(column), width), iota);
    return choose(isBetter(x, best[0]), {x, columns}, best);
  };
  auto joinLanes = [&](ValueRange best) {
    SmallVector<Value> result{worst, none};
    for (int64_t lane = 0; lane < lanes; ++lane)
      result = joinOne(b.lane(best[0], lane), b.lane(best[1], lane), result);
    return result;
  };
  Value found = loopOverRow(start, next, joinLanes).back();
  if (!isNarrow)
    return found;
  return arith::ExtSIOp::create(b, b.withWidth(b.getI64Type(), together),
                                found);
}

RowReducer::Arithmetic RowReducer::getArithmetic(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return {vector::CombiningKind::ADD, scalar(0)};
  case ReduceKind::max:
    return {extremeKind(true), extreme(false)};
  case ReduceKind::min:
    return {extremeKind(false), extreme(true)};
  case ReduceKind::prod:
    return {vector::CombiningKind::MUL, scalar(1)};
  case ReduceKind::argmax:
  case ReduceKind::argmin:
    break;
  }
  llvm_unreachable("positions are not combined");
}

Value RowReducer::finish(ReduceKind kind, Value combined) {
  if (kind != ReduceKind::mean)
    return combined;
  return arith::DivFOp::create(b, combined,
                               b.constant(columns, combined.getType()));
}

SmallVector<Value> RowReducer::reduceRows(ReduceKind kind,
                                          ArrayRef<Element> rows) {
  SmallVector<Value> results = combineRows(getArithmetic(kind), rows);
  for (Value &result : results)
    result = finish(kind, result);
  return results;
}

Value RowReducer::sum(Element element) {
  return reduceRows(ReduceKind::sum, element).front();
}

Value RowReducer::reduce(ReduceKind kind, Element element) {
  if (kind == ReduceKind::argmax || kind == ReduceKind::argmin)
    return findExtreme(kind == ReduceKind::argmax, element);
  return reduceRows(kind, element).front();
}
