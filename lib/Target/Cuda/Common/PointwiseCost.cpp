//===- PointwiseCost.cpp - What a pointwise pass costs
//---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interleaving.h"
#include "Pointwise.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using namespace fact;

/// How many points are between neighbors in memory.
static int64_t getDistance(const StridedView &view) {
  int64_t distance = 1;
  for (size_t i = view.shape.size(); i-- > 0; distance *= view.shape[i])
    if (std::abs(view.strides[i]) == 1)
      return distance;
  return 1;
}

/// The traffic of a pass along the last dimension, over the bytes that it
/// needs: elements that are not neighbors in memory cost whole sectors, which
/// a block finds again where the dimension is short and it has the neighbors.
static double getSectorWaste(const StridedView &view) {
  constexpr int64_t pointsOfABlock = 2048;
  double sector =
      32.0 / getStorageBytes(getTensorType(view.base).getElementType());
  double stride = std::abs(view.strides.back());
  double waste = std::min(stride, sector);
  if (getDistance(view) < pointsOfABlock)
    waste = std::min(waste, double(view.shape.back()) / 16);
  return std::max(1.0, waste);
}

/// The bytes that an operand reads: those of its part of a concatenation, and
/// no more through a gather than its source has.
static double countOperandBytes(const Pointwise &pointwise, size_t operand) {
  const ScalarFunction::Argument &argument = pointwise.getArgument(operand);
  if (argument.isCoordinate)
    return 0;
  RankedTensorType type = getTensorType(argument.value);
  double bytes = countBytes(pointwise.operands[operand]);
  if (!argument.indices.empty())
    bytes = std::min(double(pointwise.getElements()),
                     double(type.getNumElements())) *
            getStorageBytes(type.getElementType());
  for (const PointwiseGraph::Bound &bound : pointwise.bounds[operand]) {
    double range = 1;
    for (auto [size, stride] :
         llvm::zip_equal(bound.coordinate.shape, bound.coordinate.strides))
      range += double(size - 1) * std::abs(stride);
    bytes *= std::min(1.0, double(bound.upper - bound.lower) / range);
  }
  return bytes;
}

namespace {
/// The traffic of operands. Several views of one tensor, such as the neighbors
/// of a stencil, find its elements in a cache: it is read at most once.
class Traffic {
public:
  /// `bytes` of a tensor, which move `waste` times as many.
  void add(Value tensor, double bytes, double waste = 1) {
    Read &read = reads[tensor];
    read.bytes += bytes;
    read.moved += bytes * waste;
  }

  double getBytes() const {
    double bytes = 0;
    for (const auto &[tensor, read] : reads) {
      RankedTensorType type = getTensorType(tensor);
      double whole = double(type.getNumElements()) *
                     getStorageBytes(type.getElementType());
      bytes +=
          read.bytes > whole ? read.moved * whole / read.bytes : read.moved;
    }
    return bytes;
  }

private:
  struct Read {
    double bytes = 0, moved = 0;
  };
  llvm::MapVector<Value, Read> reads;
};
} // namespace

double Pointwise::getBytes() const {
  Traffic traffic;
  for (size_t i = 0; i < operands.size(); ++i)
    traffic.add(getArgument(i).value, countOperandBytes(*this, i));
  double bytes = traffic.getBytes();
  for (const StridedView &view : results)
    bytes += countBytes(view);
  return bytes;
}

bool Pointwise::wastesSectors() const {
  for (auto [i, view] : llvm::enumerate(operands))
    if (!getArgument(i).isCoordinate && getSectorWaste(view) > 1)
      return true;
  return llvm::any_of(results, [](const StridedView &view) {
    return getSectorWaste(view) > 1;
  });
}

LogicalResult fact::checkConcats(const Pointwise &pointwise,
                                 EmitError emitError) {
  constexpr int64_t mostParts = 16;
  // A pass more is worth so many slots per element, or as many as
  // multiprocessors issue while memory moves it.
  constexpr double fewSlots = 64, slotsPerByte = 6;
  // Each shift of an operand begins another part of it. Operands without bounds
  // are whole tensors, each of which would take a pass.
  int64_t bounded = 0, joined = 0;
  for (auto [bounds, shifts] :
       llvm::zip_equal(pointwise.bounds, pointwise.shifts)) {
    int64_t own = 1 + shifts.size();
    if (bounds.empty())
      joined = std::max(joined, own);
    else
      bounded += own;
  }
  int64_t parts = std::max(bounded, joined);
  if (parts > mostParts)
    return emitError() << "reads " << parts
                       << " parts of 'fact.concat' for each element, more than "
                       << mostParts;
  bool selects =
      llvm::any_of(pointwise.body.getArguments(),
                   [](const auto &argument) { return argument.isCoordinate; });
  double mostSlots =
      std::max(fewSlots, slotsPerByte * pointwise.getBytes() /
                             std::max<int64_t>(pointwise.getElements(), 1));
  if (selects && pointwise.body.getCost() > mostSlots)
    return emitError() << "computes all parts of 'fact.concat' for each "
                          "element, which takes longer than reading them";
  return success();
}

double Pointwise::predictSeconds(CudaPointwiseAttr schedule,
                                 const MachineDescription &machine) const {
  int64_t access = schedule.getVector() * getWidestBytes();
  double efficiency = access >= 16 ? 0.9 : access >= 8 ? 0.88 : 0.75;
  if (schedule.getThreads() != 256)
    efficiency *= 0.99;
  double slots = 6 + body.getCost();
  auto getWaste = [&](const StridedView &view) {
    double waste = getSectorWaste(view);
    // Lines that a warp touches one after the other.
    if (waste > 1)
      slots += 64;
    return waste;
  };
  Traffic traffic;
  int64_t vector = limitVector(schedule.getVector());
  for (auto [i, view] : llvm::enumerate(operands)) {
    const ScalarFunction::Argument &argument = getArgument(i);
    slots += 4 * (bounds[i].size() + argument.indices.size());
    // Each element has an address of its own, and a load.
    if (!shifts[i].empty())
      slots += 4 * (1 + shifts[i].size());
    if (isPlain(i) && getPickedWidth(view, vector) > 1) {
      // Operands that are picked from the same elements read them once.
      if (!isPickedBefore(operands, i))
        traffic.add(argument.value, countBytes(view) * view.strides.back());
    } else if (!argument.isCoordinate) {
      traffic.add(argument.value, countOperandBytes(*this, i), getWaste(view));
    }
  }
  double bytes = traffic.getBytes();
  bool areRuns =
      getRunLength(results, resultBuffers, getShape().size() - 1) > 1;
  for (const StridedView &view : results)
    bytes += countBytes(view) * (areRuns ? 1 : getWaste(view));
  double memory = bytes / (machine.bandwidth * efficiency);
  double compute =
      getElements() * slots / (machine.multiprocessors * 128 * machine.clock);
  return std::max(memory, compute) + machine.launchSeconds;
}
