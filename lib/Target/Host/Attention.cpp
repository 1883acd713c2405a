//===- Attention.cpp - softmax(Q K^T) V for blocks of queries -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries are taken in groups that fill vector lanes. Scores of a group are
// kept as [key][query]: the product K Q^T reads keys as they lie in memory and
// needs no reduction across lanes, the softmax runs down columns, and its
// weights are already packed the way the product with V wants its left side.
// Values are copied once a tile where they are not f32 or lie far apart.
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace fact;
using namespace fact::host;

namespace {
struct AttentionPlan {
  mutable AttentionOp op;
  Type storage, compute;
  int64_t batch, heads, group, queries, keys, depth, columns;
  /// All by (batch, head, row, column); heads of key and value are shared.
  StridedView query, key, value, destination;
  std::optional<StridedView> mask;

  static FailureOr<AttentionPlan> get(FusedOp fused, EmitError emitError);
};

class HostAttentionPlan : public HostPlan {
public:
  HostAttentionPlan(const Family &family, FusedOp fused,
                    const MachineDescription &machine, AttentionPlan attention)
      : HostPlan(family, fused, machine), attention(std::move(attention)) {}

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  AttentionPlan attention;
};

class AttentionFamily : public Family {
public:
  AttentionFamily() : Family(attentionRule, "host", {&HostRowsAttr::kind}) {}

  FailureOr<std::unique_ptr<Plan>> plan(FusedOp fused,
                                        const MachineDescription &machine,
                                        EmitError emitError) const override {
    if (failed(requireStaticShapes(fused, emitError)))
      return failure();
    return makePlan<HostAttentionPlan>(fused, machine,
                                       AttentionPlan::get(fused, emitError));
  }
};
} // namespace

FailureOr<AttentionPlan> AttentionPlan::get(FusedOp fused,
                                            EmitError emitError) {
  AttentionPlan plan;
  for (Operation &op : fused.getBodyOps()) {
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      if (plan.op)
        return emitError() << "takes one 'fact.attention', and there are more";
      plan.op = attention;
    } else if (!isa<ViewOpInterface>(op)) {
      return emitError() << "takes views beside 'fact.attention', not '"
                         << op.getName() << "'";
    }
  }
  if (!plan.op)
    return emitError() << "needs a 'fact.attention'";
  if (fused->getNumResults() != 1)
    return emitError() << "has one result, not " << fused->getNumResults();
  auto argument = [&](Value value, StridedView &view) -> LogicalResult {
    FailureOr<StridedView> found = StridedView::get(value);
    if (failed(found) || !isa<BlockArgument>(found->base))
      return emitError() << "needs operands that are views of the region's";
    view = *found;
    return success();
  };
  if (failed(argument(plan.op.getQuery(), plan.query)) ||
      failed(argument(plan.op.getKey(), plan.key)) ||
      failed(argument(plan.op.getValue(), plan.value)))
    return failure();
  plan.batch = plan.query.shape[0];
  plan.heads = plan.query.shape[1];
  plan.group = plan.heads / plan.key.shape[1];
  plan.queries = plan.query.shape[2];
  plan.depth = plan.query.shape[3];
  plan.keys = plan.key.shape[2];
  plan.columns = plan.value.shape[3];
  if (Value mask = plan.op.getMask()) {
    StridedView view;
    if (failed(argument(mask, view)))
      return failure();
    plan.mask = view.expand({plan.batch, plan.heads, plan.queries, plan.keys});
  }
  FailureOr<StridedView> destination = StridedView::getDestination(
      plan.op.getResult(), fused.getYield()->getOperand(0));
  if (failed(destination))
    return emitError() << "needs its result to be yielded through "
                          "permutations and reshapes that strides describe";
  plan.destination = *destination;
  plan.storage =
      cast<RankedTensorType>(plan.op.getQuery().getType()).getElementType();
  plan.compute = getComputeType(plan.storage);
  return plan;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
class AttentionBuilder {
public:
  AttentionBuilder(KernelBuilder &b, const AttentionPlan &plan)
      : b(b), plan(plan), causal(plan.op.getCausal()),
        lanes(b.getRegisterLanes(plan.compute)) {
    // Scores of four keys fill half of the registers; less when there are few.
    vectors = std::min<int64_t>(b.getCpu().getVectorRegisters() / 8,
                                ceilDivide(plan.queries, lanes));
    width = vectors * lanes;
    tileRows = std::gcd<int64_t>(width, b.getCpu().getVectorRegisters() / 4);
  }

  void build(int64_t grain);

private:
  Value offsetOf(const StridedView &view, Value batch, Value head) {
    return b.add(b.add(b.integer(view.offset), b.mul(batch, view.strides[0])),
                 b.mul(head, view.strides[1]));
  }
  Value vectorConstant(double value) {
    return b.constant(value, b.withWidth(plan.compute, width));
  }

  void packQueries(Value offset, Value first);
  void packValues(Value offset, Value keyEnd);
  void buildScores(Value keyOffset, Value keyEnd);
  void scoreKeys(Value keyOffset, Value firstKey, int64_t count);
  Value keyScores(Value key, Value first, Value maskOffset, bool diagonal);
  Value buildWeights(Value first, Value keyEnd, Value maskOffset);
  /// `add(from, to, zeros)` over the keys up to `keyEnd`, in chains whose sums
  /// are added.
  using AddKeys =
      llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)>;
  SmallVector<Value> sumKeys(Value keyEnd, ValueRange zeros, AddKeys add);
  void buildOutput(Value first, Value queryEnd, Value keyEnd, Value valueOffset,
                   Value targetOffset);
  void outputColumns(Value row, Value queryEnd, Value first, Value keyEnd,
                     Value valueOffset, Value targetOffset, Value column,
                     int64_t columnVectors, int64_t columnLanes);

  KernelBuilder &b;
  const AttentionPlan &plan;
  bool causal;
  /// Lanes of a register; registers and queries of a group; queries of a
  /// register tile of the output.
  int64_t lanes, vectors, width, tileRows;
  /// Of the calling tile: queries as [depth][width], scores and then weights
  /// as [key][width], and 1 / sum of each query.
  Value packedQueries, scores, factors;
  /// The values of the tile's keys as [key][column], where they are copied.
  Value packedValues;
};
} // namespace

/// Queries beyond the last repeat it; what comes of them is not stored.
void AttentionBuilder::packQueries(Value offset, Value first) {
  PackedLines lines{
      b.getPointer(plan.query.base), plan.storage, {}, plan.query.strides[3]};
  for (int64_t i = 0; i < width; ++i) {
    Value row = b.min(b.add(first, i), plan.queries - 1);
    lines.offsets.push_back(b.add(offset, b.mul(row, plan.query.strides[2])));
  }
  Value none = b.integer(0);
  packLines(b, lines, none, b.integer(plan.depth), packedQueries, none);
  Value scale =
      vectorConstant(AttentionOp(plan.op).getScale().convertToDouble());
  b.loop(none, b.integer(plan.depth * width), width, [&](Value at) {
    Value q = b.load(packedQueries, plan.compute, at, width);
    b.store(arith::MulFOp::create(b, q, scale), packedQueries, plan.compute,
            at);
  });
}

void AttentionBuilder::packValues(Value offset, Value keyEnd) {
  Value source = b.getPointer(plan.value.base);
  int64_t stride = plan.value.strides[3];
  b.loop(b.integer(0), keyEnd, 1, [&](Value key) {
    Value from = b.add(offset, b.mul(key, plan.value.strides[2]));
    Value to = b.mul(key, plan.columns);
    b.columns(b.integer(0), b.integer(plan.columns), lanes,
              [&](Value column, int64_t width) {
                Value value =
                    b.load(source, plan.storage,
                           b.add(from, b.mul(column, stride)), width, stride);
                b.store(value, packedValues, plan.compute, b.add(to, column));
              });
  });
}

/// Scores of `count` keys for all queries of the group, in registers.
void AttentionBuilder::scoreKeys(Value keyOffset, Value firstKey,
                                 int64_t count) {
  Value source = b.getPointer(plan.key.base);
  int64_t stride = plan.key.strides[3];
  SmallVector<Value> offsets;
  for (int64_t i = 0; i < count; ++i)
    offsets.push_back(
        b.add(keyOffset, b.mul(b.add(firstKey, i), plan.key.strides[2])));
  // `together` elements of each key at a time.
  auto step = [&](Value d, int64_t together, ValueRange state) {
    SmallVector<Value> sums = llvm::to_vector(state);
    SmallVector<Value> elements;
    for (Value offset : offsets)
      elements.push_back(b.load(source, plan.storage,
                                b.add(offset, b.mul(d, stride)),
                                together == 1 ? 0 : together, stride));
    for (int64_t i = 0; i < together; ++i) {
      SmallVector<Value> queries;
      Value at = b.mul(b.add(d, i), width);
      for (int64_t j = 0; j < vectors; ++j)
        queries.push_back(
            b.load(packedQueries, plan.compute, b.add(at, j * lanes), lanes));
      for (int64_t key = 0; key < count; ++key) {
        Value scalar = together == 1 ? elements[key] : b.lane(elements[key], i);
        Value broadcast = b.splat(scalar, lanes);
        for (int64_t j = 0; j < vectors; ++j) {
          Value &sum = sums[key * vectors + j];
          sum = vector::FMAOp::create(b, broadcast, queries[j], sum);
        }
      }
    }
    return sums;
  };
  SmallVector<Value> sums(count * vectors,
                          b.constant(0, b.withWidth(plan.compute, lanes)));
  int64_t together = std::min<int64_t>(4, b.getRegisterLanes(plan.compute));
  int64_t whole = plan.depth / together * together;
  sums = b.loop(b.integer(0), b.integer(whole), together, sums,
                [&](Value d, ValueRange s) { return step(d, together, s); });
  if (whole != plan.depth)
    sums = b.loop(b.integer(whole), b.integer(plan.depth), 1, sums,
                  [&](Value d, ValueRange s) { return step(d, 1, s); });
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < vectors; ++j)
      b.store(sums[i * vectors + j], scores, plan.compute,
              b.add(b.mul(b.add(firstKey, i), width), j * lanes));
}

void AttentionBuilder::buildScores(Value keyOffset, Value keyEnd) {
  constexpr int64_t together = 4;
  Value whole = b.mul(b.div(keyEnd, together), together);
  b.loop(b.integer(0), whole, together,
         [&](Value key) { scoreKeys(keyOffset, key, together); });
  b.loop(whole, keyEnd, 1, [&](Value key) { scoreKeys(keyOffset, key, 1); });
}

/// The scores of one key for the queries of the group, with the mask; on the
/// diagonal some queries do not see the key.
Value AttentionBuilder::keyScores(Value key, Value first, Value maskOffset,
                                  bool diagonal) {
  Value score = b.load(scores, plan.compute, b.mul(key, width), width);
  if (plan.mask) {
    Value mask = b.getPointer(plan.mask->base);
    Type storage =
        cast<RankedTensorType>(plan.mask->base.getType()).getElementType();
    Value at = b.add(maskOffset, b.mul(key, plan.mask->strides[3]));
    int64_t stride = plan.mask->strides[2];
    Value bias;
    if (stride == 0) {
      bias = b.load(mask, storage, at, width, 0);
    } else {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < width; ++i) {
        Value row = b.min(b.add(first, i), plan.queries - 1);
        elements.push_back(
            b.load(mask, storage, b.add(at, b.mul(row, stride))));
      }
      bias = vector::FromElementsOp::create(
          b, VectorType::get({width}, elements.front().getType()), elements);
    }
    score = arith::AddFOp::create(b, score, bias);
  }
  if (!diagonal)
    return score;
  // Query i of the group sees keys up to `first + i`.
  SmallVector<int32_t> numbers =
      llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(width)));
  Value queries = arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get({width}, b.getI32Type()),
                                ArrayRef<int32_t>(numbers)));
  Value place = arith::TruncIOp::create(b, b.getI32Type(), b.sub(key, first));
  Value visible = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                        b.splat(place, width), queries);
  return arith::SelectOp::create(
      b, visible, score,
      vectorConstant(-std::numeric_limits<double>::infinity()));
}

SmallVector<Value> AttentionBuilder::sumKeys(Value keyEnd, ValueRange zeros,
                                             AddKeys add) {
  // Rounding errors grow with the longest chain of additions.
  constexpr int64_t chain = 128;
  if (plan.keys <= chain)
    return add(b.integer(0), keyEnd, zeros);
  auto addChain = [&](Value from, ValueRange state) {
    Value to = b.min(b.add(from, chain), keyEnd);
    SmallVector<Value> sums = add(from, to, zeros);
    for (auto [sum, before] : llvm::zip_equal(sums, state))
      sum = arith::AddFOp::create(b, before, sum);
    return sums;
  };
  return b.loop(b.integer(0), keyEnd, chain, zeros, addChain);
}

/// Turns scores into exponentials and returns 1 / sum of each query.
Value AttentionBuilder::buildWeights(Value first, Value keyEnd,
                                     Value maskOffset) {
  auto findLargest = [&](Value from, Value to, Value start, bool diagonal) {
    return b
        .loop(from, to, 1, start,
              [&](Value key, ValueRange state) {
                Value score = keyScores(key, first, maskOffset, diagonal);
                if (diagonal || plan.mask)
                  b.store(score, scores, plan.compute, b.mul(key, width));
                return SmallVector<Value>{
                    arith::MaximumFOp::create(b, state[0], score)};
              })
        .front();
  };
  Value largest = vectorConstant(-std::numeric_limits<double>::infinity());
  Value before = causal ? b.min(first, keyEnd) : keyEnd;
  largest = findLargest(b.integer(0), before, largest, /*diagonal=*/false);
  if (causal)
    largest = findLargest(before, keyEnd, largest, /*diagonal=*/true);
  // A query that sees no key, since all its scores are -inf, has weights of 0,
  // and so a result of 0.
  auto zeroWhere = [&](Value value, Value isZero) -> Value {
    return arith::SelectOp::create(b, isZero, vectorConstant(0), value);
  };
  auto equals = [&](Value value, double number) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value,
                                 vectorConstant(number));
  };
  largest = zeroWhere(
      largest, equals(largest, -std::numeric_limits<double>::infinity()));
  Value sum = sumKeys(keyEnd, vectorConstant(0), [&](Value from, Value to,
                                                     ValueRange start) {
    return b.loop(from, to, 1, start, [&](Value key, ValueRange state) {
      Value at = b.mul(key, width);
      Value score = b.load(scores, plan.compute, at, width);
      Value weight =
          math::ExpOp::create(b, arith::SubFOp::create(b, score, largest));
      b.store(weight, scores, plan.compute, at);
      return SmallVector<Value>{arith::AddFOp::create(b, state[0], weight)};
    });
  }).front();
  Value factor = arith::DivFOp::create(b, vectorConstant(1), sum);
  return zeroWhere(factor, equals(sum, 0));
}

/// Columns of the output for the queries of the group from `row` on, as many
/// as a register tile has.
void AttentionBuilder::outputColumns(Value row, Value queryEnd, Value first,
                                     Value keyEnd, Value valueOffset,
                                     Value targetOffset, Value column,
                                     int64_t columnVectors,
                                     int64_t columnLanes) {
  Value source = packedValues ? packedValues : b.getPointer(plan.value.base);
  Type storage = packedValues ? plan.compute : plan.storage;
  int64_t rowStride = packedValues ? plan.columns : plan.value.strides[2];
  int64_t stride = packedValues ? 1 : plan.value.strides[3];
  Value base = packedValues ? b.integer(0) : valueOffset;
  MicroTile tile{tileRows, columnVectors, columnLanes, /*strideA=*/width};
  SmallVector<Value> zeros(
      tileRows * columnVectors,
      b.constant(0, b.withWidth(plan.compute, columnLanes)));
  Value local = b.sub(row, first);
  auto read = [&](Value key) {
    SmallVector<Value> values;
    Value at = b.add(base, b.add(b.mul(key, rowStride), b.mul(column, stride)));
    for (int64_t j = 0; j < columnVectors; ++j)
      values.push_back(b.load(source, storage,
                              b.add(at, j * columnLanes * stride), columnLanes,
                              stride));
    return values;
  };
  SmallVector<Value> sums =
      sumKeys(keyEnd, zeros, [&](Value from, Value to, ValueRange start) {
        return buildMicroKernel(b, tile, plan.compute, scores,
                                b.add(local, b.mul(from, width)), from, to,
                                /*unroll=*/1, start, read);
      });
  Value target = b.getResultPointer(0);
  for (int64_t i = 0; i < tileRows; ++i) {
    Value query = b.add(row, i);
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, query, queryEnd);
    b.ifThen(inside, [&] {
      Value factor =
          b.splat(b.load(factors, plan.compute, b.add(local, i)), columnLanes);
      for (int64_t j = 0; j < columnVectors; ++j) {
        Value out =
            arith::MulFOp::create(b, sums[i * columnVectors + j], factor);
        Value at =
            b.add(targetOffset, b.add(b.mul(query, plan.destination.strides[2]),
                                      b.mul(b.add(column, j * columnLanes),
                                            plan.destination.strides[3])));
        b.store(out, target, plan.storage, at, plan.destination.strides[3]);
      }
    });
  }
}

void AttentionBuilder::buildOutput(Value first, Value queryEnd, Value keyEnd,
                                   Value valueOffset, Value targetOffset) {
  Value groupEnd = b.min(b.add(first, width), queryEnd);
  b.loop(first, groupEnd, tileRows, [&](Value row) {
    auto columns = [&](Value from, Value to, int64_t columnVectors,
                       int64_t columnLanes) {
      b.loop(from, to, columnVectors * columnLanes, [&](Value column) {
        outputColumns(row, groupEnd, first, keyEnd, valueOffset, targetOffset,
                      column, columnVectors, columnLanes);
      });
    };
    // Two registers of columns, then one, then single columns.
    int64_t pairs = plan.columns / (2 * lanes) * (2 * lanes);
    int64_t singles = plan.columns / lanes * lanes;
    columns(b.integer(0), b.integer(pairs), 2, lanes);
    if (singles != pairs)
      columns(b.integer(pairs), b.integer(singles), 1, lanes);
    if (plan.columns != singles)
      columns(b.integer(singles), b.integer(plan.columns), 1, 1);
  });
}

void AttentionBuilder::build(int64_t grain) {
  int64_t blocks = ceilDivide(plan.queries, grain);
  b.getLayout().tiles = plan.batch * plan.heads * blocks;
  Value index = b.beginTile();
  Value block = b.rem(index, blocks);
  Value head = b.rem(b.div(index, blocks), plan.heads);
  Value batch = b.div(index, blocks * plan.heads);
  Value sharedHead = b.div(head, plan.group);
  Value queryOffset = offsetOf(plan.query, batch, head);
  Value keyOffset = offsetOf(plan.key, batch, sharedHead);
  Value valueOffset = offsetOf(plan.value, batch, sharedHead);
  Value maskOffset = plan.mask ? offsetOf(*plan.mask, batch, head) : Value();
  Value targetOffset = offsetOf(plan.destination, batch, head);

  packedQueries = b.scratch(plan.compute, plan.depth * width);
  scores = b.scratch(plan.compute, plan.keys * width);
  factors = b.scratch(plan.compute, width);
  Value from = b.mul(block, grain);
  Value to = b.min(b.add(from, grain), plan.queries);
  // Queries of a tile read each value once a group. Few groups are not worth a
  // copy, nor are values that lie close together.
  bool farApart = plan.value.strides[2] != plan.columns;
  if ((farApart || plan.storage != plan.compute) &&
      std::min(grain, plan.queries) >= 2 * width) {
    packedValues = b.scratch(plan.compute, plan.keys * plan.columns);
    Value last = b.integer(plan.keys);
    if (causal)
      last = b.min(b.add(to, width - 1), plan.keys);
    packValues(valueOffset, last);
  }
  b.loop(from, to, width, [&](Value first) {
    Value keyEnd = b.integer(plan.keys);
    if (causal)
      keyEnd = b.min(b.add(first, width), plan.keys);
    packQueries(queryOffset, first);
    buildScores(keyOffset, keyEnd);
    Value sums = buildWeights(first, keyEnd, maskOffset);
    b.store(sums, factors, plan.compute, b.integer(0));
    buildOutput(first, to, keyEnd, valueOffset, targetOffset);
  });
  b.endFunction();
}

void HostAttentionPlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  AttentionBuilder(b, attention).build(cast<HostRowsAttr>(schedule).getGrain());
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

SpaceAttrInterface HostAttentionPlan::getSpace() const {
  SmallVector<int64_t> grains;
  for (int64_t grain : {16, 64, 256})
    if (grains.empty() || grain <= attention.queries)
      grains.push_back(grain);
  return HostRowsAttr::getSpace(fused.getContext(), grains);
}

double HostAttentionPlan::predict(ScheduleAttr) const {
  double pairs = double(attention.batch) * attention.heads *
                 attention.queries * attention.keys;
  if (attention.op.getCausal())
    pairs /= 2;
  double products = 2 * pairs * (attention.depth + attention.columns);
  double peak = machine.getMatrixFlops(toElementType(attention.compute));
  double seconds = products / (0.6 * peak) + 30 * pairs / machine.scalarFlops;
  return 1e6 * std::max(seconds, countBytes(fused) / machine.bandwidth);
}

void host::registerAttentionFamily(DialectRegistry &registry) {
  registerFamily<AttentionFamily>(registry);
}
