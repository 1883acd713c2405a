//===- Sort.cpp - Places of sorted rows -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is copied as integers whose order is that of its elements.
//
// - Of a short row, each element counts the elements before it, in vectors.
// - Few places of a row are found in turn: each is the least of the keys, with
//   their places as low bits, that are more than the one before it.
// - A long row is sorted by its digits, the lowest first, which keeps the order
//   of equal elements.
// - Where more places of a long row are wanted, but not most, the last key of
//   them is found bit by bit: each bit takes a count of the smaller keys, in
//   vectors. The elements up to that key are collected and then sorted. Where
//   only the last place is wanted, nothing is.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "fact/Target/SortedRows.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
class SortPlan : public HostPlan {
public:
  SortPlan(const Family &family, FusedOp fused,
           const MachineDescription &machine, SortedRows rows)
      : HostPlan(family, fused, machine), rows(rows) {}

  static FailureOr<SortedRows> read(FusedOp fused, EmitError emitError);

  SpaceAttrInterface getSpace() const override {
    return getRowsSpace(fused, rows.countRows(), rows.length, 4096);
  }

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  SortedRows rows;
};

class SortFamily : public FamilyOf<SortPlan> {
public:
  SortFamily() : FamilyOf(sortRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "The `argsort`, and a `slice` of the last of its places where "
           "nothing else reads them.";
  }
};

/// Keys and places in memory.
struct Entries {
  Value keys, places;
};

class SortBuilder {
public:
  SortBuilder(KernelBuilder &b, const SortedRows &rows);

  void build(int64_t grain);

private:
  using Predicate = arith::CmpIPredicate;

  Value key(const APInt &value, int64_t width = 0) {
    return b.splat(
        arith::ConstantOp::create(b, b.getIntegerAttr(integer, value)), width);
  }
  Value key(int64_t value, int64_t width = 0) {
    return key(APInt(bits, value, /*isSigned=*/true), width);
  }
  Value compare(Predicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value extend(Value x, Type type) {
    return arith::ExtUIOp::create(b, type, x);
  }
  Value loadKey(Value keys, Value at, int64_t width = 0) {
    return b.load(keys, integer, at, width);
  }
  Value loadPlace(Value places, Value at) {
    return b.load(places, b.getI32Type(), at);
  }
  void storePlace(Value place, Value places, Value at) {
    b.store(place, places, b.getI32Type(), at);
  }
  Value narrow(Value x) {
    return arith::TruncIOp::create(b, b.getI32Type(), x);
  }
  /// Keys in memory end with a whole vector.
  int64_t padded(int64_t count) const { return llvm::alignTo(count, lanes); }
  Value allocateKeys(int64_t count) {
    return b.scratch(integer, padded(count));
  }

  Value orderedBits(Value element);
  /// Keys larger than all others after the first `count` of them.
  void pad(Value keys, int64_t count);
  void loadRow(Value row);
  void writePlace(Value row, Value rank, Value place);

  /// The key of the last place that is wanted, and how many keys are smaller.
  /// With `mayExceed`, a larger key that as many keys are smaller than as are
  /// wanted.
  struct Limit {
    Value key, below;
  };
  Limit findLimit(bool mayExceed);
  /// Visits the elements whose keys are at most `limit`, and some others.
  SmallVector<Value> visit(Value limit, ValueRange state,
                           KernelBuilder::LoopBody body);
  Value findLast();
  void collect();
  /// Writes the places that are wanted, one after the other.
  void selectInTurn(Value row);

  /// Writes the places of the first `count` elements of `from`, of which there
  /// are `size`; null places are those of the keys.
  void sortByRank(Value row, Entries from, int64_t size);
  void sortByDigits(Value row, Entries from, Entries other, int64_t size);
  Value getDigit(Value key, Value shift);
  void sortRow(Value row);

  KernelBuilder &b;
  SortedRows rows;
  /// The type of keys, and their bits.
  IntegerType integer;
  int64_t bits;
  int64_t lanes;
  /// Whether the elements that are wanted are found one after the other, or
  /// collected before they are sorted.
  bool inTurn, collects;
  /// A row; the elements to sort; memory for as many.
  Value keys;
  Entries chosen, spare;
  /// The number of elements with each digit.
  Value digits;
};
} // namespace

/// Rows of fewer elements are sorted by rank.
static constexpr int64_t shortRow = 64;
/// Each place that is found in turn takes a pass over the row, so there are
/// few: of a long row, the bits of a key take not many more.
static bool isFoundInTurn(const SortedRows &rows) {
  return rows.length < shortRow ? 4 * rows.count <= rows.length
                                : rows.count <= 2;
}
static constexpr int64_t digitBits = 8, digitCount = 1 << digitBits;

FailureOr<SortedRows> SortPlan::read(FusedOp fused, EmitError emitError) {
  FailureOr<SortedRows> rows = SortedRows::read(fused, emitError);
  if (succeeded(rows) && rows->length >= INT32_MAX)
    return emitError() << "a row has less than 2^31 elements, not "
                       << rows->length;
  return rows;
}

SortBuilder::SortBuilder(KernelBuilder &b, const SortedRows &rows)
    : b(b), rows(rows),
      integer(b.getIntegerType(rows.element.getIntOrFloatBitWidth() > 32 ? 64
                                                                         : 32)),
      bits(integer.getWidth()), lanes(b.getLoopLanes(integer)),
      inTurn(!rows.onlyLast && bits == 32 && isFoundInTurn(rows)),
      collects(!rows.onlyLast && rows.length >= shortRow &&
               4 * rows.count <= rows.length) {}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// An element as an integer whose order, with a sign, is that of the elements;
/// a NaN is the largest, and both zeros are equal.
Value SortBuilder::orderedBits(Value element) {
  auto vector = dyn_cast<VectorType>(element.getType());
  int64_t width = vector ? vector.getNumElements() : 0;
  Type type = b.withWidth(integer, width);
  Value result = element;
  if (isa<FloatType>(getElementTypeOrSelf(element))) {
    using F = arith::CmpFPredicate;
    Value zero = b.constant(0, element.getType());
    Value isZero = arith::CmpFOp::create(b, F::OEQ, element, zero);
    Value raw =
        arith::BitcastOp::create(b, type, select(isZero, zero, element));
    Value sign = arith::ShRSIOp::create(b, raw, key(bits - 1, width));
    Value magnitude = key(APInt::getSignedMaxValue(bits), width);
    Value flipped = arith::XOrIOp::create(
        b, raw, arith::AndIOp::create(b, sign, magnitude).getResult());
    Value isNan = arith::CmpFOp::create(b, F::UNO, element, element);
    result = select(isNan, magnitude, flipped);
  } else if (rows.element.isInteger(1)) {
    result = extend(element, type);
  } else if (element.getType() != type) {
    result = arith::ExtSIOp::create(b, type, element);
  }
  // Equal keys stay in order, so that not the order of all is reversed.
  return rows.descending ? arith::XOrIOp::create(b, result, key(-1, width))
                         : result;
}

void SortBuilder::pad(Value keys, int64_t count) {
  Value largest = key(APInt::getSignedMaxValue(bits));
  b.loop(b.integer(count), b.integer(padded(count)), 1,
         [&](Value i) { b.store(largest, keys, integer, i); });
}

void SortBuilder::loadRow(Value row) {
  Value operand = b.getFused().getBody().getArgument(0);
  Value begin = b.add(b.mul(b.div(row, rows.inner), rows.length * rows.inner),
                      rows.inner == 1 ? b.integer(0) : b.rem(row, rows.inner));
  b.columns(b.integer(0), b.integer(rows.length), lanes,
            [&](Value column, int64_t width) {
              Value x = b.load(b.getPointer(operand), rows.element,
                               b.add(begin, b.mul(column, rows.inner)), width,
                               rows.inner);
              b.store(orderedBits(x), keys, integer, column);
            });
}

void SortBuilder::writePlace(Value row, Value rank, Value place) {
  int64_t count = rows.onlyLast ? 1 : rows.count;
  Value at = b.add(b.mul(b.div(row, rows.inner), count * rows.inner),
                   b.mul(rank, rows.inner));
  if (rows.inner > 1)
    at = b.add(at, b.rem(row, rows.inner));
  b.store(place, b.getResultPointer(0), b.getI64Type(), at);
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

SortBuilder::Limit SortBuilder::findLimit(bool mayExceed) {
  Value wanted = b.integer(rows.count), none = b.integer(0);
  Type count = b.withWidth(b.getI32Type(), lanes);
  // From the smallest key upwards: the first bit that is added is the sign.
  Value smallest = key(APInt::getSignedMinValue(bits));
  SmallVector<Value> found = b.loop(
      none, b.integer(bits), 1, ValueRange{smallest, none},
      [&](Value i, ValueRange state) -> SmallVector<Value> {
        Value position = b.sub(b.integer(bits - 1), i);
        if (bits == 32)
          position = narrow(position);
        Value next = arith::AddIOp::create(
            b, state[0], arith::ShLIOp::create(b, key(1), position));
        // No bit changes a limit that as many keys are below as are wanted.
        Value isOpen = compare(Predicate::ne, state[1], wanted);
        Value end = select(isOpen, b.integer(padded(rows.length)), none);
        Value bound = b.splat(next, lanes);
        Value counts = b.loop(none, end, lanes, b.constant(0, count),
                              [&](Value at, ValueRange counts) {
                                Value isBelow =
                                    compare(Predicate::slt,
                                            loadKey(keys, at, lanes), bound);
                                return SmallVector<Value>{arith::AddIOp::create(
                                    b, counts[0], extend(isBelow, count))};
                              })
                           .front();
        Value below = extend(
            vector::ReductionOp::create(b, vector::CombiningKind::ADD, counts),
            b.getI64Type());
        Value fits =
            compare(mayExceed ? Predicate::ule : Predicate::ult, below, wanted);
        fits = arith::AndIOp::create(b, fits, isOpen);
        return {select(fits, next, state[0]), select(fits, below, state[1])};
      });
  return {found[0], found[1]};
}

SmallVector<Value> SortBuilder::visit(Value limit, ValueRange state,
                                      KernelBuilder::LoopBody body) {
  Value bound = b.splat(limit, lanes);
  return b.loop(b.integer(0), b.integer(padded(rows.length)), lanes, state,
                [&](Value begin, ValueRange state) {
                  Value reaches = compare(Predicate::sle,
                                          loadKey(keys, begin, lanes), bound);
                  Value any = vector::ReductionOp::create(
                      b, vector::CombiningKind::OR, reaches);
                  Value end = b.min(b.add(begin, lanes), rows.length);
                  return b.loop(begin, select(any, end, begin), 1, state, body);
                });
}

/// The place of the last key that is wanted. Of equal keys, those before it
/// come first.
Value SortBuilder::findLast() {
  Limit limit = findLimit(/*mayExceed=*/false);
  Value before = b.sub(b.integer(rows.count - 1), limit.below);
  Value none = b.integer(0);
  return visit(limit.key, ValueRange{none, none},
               [&](Value i, ValueRange state) -> SmallVector<Value> {
                 Value isEqual =
                     compare(Predicate::eq, loadKey(keys, i), limit.key);
                 Value isFound = arith::AndIOp::create(
                     b, isEqual, compare(Predicate::eq, state[0], before));
                 return {b.add(state[0], extend(isEqual, b.getI64Type())),
                         select(isFound, i, state[1])};
               })
      .back();
}

/// Copies the elements that are wanted, in their order.
void SortBuilder::collect() {
  Limit limit = findLimit(/*mayExceed=*/true);
  Value equal = b.sub(b.integer(rows.count), limit.below);
  visit(limit.key, ValueRange{b.integer(0), equal},
        [&](Value i, ValueRange state) -> SmallVector<Value> {
          Value x = loadKey(keys, i);
          Value at = state[0];
          Value isEqual = compare(Predicate::eq, x, limit.key);
          isEqual = arith::AndIOp::create(
              b, isEqual, compare(Predicate::ne, state[1], b.integer(0)));
          Value isBelow = compare(Predicate::slt, x, limit.key);
          Value isWanted = arith::OrIOp::create(b, isBelow, isEqual);
          b.ifThen(isWanted, [&] {
            b.store(x, chosen.keys, integer, at);
            storePlace(narrow(i), chosen.places, at);
          });
          return {b.add(state[0], extend(isWanted, b.getI64Type())),
                  b.sub(state[1], extend(isEqual, b.getI64Type()))};
        });
}

/// Keys are of 32 bits. Places count from 1, so that the least number of 64
/// bits comes before all.
void SortBuilder::selectInTurn(Value row) {
  Type number = b.getI64Type();
  int64_t width = b.getLoopLanes(number);
  int64_t size = llvm::alignTo(rows.length, width);
  Value numbers = b.scratch(number, size), none = b.integer(0);
  Value shift = b.integer(32);
  b.columns(
      none, b.integer(rows.length), width, [&](Value column, int64_t own) {
        Type type = b.withWidth(number, own);
        Value high = arith::ShLIOp::create(
            b, arith::ExtSIOp::create(b, type, loadKey(keys, column, own)),
            b.splat(shift, own));
        auto steps = llvm::to_vector(llvm::seq<int64_t>(1, own + 1));
        Value place = b.splat(b.add(column, own ? 0 : 1), own);
        if (own)
          place = arith::AddIOp::create(
              b, place,
              arith::ConstantOp::create(b, b.getI64VectorAttr(steps)));
        b.store(arith::OrIOp::create(b, high, place), numbers, number, column);
      });
  Value largest = b.integer(INT64_MAX);
  b.loop(b.integer(rows.length), b.integer(size), 1,
         [&](Value i) { b.store(largest, numbers, number, i); });
  b.loop(none, b.integer(rows.count), 1, b.integer(INT64_MIN),
         [&](Value rank, ValueRange last) -> SmallVector<Value> {
           Value before = b.splat(last[0], width);
           Value rest = b.splat(largest, width);
           Value least =
               b.loop(none, b.integer(size), width, rest,
                      [&](Value i, ValueRange least) -> SmallVector<Value> {
                        Value x = b.load(numbers, number, i, width);
                        x = select(compare(Predicate::sgt, x, before), x, rest);
                        return {arith::MinSIOp::create(b, x, least[0])};
                      })
                   .front();
           Value next = vector::ReductionOp::create(
               b, vector::CombiningKind::MINSI, least);
           Value place = extend(narrow(next), number);
           writePlace(row, rank, b.add(place, -1));
           return {next};
         });
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

void SortBuilder::sortByRank(Value row, Entries from, int64_t size) {
  pad(from.keys, size);
  Type count = b.withWidth(integer, lanes);
  SmallVector<Attribute> steps;
  for (int64_t i = 0; i < lanes; ++i)
    steps.push_back(b.getIntegerAttr(integer, i));
  Value lane = arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(count), steps));
  auto asKey = [&](Value i) { return bits == 32 ? narrow(i) : i; };
  b.loop(b.integer(0), b.integer(size), 1, [&](Value i) {
    Value own = b.splat(loadKey(from.keys, i), lanes);
    Value place = b.splat(asKey(i), lanes);
    Value counts =
        b.loop(b.integer(0), b.integer(padded(size)), lanes,
               b.constant(0, count),
               [&](Value j, ValueRange counts) {
                 Value other = loadKey(from.keys, j, lanes);
                 Value otherPlace =
                     arith::AddIOp::create(b, b.splat(asKey(j), lanes), lane);
                 Value isEqual = arith::AndIOp::create(
                     b, compare(Predicate::eq, other, own),
                     compare(Predicate::slt, otherPlace, place));
                 Value isBefore = arith::OrIOp::create(
                     b, compare(Predicate::slt, other, own), isEqual);
                 return SmallVector<Value>{arith::AddIOp::create(
                     b, counts[0], extend(isBefore, count))};
               })
            .front();
    Value rank =
        vector::ReductionOp::create(b, vector::CombiningKind::ADD, counts);
    if (bits == 32)
      rank = extend(rank, b.getI64Type());
    Value at = i;
    if (from.places)
      at = extend(loadPlace(from.places, i), b.getI64Type());
    if (rows.onlyLast)
      b.ifThen(compare(Predicate::eq, rank, b.integer(rows.count - 1)),
               [&] { writePlace(row, b.integer(0), at); });
    else
      b.ifThen(compare(Predicate::slt, rank, b.integer(rows.count)),
               [&] { writePlace(row, rank, at); });
  });
}

/// The digit at a shift, by which keys with a sign are in order.
Value SortBuilder::getDigit(Value x, Value shift) {
  Value sign = key(APInt::getSignedMinValue(bits));
  Value high =
      arith::ShRUIOp::create(b, arith::XOrIOp::create(b, x, sign), shift);
  Value digit = arith::AndIOp::create(b, high, key(digitCount - 1));
  return bits == 32 ? extend(digit, b.getI64Type()) : digit;
}

void SortBuilder::sortByDigits(Value row, Entries from, Entries other,
                               int64_t size) {
  int64_t passes = bits / digitBits;
  Type i32 = b.getI32Type();
  Value none = b.integer(0), end = b.integer(size);
  Value one = b.constant(1, i32);
  Value zeros = b.constant(0, b.withWidth(i32, 8));
  b.loop(none, b.integer(passes * digitCount), 8,
         [&](Value i) { b.store(zeros, digits, i32, i); });
  b.loop(none, end, 1, [&](Value i) {
    Value x = loadKey(from.keys, i);
    for (int64_t pass = 0; pass < passes; ++pass) {
      Value at = b.add(getDigit(x, key(pass * digitBits)), pass * digitCount);
      b.store(arith::AddIOp::create(b, b.load(digits, i32, at), one), digits,
              i32, at);
    }
  });
  // Each pass moves all elements, unless they agree in the digit.
  SmallVector<Value> entries{from.keys, from.places, other.keys, other.places};
  SmallVector<Value> sorted = b.loop(
      none, b.integer(passes), 1, entries,
      [&](Value pass, ValueRange state) -> SmallVector<Value> {
        Value shift = b.mul(pass, digitBits);
        if (bits == 32)
          shift = narrow(shift);
        Value first = b.mul(pass, digitCount);
        auto counter = [&](Value x) {
          return b.add(first, getDigit(x, shift));
        };
        Value alike =
            b.load(digits, i32, counter(loadKey(state[0], b.integer(0))));
        Value moves = compare(Predicate::ne, alike, b.constant(size, i32));
        b.loop(first, select(moves, b.add(first, digitCount), first), 1,
               b.constant(0, i32),
               [&](Value i, ValueRange before) -> SmallVector<Value> {
                 Value count = b.load(digits, i32, i);
                 b.store(before[0], digits, i32, i);
                 return {arith::AddIOp::create(b, before[0], count)};
               });
        b.loop(none, select(moves, end, none), 1, [&](Value i) {
          Value x = loadKey(state[0], i), place = loadPlace(state[1], i);
          Value at = counter(x), target = b.load(digits, i32, at);
          b.store(arith::AddIOp::create(b, target, one), digits, i32, at);
          target = extend(target, b.getI64Type());
          b.store(x, state[2], integer, target);
          storePlace(place, state[3], target);
        });
        return {select(moves, state[2], state[0]),
                select(moves, state[3], state[1]),
                select(moves, state[0], state[2]),
                select(moves, state[1], state[3])};
      });
  b.loop(none, b.integer(rows.count), 1, [&](Value rank) {
    writePlace(row, rank, extend(loadPlace(sorted[1], rank), b.getI64Type()));
  });
}

void SortBuilder::sortRow(Value row) {
  loadRow(row);
  if (inTurn)
    return selectInTurn(row);
  if (rows.length < shortRow)
    return sortByRank(row, {keys, {}}, rows.length);
  pad(keys, rows.length);
  if (rows.onlyLast)
    return writePlace(row, b.integer(0), findLast());
  if (collects) {
    collect();
    if (rows.count < shortRow)
      return sortByRank(row, chosen, rows.count);
    return sortByDigits(row, chosen, spare, rows.count);
  }
  b.loop(b.integer(0), b.integer(rows.length), 1,
         [&](Value i) { storePlace(narrow(i), chosen.places, i); });
  sortByDigits(row, chosen, spare, rows.length);
}

void SortBuilder::build(int64_t grain) {
  b.getLayout().tiles = ceilDivide(rows.countRows(), grain);
  Value from = b.mul(b.beginTile(), grain);
  keys = allocateKeys(rows.length);
  if (rows.length >= shortRow && !rows.onlyLast && !inTurn) {
    int64_t size = collects ? rows.count : rows.length;
    Type place = b.getI32Type();
    chosen = {collects ? allocateKeys(size) : keys, b.scratch(place, size)};
    spare = {allocateKeys(size), b.scratch(place, size)};
    digits = b.scratch(place, bits / digitBits * digitCount);
  }
  b.loop(from, b.min(b.add(from, grain), rows.countRows()), 1,
         [&](Value row) { sortRow(row); });
  b.endFunction();
}

void SortPlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  SortBuilder(b, rows).build(cast<HostRowsAttr>(schedule).getGrain());
}

void host::registerSortFamily(DialectRegistry &registry) {
  registerFamily<SortFamily>(registry);
}
