//===- RowReducer.cpp - Reductions of the elements of a row ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowReducer.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

RowReducer::RowReducer(KernelBuilder &b, Type compute, int64_t columns)
    : b(b), compute(compute), columns(columns), lanes(b.getLoopLanes(compute)),
      isFloat(isa<FloatType>(compute)),
      flags(isFloat
                ? arith::FastMathFlags::contract | arith::FastMathFlags::reassoc
                : arith::FastMathFlags::none) {}

Value RowReducer::combine(vector::CombiningKind kind, Value x, Value y) {
  return vector::makeArithReduction(
      b, b.getLoc(), kind, x, y,
      arith::FastMathFlagsAttr::get(b.getContext(), flags));
}

/// Reduces a long row in blocks and combines the blocks' results: the error of
/// a sum grows with its longest chain of additions, which blocks shorten to
/// about the square root of the row's length.
Value RowReducer::reduceRow(Value initial, vector::CombiningKind kind,
                            Element element) {
  auto next = [&](Value column, int64_t width, ValueRange state) {
    return SmallVector<Value>{combine(kind, state[0], element(column, width))};
  };
  auto joinLanes = [&](ValueRange state) {
    return SmallVector<Value>{
        vector::ReductionOp::create(b, kind, state[0], flags)};
  };
  Value start = b.splat(initial, lanes), none = b.integer(0),
        end = b.integer(columns);
  int64_t vectors = columns / lanes;
  int64_t block = std::max<int64_t>(32, std::sqrt(double(vectors)));
  if (vectors <= 2 * block)
    return b.columns(none, end, lanes, start, next, joinLanes).front();
  Value whole = b.integer(vectors * lanes);
  SmallVector<Value> total = b.loop(
      none, whole, block * lanes, start, [&](Value from, ValueRange state) {
        Value to = b.min(b.add(from, block * lanes), whole);
        Value sum =
            b.loop(from, to, lanes, start, [&](Value column, ValueRange state) {
               return next(column, lanes, state);
             }).front();
        return SmallVector<Value>{combine(kind, state[0], sum)};
      });
  SmallVector<Value> joined = joinLanes(total);
  if (vectors * lanes != columns)
    joined = b.loop(whole, end, 1, joined, [&](Value column, ValueRange state) {
      return next(column, 0, state);
    });
  return joined.front();
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

/// Each lane keeps its best element and that element's column; the lanes and
/// the remainder of the row are joined at the end. NaN is better than any
/// number.
Value RowReducer::findExtreme(bool largest, Element element) {
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
  // The column of a lane that has seen no element; it comes after all others.
  Value worst = extreme(!largest);
  Value none = b.integer(std::numeric_limits<int64_t>::max());
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value iota = arith::ConstantOp::create(b, b.getI64VectorAttr(numbers));
  // Of equal elements the first wins, and any element over none.
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
          b.integer(0), b.integer(columns), lanes, start,
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

Value RowReducer::sum(Element element) {
  return reduceRow(scalar(0), vector::CombiningKind::ADD, element);
}

Value RowReducer::reduce(ReduceKind kind, Element element) {
  switch (kind) {
  case ReduceKind::sum:
    return sum(element);
  case ReduceKind::mean:
    return arith::DivFOp::create(b, sum(element), scalar(columns));
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
