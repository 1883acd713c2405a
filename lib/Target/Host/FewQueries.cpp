//===- FewQueries.cpp - Attention of one query or few ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few queries do not fill the lanes of a register, and keys and values are read
// once, so products are those of matrices and vectors: a score is a dot product
// along the head, and an output adds rows of values. The query heads that share
// keys and values are rows of one tile, which reads these once for all of them.
//
//===----------------------------------------------------------------------===//

#include "FewQueries.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace fact;
using namespace fact::host;

int64_t host::getRegisterLanes(const Cpu &cpu, const AttentionRegion &region) {
  return cpu.getRegisterLanes(getStorageBytes(getComputeType(region.element)));
}

bool host::hasFewQueries(const Cpu &cpu, const AttentionRegion &region) {
  return 2 * region.queries <= getRegisterLanes(cpu, region) &&
         region.key.strides[3] == 1 && region.value.strides[3] == 1;
}

namespace {
class FewQueriesBuilder {
public:
  FewQueriesBuilder(KernelBuilder &b, const AttentionRegion &region)
      : b(b), region(region), storage(region.element),
        compute(getComputeType(storage)),
        lanes(getRegisterLanes(b.getCpu(), region)),
        registers(b.getCpu().getVectorRegisters()),
        total(region.getGroup() * region.queries),
        keys(region.causal ? std::min(region.queries, region.keys)
                           : region.keys) {
    // The scores of a vector of keys take half of the registers at most.
    for (rows = std::clamp<int64_t>(registers / (2 * lanes), 1, 4);
         total % rows;)
      --rows;
  }

  void build();

private:
  Value vectorOf(double value, int64_t width) {
    return b.constant(value, b.withWidth(compute, width));
  }
  void findRows(Value index);
  void packQueries();
  void scoreKeys(Value key, int64_t count);
  Value addLanes(ArrayRef<Value> sums);
  void weighKeys(int64_t row);
  Value addBias(int64_t row, Value key, Value score, int64_t width);
  Value findLargest(int64_t row, Value end);
  Value sumWeights(int64_t row, Value end, Value largest);
  void writeColumns(Value column, ArrayRef<int64_t> vectors, int64_t width);
  SmallVector<Value> addValues(Value from, Value to, Value column,
                               ArrayRef<int64_t> vectors, int64_t width);
  Value scoreOffset(int64_t row, Value key) {
    return b.add(key, row * region.keys);
  }

  KernelBuilder &b;
  const AttentionRegion &region;
  Type storage, compute;
  int64_t lanes, registers;
  /// Rows, which are queries of heads that share keys and values: all of them,
  /// and those of a tile.
  int64_t total, rows;
  /// The number of keys that any query sees.
  int64_t keys;
  /// Rounding errors grow with the longest chain of additions.
  static constexpr int64_t chain = 32;

  // Values of the running tile.
  Value keyOffset, valueOffset;
  /// Of each row, its query's number and the offsets of what it reads and
  /// writes.
  struct Row {
    Value query, source, mask, target, factor;
  };
  SmallVector<Row> tile;
  /// Scaled queries as [row][column], scores and then weights as [row][key].
  Value packedQueries, scores;
};
} // namespace

void FewQueriesBuilder::findRows(Value index) {
  int64_t blocks = total / rows;
  Value block = b.rem(index, blocks);
  Value sharedHead = b.rem(b.div(index, blocks), region.keyHeads);
  Value batch = b.div(index, blocks * region.keyHeads);
  auto offsetOf = [&](const StridedView &view, Value head) {
    return b.add(b.add(b.integer(view.offset), b.mul(batch, view.strides[0])),
                 b.mul(head, view.strides[1]));
  };
  keyOffset = offsetOf(region.key, sharedHead);
  valueOffset = offsetOf(region.value, sharedHead);
  for (int64_t i = 0; i < rows; ++i) {
    Value row = b.add(b.mul(block, rows), i);
    Value query = b.rem(row, region.queries);
    Value head =
        b.add(b.mul(sharedHead, region.getGroup()), b.div(row, region.queries));
    auto rowOf = [&](const StridedView &view) {
      return b.add(offsetOf(view, head), b.mul(query, view.strides[2]));
    };
    tile.push_back({query, rowOf(region.query),
                    region.mask ? rowOf(*region.mask) : Value(),
                    rowOf(region.destination), Value()});
  }
}

void FewQueriesBuilder::packQueries() {
  Value source = b.getPointer(region.query.base);
  int64_t stride = region.query.strides[3];
  for (auto [i, row] : llvm::enumerate(tile)) {
    Value first = row.source;
    int64_t target = i * region.headSize;
    b.columns(b.integer(0), b.integer(region.headSize), lanes,
              [&](Value column, int64_t width) {
                Value q =
                    b.load(source, storage, b.add(first, b.mul(column, stride)),
                           width, stride);
                q = arith::MulFOp::create(b, q, vectorOf(region.scale, width));
                b.store(q, packedQueries, compute, b.add(column, target));
              });
  }
}

/// The sum of each vector's lanes, as a vector of as many lanes as vectors.
Value FewQueriesBuilder::addLanes(ArrayRef<Value> sums) {
  SmallVector<Value> level(sums);
  // Sums of two neighbors, until one vector is left.
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < 2 * lanes; i += 2) {
    even.push_back(i);
    odd.push_back(i + 1);
  }
  while (level.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(arith::AddFOp::create(
          b, vector::ShuffleOp::create(b, level[i], level[i + 1], even),
          vector::ShuffleOp::create(b, level[i], level[i + 1], odd)));
    level = std::move(next);
  }
  return level.front();
}

/// Scores of `count` keys, as many as lanes or one, for all rows.
void FewQueriesBuilder::scoreKeys(Value key, int64_t count) {
  Value source = b.getPointer(region.key.base);
  int64_t stride = region.key.strides[2];
  Value first = b.add(keyOffset, b.mul(key, stride));
  // Several sums of one row and key where few would wait for each other.
  int64_t parts = std::clamp<int64_t>(registers / (2 * rows * lanes), 1, 2);
  auto step = [&](Value d, int64_t parts, ValueRange state) {
    SmallVector<Value> sums = llvm::to_vector(state);
    for (int64_t part = 0; part < parts; ++part) {
      Value at = b.add(d, part * lanes);
      SmallVector<Value> queries;
      for (int64_t i = 0; i < rows; ++i)
        queries.push_back(b.load(packedQueries, compute,
                                 b.add(at, i * region.headSize), lanes));
      for (int64_t j = 0; j < count; ++j) {
        Value elements =
            b.load(source, storage, b.add(b.add(first, j * stride), at), lanes);
        for (int64_t i = 0; i < rows; ++i) {
          Value &sum = sums[(part * rows + i) * count + j];
          sum = vector::FMAOp::create(b, elements, queries[i], sum);
        }
      }
    }
    return sums;
  };
  int64_t together = parts * lanes;
  int64_t pairs = region.headSize / together * together;
  int64_t whole = region.headSize / lanes * lanes;
  SmallVector<Value> sums(parts * rows * count, vectorOf(0, lanes));
  sums = b.loop(b.integer(0), b.integer(pairs), together, sums,
                [&](Value d, ValueRange s) { return step(d, parts, s); });
  if (whole != pairs)
    sums = step(b.integer(pairs), 1, sums);
  SmallVector<Value> rowScores;
  for (int64_t i = 0; i < rows; ++i) {
    SmallVector<Value> ofKeys;
    for (int64_t j = 0; j < count; ++j) {
      Value sum = sums[i * count + j];
      for (int64_t part = 1; part < parts; ++part)
        sum =
            arith::AddFOp::create(b, sum, sums[(part * rows + i) * count + j]);
      ofKeys.push_back(sum);
    }
    if (count == lanes)
      rowScores.push_back(addLanes(ofKeys));
    else
      rowScores.push_back(
          vector::ReductionOp::create(b, vector::CombiningKind::ADD, ofKeys[0],
                                      arith::FastMathFlags::reassoc));
  }
  // What is left of the head, for all keys at once.
  int64_t width = count == lanes ? count : 0;
  auto addOne = [&](Value d, ValueRange state) {
    Value elements = b.load(source, storage, b.add(first, d), width, stride);
    SmallVector<Value> next;
    for (int64_t i = 0; i < rows; ++i) {
      Value q = b.load(packedQueries, compute, b.add(d, i * region.headSize));
      next.push_back(arith::AddFOp::create(
          b, state[i], arith::MulFOp::create(b, elements, b.splat(q, width))));
    }
    return next;
  };
  if (whole != region.headSize)
    rowScores = b.loop(b.integer(whole), b.integer(region.headSize), 1,
                       rowScores, addOne);
  for (int64_t i = 0; i < rows; ++i)
    b.store(rowScores[i], scores, compute, scoreOffset(i, key));
}

Value FewQueriesBuilder::addBias(int64_t row, Value key, Value score,
                                 int64_t width) {
  Type element =
      cast<RankedTensorType>(region.mask->base.getType()).getElementType();
  int64_t stride = region.mask->strides[3];
  Value bias = b.load(b.getPointer(region.mask->base), element,
                      b.add(tile[row].mask, b.mul(key, stride)), width, stride);
  return arith::AddFOp::create(b, score, bias);
}

/// The largest score of a row, with its mask, which is added to the scores.
Value FewQueriesBuilder::findLargest(int64_t row, Value end) {
  auto body = [&](Value key, int64_t width, ValueRange state) {
    Value at = scoreOffset(row, key);
    Value score = b.load(scores, compute, at, width);
    if (region.mask) {
      score = addBias(row, key, score, width);
      b.store(score, scores, compute, at);
    }
    return SmallVector<Value>{arith::MaximumFOp::create(b, state[0], score)};
  };
  auto narrow = [&](ValueRange state) {
    return SmallVector<Value>{vector::ReductionOp::create(
        b, vector::CombiningKind::MAXIMUMF, state[0])};
  };
  double least = -std::numeric_limits<double>::infinity();
  Value start = vectorOf(least, lanes);
  Value largest =
      b.columns(b.integer(0), end, lanes, start, body, narrow).front();
  // A query that sees no key, since all its scores are -inf, has weights of 0,
  // and so a result of 0.
  Value isLeast = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest,
                                        b.constant(least, compute));
  return arith::SelectOp::create(b, isLeast, b.constant(0, compute), largest);
}

Value host::buildExpOfWeight(KernelBuilder &b, Value x) {
  return math::ExpOp::create(b, x, arith::FastMathFlags::afn);
}

/// Turns the scores of a row into exponentials, and returns their sum.
Value FewQueriesBuilder::sumWeights(int64_t row, Value end, Value largest) {
  int64_t wide = 2 * lanes;
  auto body = [&](Value key, int64_t width, ValueRange state) {
    Value at = scoreOffset(row, key);
    Value score = b.load(scores, compute, at, width);
    Value weight = buildExpOfWeight(
        b, arith::SubFOp::create(b, score, b.splat(largest, width)));
    b.store(weight, scores, compute, at);
    return SmallVector<Value>{arith::AddFOp::create(b, state[0], weight)};
  };
  auto narrow = [&](ValueRange state) {
    return SmallVector<Value>{
        vector::ReductionOp::create(b, vector::CombiningKind::ADD, state[0],
                                    arith::FastMathFlags::reassoc)};
  };
  auto addChain = [&](Value from, Value to) {
    return b.columns(from, to, wide, vectorOf(0, wide), body, narrow).front();
  };
  if (keys <= chain * wide)
    return addChain(b.integer(0), end);
  return b
      .loop(b.integer(0), end, chain * wide, b.constant(0, compute),
            [&](Value from, ValueRange state) {
              Value to = b.min(b.add(from, chain * wide), end);
              return SmallVector<Value>{
                  arith::AddFOp::create(b, state[0], addChain(from, to))};
            })
      .front();
}

/// Turns the scores of a row into weights, but for a factor.
void FewQueriesBuilder::weighKeys(int64_t row) {
  Value end = b.integer(keys);
  if (region.causal)
    end = b.min(b.add(tile[row].query, 1), keys);
  Value sum = sumWeights(row, end, findLargest(row, end));
  Value zero = b.constant(0, compute);
  if (region.causal)
    b.loop(end, b.integer(keys), 1, [&](Value key) {
      b.store(zero, scores, compute, scoreOffset(row, key));
    });
  Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, sum, zero);
  Value factor = arith::DivFOp::create(b, b.constant(1, compute), sum);
  tile[row].factor = arith::SelectOp::create(b, isZero, zero, factor);
}

/// The weighted values of some keys, as [row][vector].
SmallVector<Value> FewQueriesBuilder::addValues(Value from, Value to,
                                                Value column,
                                                ArrayRef<int64_t> vectors,
                                                int64_t width) {
  Value source = b.getPointer(region.value.base);
  auto step = [&](Value key, int64_t together, ValueRange state) {
    SmallVector<Value> sums = llvm::to_vector(state), weights;
    bool takesLanes = together > 1 && b.getCpu().hasLaneMultiply();
    for (int64_t i = 0; takesLanes && i < rows; ++i)
      weights.push_back(b.load(scores, compute, scoreOffset(i, key), together));
    for (int64_t k = 0; k < together; ++k) {
      Value at = b.add(b.add(valueOffset, column),
                       b.mul(b.add(key, k), region.value.strides[2]));
      SmallVector<Value> values;
      for (int64_t offset : vectors)
        values.push_back(b.load(source, storage, b.add(at, offset), width));
      for (int64_t i = 0; i < rows; ++i) {
        Value weight =
            takesLanes ? b.lane(weights[i], k)
                       : b.load(scores, compute, scoreOffset(i, b.add(key, k)));
        weight = b.splat(weight, width);
        for (auto [j, value] : llvm::enumerate(values)) {
          Value &sum = sums[i * vectors.size() + j];
          sum = vector::FMAOp::create(b, weight, value, sum);
        }
      }
    }
    return sums;
  };
  constexpr int64_t together = 4;
  SmallVector<Value> sums(rows * vectors.size(), vectorOf(0, width));
  Value whole = b.add(from, b.mul(b.div(b.sub(to, from), together), together));
  sums = b.loop(from, whole, together, sums, [&](Value key, ValueRange s) {
    return step(key, together, s);
  });
  return b.loop(whole, to, 1, sums,
                [&](Value key, ValueRange s) { return step(key, 1, s); });
}

/// The output of all rows: vectors of columns, each from `column` plus a number
/// of `vectors` on.
void FewQueriesBuilder::writeColumns(Value column, ArrayRef<int64_t> vectors,
                                     int64_t width) {
  SmallVector<Value> sums;
  if (keys <= chain) {
    sums = addValues(b.integer(0), b.integer(keys), column, vectors, width);
  } else {
    SmallVector<Value> zeros(rows * vectors.size(), vectorOf(0, width));
    auto addChain = [&](Value from, ValueRange state) {
      Value to = b.min(b.add(from, chain), keys);
      SmallVector<Value> own = addValues(from, to, column, vectors, width);
      for (auto [sum, before] : llvm::zip_equal(own, state))
        sum = arith::AddFOp::create(b, before, sum);
      return own;
    };
    sums = b.loop(b.integer(0), b.integer(keys), chain, zeros, addChain);
  }
  int64_t stride = region.destination.strides[3];
  for (int64_t i = 0; i < rows; ++i)
    for (auto [j, offset] : llvm::enumerate(vectors)) {
      Value out = arith::MulFOp::create(b, sums[i * vectors.size() + j],
                                        b.splat(tile[i].factor, width));
      Value at = b.add(tile[i].target, b.mul(b.add(column, offset), stride));
      b.store(out, b.getResultPointer(0), storage, at, stride);
    }
}

void FewQueriesBuilder::build() {
  b.getLayout().tiles = region.batches * region.keyHeads * (total / rows);
  findRows(b.beginTile());
  packedQueries = b.scratch(compute, rows * region.headSize);
  scores = b.scratch(compute, rows * region.keys);
  packQueries();
  Value whole = b.integer(keys / lanes * lanes);
  b.loop(b.integer(0), whole, lanes, [&](Value key) { scoreKeys(key, lanes); });
  b.loop(whole, b.integer(keys), 1, [&](Value key) { scoreKeys(key, 1); });
  for (int64_t row = 0; row < rows; ++row)
    weighKeys(row);

  // Blocks of vectors whose sums take half of the registers, so that one row
  // reads long pieces of values, or a quarter beside the weights of several
  // rows. The last vector ends with the columns, and may share some with the
  // one before it.
  int64_t size = region.valueSize;
  int64_t width = std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(size));
  int64_t most = std::max<int64_t>(registers / (rows == 1 ? 2 : 4 * rows), 1);
  int64_t block = most * width, blocks = size / block * block;
  SmallVector<int64_t> vectors;
  for (int64_t i = 0; i < most; ++i)
    vectors.push_back(i * width);
  b.loop(b.integer(0), b.integer(blocks), block,
         [&](Value column) { writeColumns(column, vectors, width); });
  vectors.clear();
  for (int64_t column = blocks; column < size; column += width)
    vectors.push_back(std::min(column, size - width));
  if (!vectors.empty())
    writeColumns(b.integer(0), vectors, width);
  b.endFunction();
}

void host::buildFewQueries(KernelBuilder &b, const AttentionRegion &region) {
  FewQueriesBuilder(b, region).build();
}
