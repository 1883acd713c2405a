//===- GemmStream.cpp - Products of few rows, with B in place -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packing B would take longer than multiplying it with few rows of A. Instead,
// some rows of B at a time are read in pieces that are as long as a tile, which
// is how processors fetch ahead, and added to sums in memory, which the first
// cache holds. A block of K has sums of its own, so that chains of additions
// are not as long as K.
//
//===----------------------------------------------------------------------===//

#include "GemmBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// Rows of B that are read at once. Each is a stream of its own to the
/// processor, and all share one pass over the chains.
static constexpr int64_t rowsAtOnce = 4;

/// Adds rows [k, k + rows) of B, times A, to the chains of `count` columns.
void GemmBuilder::streamRows(Value base, Value count, Value from, Value k,
                             int64_t rows) {
  const GemmPlan::Product &product = plan.products.front();
  Value source = b.getPointer(product.b.base);
  // Of all rows of A, one element for each row of B.
  SmallVector<Value> factors;
  Value offsetA = b.mul(b.sub(k, from), mr);
  int64_t total = mr * rows;
  int64_t group =
      b.getCpu().hasLaneMultiply() ? std::min<int64_t>(lanes, 4) : 1;
  while (total % group)
    group /= 2;
  for (int64_t i = 0; i < total; i += group) {
    Value loaded = b.load(packedA, plan.compute, b.add(offsetA, i),
                          group == 1 ? 0 : group);
    for (int64_t j = 0; j < group; ++j)
      factors.push_back(group == 1 ? loaded : b.lane(loaded, j));
  }
  // Sums fill half of the registers.
  int64_t vectors = std::clamp<int64_t>(
      llvm::bit_floor<uint64_t>(b.getCpu().getVectorRegisters() / 2 / mr), 1,
      4);
  b.columns(
      b.integer(0), count, vectors * lanes, ValueRange(),
      [&](Value column, int64_t width, ValueRange) {
        int64_t own = width ? lanes : 0;
        for (int64_t v = 0; v < (width ? vectors : 1); ++v) {
          Value first = b.add(column, v * lanes);
          SmallVector<Value> state;
          for (int64_t row = 0; row < mr; ++row)
            state.push_back(
                b.load(chains, plan.compute, b.add(first, row * nr), own));
          for (int64_t i = 0; i < rows; ++i) {
            Value offset = b.add(
                b.add(base, b.mul(b.add(k, i), product.b.columnStride)), first);
            Value read = b.load(source, plan.storage, offset, own);
            for (int64_t row = 0; row < mr; ++row) {
              Value factor = b.splat(factors[i * mr + row], own);
              Value &sum = state[row];
              if (own)
                sum = vector::FMAOp::create(b, factor, read, sum);
              else
                sum = math::FmaOp::create(b, factor, read, sum);
            }
          }
          for (int64_t row = 0; row < mr; ++row)
            b.store(state[row], chains, plan.compute, b.add(first, row * nr));
        }
        return SmallVector<Value>();
      },
      [](ValueRange) { return SmallVector<Value>(); });
}

/// Adds the chains to the panel's sums, or begins these with them.
void GemmBuilder::addChains(const Position &at, Value count, Value isFirst) {
  auto forAll = [&](bool begins) {
    for (int64_t row = 0; row < mr; ++row)
      b.columns(
          b.integer(0), count, lanes, ValueRange(),
          [&](Value column, int64_t width, ValueRange) {
            Value place = b.add(column, row * nr), own = b.add(at.sums, place);
            Value sum = b.load(chains, plan.compute, place, width);
            if (!begins)
              sum = arith::AddFOp::create(
                  b, b.load(sums, plan.compute, own, width), sum);
            b.store(sum, sums, plan.compute, own);
            return SmallVector<Value>();
          },
          [](ValueRange) { return SmallVector<Value>(); });
  };
  b.ifThen(
      isFirst, [&] { forAll(/*begins=*/true); },
      [&] { forAll(/*begins=*/false); });
}

void GemmBuilder::stream(const Segment &segment, const Position &at, Value from,
                         Value to) {
  const RowView &view = plan.products.front().b;
  Value first = b.mul(at.panel, nr);
  Value count = b.min(b.sub(b.integer(segment.n), first), nr);
  Value base = b.add(b.rowOffset(view, b.mul(batch, segment.n)), first);
  b.columns(b.integer(0), b.integer(mr * nr), lanes,
            [&](Value i, int64_t width) {
              b.store(b.constant(0, b.withWidth(plan.compute, width)), chains,
                      plan.compute, i);
            });
  Value whole =
      b.add(from, b.mul(b.div(b.sub(to, from), rowsAtOnce), rowsAtOnce));
  b.loop(from, whole, rowsAtOnce,
         [&](Value k) { streamRows(base, count, from, k, rowsAtOnce); });
  b.loop(whole, to, 1, [&](Value k) { streamRows(base, count, from, k, 1); });
  addChains(
      at, count,
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, b.integer(0)));
}
