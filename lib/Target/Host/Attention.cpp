//===- Attention.cpp - softmax(Q K^T) V for blocks of queries -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile takes its queries in groups that fill vector lanes. The scores of a
// group are stored as [key][query]: the product K Q^T reads keys in memory
// order and needs no reduction across lanes, the softmax runs down columns, and
// its weights are already packed as the left side of the product with V. A tile
// copies its values once where they are not f32 or lie far apart. Few queries
// have another kernel, of FewQueries.cpp.
//
//===----------------------------------------------------------------------===//

#include "FewQueries.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// The queries whose scores are computed together: those of four keys fill half
/// of the registers, or fewer where there are few queries.
static int64_t getGroup(const Cpu &cpu, const AttentionRegion &region) {
  int64_t lanes = getRegisterLanes(cpu, region);
  return lanes * std::min<int64_t>(cpu.getVectorRegisters() / 8,
                                   ceilDivide(region.queries, lanes));
}

namespace {
class HostAttentionPlan : public HostPlan {
public:
  HostAttentionPlan(const Family &family, FusedOp fused,
                    const MachineDescription &machine, AttentionRegion region)
      : HostPlan(family, fused, machine), region(std::move(region)) {}

  static FailureOr<AttentionRegion> read(FusedOp fused, EmitError emitError) {
    if (failed(requireElements(fused, emitError)))
      return failure();
    return AttentionRegion::get(fused, emitError);
  }

  SpaceAttrInterface getSpace() const override;
  double predict(ScheduleAttr schedule) const override;

protected:
  void build(KernelBuilder &b, ScheduleAttr schedule) const override;

private:
  AttentionRegion region;
};

class AttentionFamily : public FamilyOf<HostAttentionPlan> {
public:
  AttentionFamily() : FamilyOf(attentionRule, "host", {&HostRowsAttr::kind}) {}

  StringRef getLimits() const override {
    return "Nothing but views beside the attention, and one result.";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
class AttentionBuilder {
public:
  AttentionBuilder(KernelBuilder &b, const AttentionRegion &region)
      : b(b), region(region), storage(region.element),
        compute(getComputeType(storage)), lanes(b.getRegisterLanes(compute)),
        vectors(getGroup(b.getCpu(), region) / lanes), width(vectors * lanes) {
    tileRows = std::gcd<int64_t>(width, b.getCpu().getVectorRegisters() / 4);
  }

  void build(int64_t grain);

private:
  Value offsetOf(const StridedView &view, Value batch, Value head) {
    return b.add(b.add(b.integer(view.offset), b.mul(batch, view.strides[0])),
                 b.mul(head, view.strides[1]));
  }
  Value vectorConstant(double value) {
    return b.constant(value, b.withWidth(compute, width));
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
  const AttentionRegion &region;
  Type storage, compute;
  /// Lanes of a register; registers and queries per group; queries per register
  /// tile of the output.
  int64_t lanes, vectors, width, tileRows;
  /// Memory of the running tile: queries as [column][width], scores and then
  /// weights as [key][width], and 1 / sum of each query.
  Value packedQueries, scores, factors;
  /// The values of the tile's keys as [key][column], where they are copied.
  Value packedValues;
};
} // namespace

/// Queries beyond the last repeat it; their results are not stored.
void AttentionBuilder::packQueries(Value offset, Value first) {
  PackedLines lines{
      b.getPointer(region.query.base), storage, {}, region.query.strides[3]};
  for (int64_t i = 0; i < width; ++i) {
    Value row = b.min(b.add(first, i), region.queries - 1);
    lines.offsets.push_back(b.add(offset, b.mul(row, region.query.strides[2])));
  }
  Value none = b.integer(0);
  packLines(b, lines, none, b.integer(region.headSize), packedQueries, none);
  Value scale = vectorConstant(region.scale);
  b.loop(none, b.integer(region.headSize * width), width, [&](Value at) {
    Value q = b.load(packedQueries, compute, at, width);
    b.store(arith::MulFOp::create(b, q, scale), packedQueries, compute, at);
  });
}

void AttentionBuilder::packValues(Value offset, Value keyEnd) {
  Value source = b.getPointer(region.value.base);
  int64_t stride = region.value.strides[3];
  b.loop(b.integer(0), keyEnd, 1, [&](Value key) {
    Value from = b.add(offset, b.mul(key, region.value.strides[2]));
    Value to = b.mul(key, region.valueSize);
    b.columns(b.integer(0), b.integer(region.valueSize), lanes,
              [&](Value column, int64_t width) {
                Value value =
                    b.load(source, storage, b.add(from, b.mul(column, stride)),
                           width, stride);
                b.store(value, packedValues, compute, b.add(to, column));
              });
  });
}

/// Scores of `count` keys for all queries of the group, in registers.
void AttentionBuilder::scoreKeys(Value keyOffset, Value firstKey,
                                 int64_t count) {
  Value source = b.getPointer(region.key.base);
  int64_t stride = region.key.strides[3];
  SmallVector<Value> offsets;
  for (int64_t i = 0; i < count; ++i)
    offsets.push_back(
        b.add(keyOffset, b.mul(b.add(firstKey, i), region.key.strides[2])));
  // Elsewhere a load fills all lanes with one element. Those of 16 bits are
  // widened together.
  bool loadsVectors = b.getCpu().hasLaneMultiply() || storage != compute;
  // `together` elements of each key at a time.
  auto step = [&](Value d, int64_t together, ValueRange state) {
    SmallVector<Value> sums = llvm::to_vector(state);
    SmallVector<Value> elements;
    if (loadsVectors)
      for (Value offset : offsets)
        elements.push_back(b.load(source, storage,
                                  b.add(offset, b.mul(d, stride)),
                                  together == 1 ? 0 : together, stride));
    auto element = [&](int64_t key, int64_t i) -> Value {
      if (!loadsVectors)
        return b.load(source, storage,
                      b.add(offsets[key], b.mul(b.add(d, i), stride)));
      return together == 1 ? elements[key] : b.lane(elements[key], i);
    };
    for (int64_t i = 0; i < together; ++i) {
      SmallVector<Value> queries;
      Value at = b.mul(b.add(d, i), width);
      for (int64_t j = 0; j < vectors; ++j)
        queries.push_back(
            b.load(packedQueries, compute, b.add(at, j * lanes), lanes));
      for (int64_t key = 0; key < count; ++key) {
        Value broadcast = b.splat(element(key, i), lanes);
        for (int64_t j = 0; j < vectors; ++j) {
          Value &sum = sums[key * vectors + j];
          sum = vector::FMAOp::create(b, broadcast, queries[j], sum);
        }
      }
    }
    return sums;
  };
  SmallVector<Value> sums(count * vectors,
                          b.constant(0, b.withWidth(compute, lanes)));
  int64_t together = std::min<int64_t>(4, b.getRegisterLanes(compute));
  int64_t whole = region.headSize / together * together;
  sums = b.loop(b.integer(0), b.integer(whole), together, sums,
                [&](Value d, ValueRange s) { return step(d, together, s); });
  if (whole != region.headSize)
    sums = b.loop(b.integer(whole), b.integer(region.headSize), 1, sums,
                  [&](Value d, ValueRange s) { return step(d, 1, s); });
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < vectors; ++j)
      b.store(sums[i * vectors + j], scores, compute,
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
  Value score = b.load(scores, compute, b.mul(key, width), width);
  if (region.mask) {
    Value mask = b.getPointer(region.mask->base);
    Type element =
        cast<RankedTensorType>(region.mask->base.getType()).getElementType();
    Value at = b.add(maskOffset, b.mul(key, region.mask->strides[3]));
    int64_t stride = region.mask->strides[2];
    Value bias;
    if (stride == 0) {
      bias = b.load(mask, element, at, width, 0);
    } else {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < width; ++i) {
        Value row = b.min(b.add(first, i), region.queries - 1);
        elements.push_back(
            b.load(mask, element, b.add(at, b.mul(row, stride))));
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
  if (region.keys <= chain)
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
                if (diagonal || region.mask)
                  b.store(score, scores, compute, b.mul(key, width));
                return SmallVector<Value>{
                    arith::MaximumFOp::create(b, state[0], score)};
              })
        .front();
  };
  Value largest = vectorConstant(-std::numeric_limits<double>::infinity());
  Value before = region.causal ? b.min(first, keyEnd) : keyEnd;
  largest = findLargest(b.integer(0), before, largest, /*diagonal=*/false);
  if (region.causal)
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
  Value sum =
      sumKeys(
          keyEnd, vectorConstant(0),
          [&](Value from, Value to, ValueRange start) {
            return b.loop(from, to, 1, start, [&](Value key, ValueRange state) {
              Value at = b.mul(key, width);
              Value score = b.load(scores, compute, at, width);
              Value weight =
                  buildExpOfWeight(b, arith::SubFOp::create(b, score, largest));
              b.store(weight, scores, compute, at);
              return SmallVector<Value>{
                  arith::AddFOp::create(b, state[0], weight)};
            });
          })
          .front();
  Value factor = arith::DivFOp::create(b, vectorConstant(1), sum);
  return zeroWhere(factor, equals(sum, 0));
}

/// One register tile of the output: its columns from `column` on, for the
/// queries of the group from `row` on.
void AttentionBuilder::outputColumns(Value row, Value queryEnd, Value first,
                                     Value keyEnd, Value valueOffset,
                                     Value targetOffset, Value column,
                                     int64_t columnVectors,
                                     int64_t columnLanes) {
  Value source = packedValues ? packedValues : b.getPointer(region.value.base);
  Type valueStorage = packedValues ? compute : storage;
  int64_t rowStride = packedValues ? region.valueSize : region.value.strides[2];
  int64_t stride = packedValues ? 1 : region.value.strides[3];
  Value base = packedValues ? b.integer(0) : valueOffset;
  MicroTile tile{tileRows, columnVectors, columnLanes, /*strideA=*/width};
  SmallVector<Value> zeros(tileRows * columnVectors,
                           b.constant(0, b.withWidth(compute, columnLanes)));
  Value local = b.sub(row, first);
  auto read = [&](Value key) {
    SmallVector<Value> values;
    Value at = b.add(base, b.add(b.mul(key, rowStride), b.mul(column, stride)));
    for (int64_t j = 0; j < columnVectors; ++j)
      values.push_back(b.load(source, valueStorage,
                              b.add(at, j * columnLanes * stride), columnLanes,
                              stride));
    return values;
  };
  SmallVector<Value> sums =
      sumKeys(keyEnd, zeros, [&](Value from, Value to, ValueRange start) {
        return buildMicroKernel(b, tile, compute, scores,
                                b.add(local, b.mul(from, width)), from, to,
                                /*unroll=*/1, start, read);
      });
  Value target = b.getResultPointer(0);
  int64_t outRowStride = region.destination.strides[2];
  int64_t outStride = region.destination.strides[3];
  for (int64_t i = 0; i < tileRows; ++i) {
    Value query = b.add(row, i);
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, query, queryEnd);
    b.ifThen(inside, [&] {
      Value factor =
          b.splat(b.load(factors, compute, b.add(local, i)), columnLanes);
      for (int64_t j = 0; j < columnVectors; ++j) {
        Value out =
            arith::MulFOp::create(b, sums[i * columnVectors + j], factor);
        Value outRow = b.mul(query, outRowStride);
        Value outColumn = b.mul(b.add(column, j * columnLanes), outStride);
        Value at = b.add(targetOffset, b.add(outRow, outColumn));
        b.store(out, target, storage, at, outStride);
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
    // Two registers of columns, then one, which may compute some columns again;
    // or parts of one.
    int64_t size = region.valueSize;
    int64_t part = std::min<int64_t>(lanes, llvm::bit_floor(uint64_t(size)));
    int64_t pairs = size / (2 * part) * (2 * part);
    int64_t singles = size / part * part;
    columns(b.integer(0), b.integer(pairs), 2, part);
    if (singles != pairs)
      columns(b.integer(pairs), b.integer(singles), 1, part);
    if (size != singles)
      columns(b.integer(size - part), b.integer(size), 1, part);
  });
}

void AttentionBuilder::build(int64_t grain) {
  int64_t blocks = ceilDivide(region.queries, grain);
  b.getLayout().tiles = region.batches * region.heads * blocks;
  Value index = b.beginTile();
  Value block = b.rem(index, blocks);
  Value head = b.rem(b.div(index, blocks), region.heads);
  Value batch = b.div(index, blocks * region.heads);
  Value sharedHead = b.div(head, region.getGroup());
  Value queryOffset = offsetOf(region.query, batch, head);
  Value keyOffset = offsetOf(region.key, batch, sharedHead);
  Value valueOffset = offsetOf(region.value, batch, sharedHead);
  Value maskOffset;
  if (region.mask)
    maskOffset = offsetOf(*region.mask, batch, head);
  Value targetOffset = offsetOf(region.destination, batch, head);

  packedQueries = b.scratch(compute, region.headSize * width);
  scores = b.scratch(compute, region.keys * width);
  factors = b.scratch(compute, width);
  Value from = b.mul(block, grain);
  Value to = b.min(b.add(from, grain), region.queries);
  // Each group of queries reads all values again: a copy pays for several
  // groups, unless the values are f32 and already lie together.
  bool farApart = region.value.strides[2] != region.valueSize;
  if ((farApart || storage != compute) &&
      std::min(grain, region.queries) >= 2 * width) {
    packedValues = b.scratch(compute, region.keys * region.valueSize);
    Value last = b.integer(region.keys);
    if (region.causal)
      last = b.min(b.add(to, width - 1), region.keys);
    packValues(valueOffset, last);
  }
  b.loop(from, to, width, [&](Value first) {
    Value keyEnd = b.integer(region.keys);
    if (region.causal)
      keyEnd = b.min(b.add(first, width), region.keys);
    packQueries(queryOffset, first);
    buildScores(keyOffset, keyEnd);
    Value sums = buildWeights(first, keyEnd, maskOffset);
    b.store(sums, factors, compute, b.integer(0));
    buildOutput(first, to, keyEnd, valueOffset, targetOffset);
  });
  b.endFunction();
}

void HostAttentionPlan::build(KernelBuilder &b, ScheduleAttr schedule) const {
  if (hasFewQueries(cpu, region))
    return buildFewQueries(b, region);
  AttentionBuilder(b, region).build(cast<HostRowsAttr>(schedule).getGrain());
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

SpaceAttrInterface HostAttentionPlan::getSpace() const {
  // Whole groups.
  int64_t group = getGroup(cpu, region);
  SmallVector<int64_t> grains;
  for (int64_t groups : {1, 4, 16})
    if (grains.empty() || groups * group <= region.queries)
      grains.push_back(groups * group);
  return HostRowsAttr::getSpace(fused.getContext(), grains);
}

double HostAttentionPlan::predict(ScheduleAttr schedule) const {
  // A tile computes whole groups.
  int64_t grain = cast<HostRowsAttr>(schedule).getGrain();
  int64_t queries =
      ceilDivide(region.queries, grain) *
      llvm::alignTo(std::min(grain, region.queries), getGroup(cpu, region));
  double pairs = double(region.batches) * region.heads * queries * region.keys;
  if (region.causal)
    pairs /= 2;
  double products = 2 * pairs * (region.headSize + region.valueSize);
  double peak =
      machine.getMatrixFlops(toElementType(getComputeType(region.element)));
  double seconds = products / (0.6 * peak) + getSeconds(30 * pairs);
  return 1e6 * std::max(seconds, getTrafficSeconds(machine, fused));
}

void host::registerAttentionFamily(DialectRegistry &registry) {
  registerFamily<AttentionFamily>(registry);
}
