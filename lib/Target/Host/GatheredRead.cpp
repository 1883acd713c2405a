//===- GatheredRead.cpp - Neighbors that are read through gathers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GatheredRead.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// How far ahead what is read backwards is asked for.
static constexpr int64_t prefetchedBytes = 1024;

void GatheredRead::addShared(Value index, const PointwiseGraph::Index &gather) {
  auto [safe, isInside] = getSafe(index, gather.size);
  Value distance = b.mul(safe, gather.stride);
  sharedOffset = sharedOffset ? b.add(sharedOffset, distance) : distance;
  inside = inside ? arith::AndIOp::create(b, inside, isInside) : isInside;
}

void GatheredRead::add(Value each, const PointwiseGraph::Index &gather,
                       bool mayCount) {
  indices.push_back({widen(each), gather.stride, gather.size, mayCount});
}

Value GatheredRead::widen(Value index) {
  Type type = getElementTypeOrSelf(index.getType());
  if (type.isInteger(64))
    return index;
  auto vector = dyn_cast<VectorType>(index.getType());
  return arith::ExtSIOp::create(
      b, b.withWidth(b.getI64Type(), vector ? width : 0), index);
}

std::pair<Value, Value> GatheredRead::getSafe(Value index, int64_t size) {
  index = widen(index);
  // Compared as unsigned, so that a negative index fails the bound check.
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                            b.constant(double(size), index.getType()));
  Value safe = arith::SelectOp::create(b, isInside, index,
                                       b.constant(0, index.getType()));
  return {safe, isInside};
}

Value GatheredRead::orNothing(Value inside, Value found) {
  double nothing =
      isa<FloatType>(storage) ? std::numeric_limits<double>::quiet_NaN() : 0;
  return arith::SelectOp::create(b, inside, found,
                                 b.constant(nothing, found.getType()));
}

Value GatheredRead::count(int64_t step) {
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(i * step);
  return arith::ConstantOp::create(b, b.getI64VectorAttr(numbers));
}

GatheredRead::Distances GatheredRead::findDistances() {
  Distances distances;
  distances.vector = count(stride);
  for (const Indices &each : indices) {
    auto [safe, isInside] = getSafe(each.vector, each.size);
    Value own = safe;
    if (each.stride != 1)
      own = arith::MulIOp::create(b, safe,
                                  b.splat(b.integer(each.stride), width));
    distances.vector = arith::AddIOp::create(b, distances.vector, own);
    distances.inside =
        distances.inside ? arith::AndIOp::create(b, distances.inside, isInside)
                         : isInside;
  }
  if (!b.gathersAtOnce(storage))
    for (int64_t i = 0; i < width; ++i)
      distances.each.push_back(b.lane(distances.vector, i));
  return distances;
}

/// What a table has for an index out of range.
static constexpr int64_t outside = std::numeric_limits<int64_t>::min();

void GatheredRead::tabulate(Value table, Value column) {
  Distances distances = findDistances();
  Value none = b.splat(b.integer(outside), width);
  Value kept =
      arith::SelectOp::create(b, distances.inside, distances.vector, none);
  b.store(kept, table, b.getI64Type(), column);
}

Value GatheredRead::getFirst() {
  Distances distances = findDistances();
  return b.min(b.lane(distances.vector, 0),
               b.lane(distances.vector, width - 1));
}

void GatheredRead::readTable(Value table, Value column, Order order) {
  if (indices.empty())
    return;
  Type number = b.getI64Type();
  Distances distances;
  distances.vector = b.load(table, number, column, width);
  if (order == Order::checked) {
    distances.inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, distances.vector,
                              b.splat(b.integer(outside), width));
    distances.vector = arith::SelectOp::create(
        b, distances.inside, distances.vector, b.splat(b.integer(0), width));
  }
  if (!b.gathersAtOnce(storage))
    for (int64_t i = 0; i < width; ++i)
      distances.each.push_back(order == Order::inside
                                   ? b.load(table, number, b.add(column, i))
                                   : b.lane(distances.vector, i));
  located = distances;
}

Value GatheredRead::readEach(Value pointer, Value offset, Order order) {
  Distances distances = located ? *located : findDistances();
  Value found = distances.each.empty()
                    ? b.gather(pointer, storage, offset, distances.vector)
                    : b.loadEach(pointer, storage, offset, distances.each);
  return order == Order::inside ? found : orNothing(distances.inside, found);
}

SmallVector<int64_t, 2> GatheredRead::getSteps() const {
  SmallVector<int64_t, 2> steps;
  if (indices.size() == 1 && indices.front().mayCount)
    for (int64_t step : {1, -1})
      if (std::abs(getDistance(step)) == 1)
        steps.push_back(step);
  return steps;
}

Value GatheredRead::isRun(int64_t step) {
  if (!canRun(step))
    return Value();
  if (indices.empty())
    return b.constant(1, b.getI1Type());
  using Predicate = arith::CmpIPredicate;
  const Indices &each = indices.front();
  Value expected = arith::AddIOp::create(
      b, b.splat(b.lane(each.vector, 0), width), count(step));
  Value all = vector::ReductionOp::create(
      b, vector::CombiningKind::AND,
      arith::CmpIOp::create(b, Predicate::eq, each.vector, expected));
  for (int64_t end : {int64_t(0), width - 1})
    all = arith::AndIOp::create(b, all,
                                arith::CmpIOp::create(b, Predicate::ult,
                                                      b.lane(each.vector, end),
                                                      b.integer(each.size)));
  return all;
}

Value GatheredRead::read(int64_t distance, Value pointer, Value offset) {
  if (firstOfRun) {
    offset = b.add(offset, firstOfRun);
  } else {
    const Indices &each = indices.front();
    int64_t lane = distance > 0 ? 0 : width - 1;
    offset = b.add(offset, b.mul(b.lane(each.vector, lane), each.stride));
    offset = b.add(offset, lane * stride);
  }
  Value found = b.load(pointer, storage, offset, width);
  if (distance > 0)
    return found;
  // Processors expect what is read forwards.
  b.prefetch(pointer, storage,
             b.add(offset, -prefetchedBytes / getStorageBytes(storage)));
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, width)));
  return vector::ShuffleOp::create(b, found, found, order);
}

/// The value of one of two branches.
static Value choose(KernelBuilder &b, Value condition, Type type,
                    llvm::function_ref<Value()> then,
                    llvm::function_ref<Value()> otherwise) {
  auto branch = scf::IfOp::create(b, TypeRange(type), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(b, then());
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  scf::YieldOp::create(b, otherwise());
  return branch.getResult(0);
}

Value GatheredRead::readRun(ArrayRef<int64_t> steps, Value pointer,
                            Value offset) {
  Type result = VectorType::get({width}, getComputeType(storage));
  // Most vectors are in range as a whole.
  if (steps.empty()) {
    Value inside = locate();
    return choose(
        b, inside, result,
        [&] { return readEach(pointer, offset, Order::inside); },
        [&] { return readEach(pointer, offset, Order::checked); });
  }
  int64_t step = steps.front();
  // The ends alone refute most vectors that are no run.
  Value ends = b.sub(b.lane(indices.front().vector, width - 1),
                     b.lane(indices.front().vector, 0));
  Value mayRun = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, ends,
                                       b.integer(step * (width - 1)));
  Value runs = choose(
      b, mayRun, b.getI1Type(), [&] { return isRun(step); },
      [&] { return b.constant(0, b.getI1Type()); });
  return choose(
      b, runs, result, [&] { return read(getDistance(step), pointer, offset); },
      [&] { return readRun(steps.drop_front(), pointer, offset); });
}

Value GatheredRead::locate() {
  if (indices.empty())
    return b.constant(1, b.getI1Type());
  located = findDistances();
  return vector::ReductionOp::create(b, vector::CombiningKind::AND,
                                     located->inside);
}

Value GatheredRead::build(Value pointer, Value offset, Order order) {
  if (sharedOffset)
    offset = b.add(offset, sharedOffset);
  Value found;
  if (indices.empty())
    found = b.load(pointer, storage, offset, width, stride);
  else if (order == Order::unknown)
    found = readRun(getSteps(), pointer, offset);
  else if (order == Order::up || order == Order::down)
    found = read(getDistance(order == Order::up ? 1 : -1), pointer, offset);
  else
    found = readEach(pointer, offset, order);
  return inside ? orNothing(inside, found) : found;
}
