//===- HostPlan.cpp - What families of host kernels share -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostPlan.h"
#include "fact/Conversion/RegionFunction.h"
#include "fact/Dialect/Fact/Processor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

LogicalResult HostPlan::emit(ArrayRef<KernelVariant> variants,
                             KernelCode &code) const {
  assert(variants.size() == 1 && "each schedule has its own object");
  auto [schedule, symbol] = variants.front();
  IsolatedRegion region(fused, registerObjectDialects);
  if (!region.get())
    return fused.emitOpError() << "could not be copied to a context of its own";
  FailureOr<std::unique_ptr<Plan>> copy =
      family.plan(region.get(), machine, Silence(region.get()));
  if (failed(copy))
    return fused.emitOpError() << "was accepted by '" << family.getRule().name
                               << "', which refuses a copy of it";
  auto &plan = static_cast<const HostPlan &>(**copy);
  KernelBuilder b(plan.getBuiltRegion(), cpu);
  plan.build(b, schedule);
  if (failed(emitObject(b.getModule(), symbol, b.getLayout(), cpu,
                        Effort::explicitVectors, code)))
    return fused.emitOpError()
           << "could not be compiled with schedule " << schedule.getKey();
  return success();
}

double HostPlan::predict(ScheduleAttr) const {
  double elements = 0;
  for (Operation &op : fused.getBodyOps())
    for (Type type : op.getResultTypes())
      if (!isa<ViewOpInterface>(op))
        elements += cast<RankedTensorType>(type).getNumElements();
  // About ten operations per element of each op.
  return 1e6 *
         std::max(getSeconds(10 * elements), getTrafficSeconds(machine, fused));
}

double HostPlan::getSeconds(double operations) const {
  // Few of them are both a multiplication and an addition.
  return 2 * operations / machine.scalarFlops;
}

SpaceAttrInterface host::getRowsSpace(FusedOp fused, int64_t rows,
                                      int64_t rowElements, int64_t elements) {
  int64_t middle = std::clamp<int64_t>(elements / rowElements, 1, rows);
  SmallVector<int64_t> grains{middle};
  for (int64_t other : {middle / 4, middle * 4})
    if (other >= 1 && other <= rows && other != middle)
      grains.push_back(other);
  return HostRowsAttr::getSpace(fused->getContext(), grains);
}

double host::getTrafficSeconds(const MachineDescription &machine,
                               double bytes) {
  // What ranks schedules as measurements do: ten operations of a product in f32
  // take as long as a byte, if the machine has the bandwidth that its processor
  // is known for. A core waits for memory most of the time, and the less the
  // more its vectors ask for at once.
  const MachineDescription &known = *findProcessor(machine.architecture);
  double seconds = 10 * bytes / known.matrixFlops[size_t(MatrixRate::F32)];
  return seconds * (known.bandwidth / machine.bandwidth);
}

double host::getTrafficSeconds(const MachineDescription &machine,
                               FusedOp fused) {
  double bytes = 0;
  for (Type type :
       llvm::concat<const Type>(SmallVector<Type>(fused.getInputs().getTypes()),
                                SmallVector<Type>(fused->getResultTypes()))) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += tensor.getNumElements() * getStorageBytes(tensor.getElementType());
  }
  return getTrafficSeconds(machine, bytes);
}

/// Transposes 2 or 4 vectors of 4 lanes. Each result holds one column of 4
/// lines, or two columns of 2 lines.
static SmallVector<Value> transposeLines(KernelBuilder &b,
                                         ArrayRef<Value> lines) {
  auto shuffle = [&](Value x, Value y, ArrayRef<int64_t> lanes) -> Value {
    return vector::ShuffleOp::create(b, x, y, lanes);
  };
  Value low = shuffle(lines[0], lines[1], {0, 4, 1, 5});
  Value high = shuffle(lines[0], lines[1], {2, 6, 3, 7});
  if (lines.size() == 2)
    return {low, high};
  Value otherLow = shuffle(lines[2], lines[3], {0, 4, 1, 5});
  Value otherHigh = shuffle(lines[2], lines[3], {2, 6, 3, 7});
  return {shuffle(low, otherLow, {0, 1, 4, 5}),
          shuffle(low, otherLow, {2, 3, 6, 7}),
          shuffle(high, otherHigh, {0, 1, 4, 5}),
          shuffle(high, otherHigh, {2, 3, 6, 7})};
}

void host::packLines(KernelBuilder &b, const PackedLines &lines, Value from,
                     Value to, Value target, Value targetOffset) {
  Type compute = getComputeType(lines.storage);
  int64_t count = lines.offsets.size();
  auto position = [&](Value k, int64_t line) {
    return b.add(b.add(targetOffset, b.mul(b.sub(k, from), count)), line);
  };
  auto source = [&](Value k, int64_t line) {
    return b.add(lines.offsets[line], b.mul(k, lines.stride));
  };
  auto read = [&](Value k, int64_t line, int64_t width) -> Value {
    Value value = b.load(lines.source, lines.storage, source(k, line), width);
    if (lines.inside.empty())
      return value;
    return arith::SelectOp::create(b, lines.inside[line], value,
                                   b.constant(0, value.getType()));
  };
  auto packOne = [&](Value k) {
    for (int64_t i = 0; i < count; ++i)
      b.store(read(k, i, /*width=*/0), target, compute, position(k, i));
  };
  if (lines.stride != 1 || !compute.isF32() || count == 1)
    return b.loop(from, to, 1, packOne);
  // Four elements of four lines at a time.
  auto packFour = [&](Value k) {
    for (int64_t i = 0; i < count;) {
      int64_t together = count - i >= 4 ? 4 : count - i >= 2 ? 2 : 1;
      SmallVector<Value> vectors;
      for (int64_t j = 0; j < together; ++j)
        vectors.push_back(read(k, i + j, 4));
      if (together == 4) {
        for (auto [j, column] : llvm::enumerate(transposeLines(b, vectors)))
          b.store(column, target, compute, position(b.add(k, j), i));
      } else if (together == 2) {
        for (auto [j, pair] : llvm::enumerate(transposeLines(b, vectors)))
          for (int64_t half = 0; half < 2; ++half)
            b.store(
                vector::ShuffleOp::create(
                    b, pair, pair, ArrayRef<int64_t>{2 * half, 2 * half + 1}),
                target, compute, position(b.add(k, 2 * j + half), i));
      } else {
        for (int64_t j = 0; j < 4; ++j)
          b.store(b.lane(vectors[0], j), target, compute,
                  position(b.add(k, j), i));
      }
      i += together;
    }
  };
  Value whole = b.add(from, b.mul(b.div(b.sub(to, from), 4), 4));
  b.loop(from, whole, 4, packFour);
  b.loop(whole, to, 1, packOne);
}

void host::packAdjacentLines(KernelBuilder &b, const PackedLines &lines,
                             Value from, Value to, Value target,
                             Value targetOffset, int64_t distance) {
  Type compute = getComputeType(lines.storage);
  int64_t count = lines.offsets.size();
  b.loop(from, to, 1, [&](Value k) {
    Value source = b.add(lines.offsets.front(), b.mul(k, lines.stride));
    Value position = b.add(targetOffset, b.mul(b.sub(k, from), count));
    int64_t width = b.getRegisterLanes(compute);
    for (int64_t i = 0; i < count; i += width) {
      while (width > count - i)
        width /= 2;
      b.store(b.load(lines.source, lines.storage, b.add(source, i * distance),
                     width == 1 ? 0 : width, distance),
              target, compute, b.add(position, i));
    }
  });
}

/// Adds A(k, row) * B(k, vector) to each accumulator.
static void multiplyAdd(KernelBuilder &b, const MicroTile &tile, Type compute,
                        Value packedA, Value offsetA,
                        SmallVectorImpl<Value> &accumulators,
                        ArrayRef<Value> vectorsB) {
  // Where instructions multiply by a lane, loads several elements of A at once.
  int64_t together = 1;
  if (b.getCpu().hasLaneMultiply() && tile.rowStrideA == 1)
    for (int64_t lanes : {4, 2})
      if (lanes <= b.getRegisterLanes(compute) && tile.rows % lanes == 0) {
        together = lanes;
        break;
      }
  for (int64_t row = 0; row < tile.rows; row += together) {
    Value a = b.load(packedA, compute, b.add(offsetA, row * tile.rowStrideA),
                     together == 1 ? 0 : together);
    for (int64_t i = 0; i < together; ++i) {
      Value scalar = together == 1 ? a : b.lane(a, i);
      Value broadcast = b.splat(scalar, tile.lanes);
      for (int64_t j = 0; j < tile.vectors; ++j) {
        Value &accumulator = accumulators[(row + i) * tile.vectors + j];
        accumulator =
            vector::FMAOp::create(b, broadcast, vectorsB[j], accumulator);
      }
    }
  }
}

SmallVector<Value>
host::buildMicroKernel(KernelBuilder &b, const MicroTile &tile, Type compute,
                       Value a, Value offsetA, Value from, Value to,
                       int64_t unroll, ValueRange accumulators,
                       llvm::function_ref<SmallVector<Value>(Value)> readB) {
  auto step = [&](Value k, SmallVector<Value> state) {
    Value offset = b.add(offsetA, b.mul(b.sub(k, from), tile.strideA));
    multiplyAdd(b, tile, compute, a, offset, state, readB(k));
    return state;
  };
  Value whole = b.add(from, b.mul(b.div(b.sub(to, from), unroll), unroll));
  SmallVector<Value> state =
      b.loop(from, whole, unroll, accumulators, [&](Value k, ValueRange s) {
        SmallVector<Value> next = llvm::to_vector(s);
        for (int64_t i = 0; i < unroll; ++i)
          next = step(b.add(k, i), next);
        return next;
      });
  if (unroll == 1)
    return state;
  return b.loop(whole, to, 1, state, [&](Value k, ValueRange s) {
    return step(k, llvm::to_vector(s));
  });
}
