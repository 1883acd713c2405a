//===- SpeedOfLight.cpp - The least time a kernel can take ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Analysis/Demand.h"
#include "fact/Analysis/ReadThrough.h"
#include "fact/Dialect/Fact/Placement.h"
#include "mlir/IR/TypeUtilities.h"
#include <numeric>

using namespace mlir;
using namespace fact;

double SpeedOfLight::getFlops() const {
  return std::accumulate(matrixFlops.begin(), matrixFlops.end(), 0.0) +
         scalarFlops;
}

SmallVector<std::pair<std::string, double>>
SpeedOfLight::getFlopsByType() const {
  SmallVector<std::pair<std::string, double>> byType;
  for (auto [i, flops] : llvm::enumerate(matrixFlops))
    byType.emplace_back(("matrix_" + getName(MatrixRate(i))).str(), flops);
  byType.emplace_back("scalar", scalarFlops);
  return byType;
}

double SpeedOfLight::getArithmeticMicroseconds(
    const MachineDescription &machine) const {
  double seconds = 0;
  for (auto [i, flops] : llvm::enumerate(matrixFlops))
    seconds += flops / machine.getPeak(MatrixRate(i));
  return 1e6 * (seconds + scalarFlops / machine.scalarFlops);
}

double
SpeedOfLight::getTrafficMicroseconds(const MachineDescription &machine) const {
  return 1e6 * bytes / machine.bandwidth;
}

double SpeedOfLight::getMicroseconds(const MachineDescription &machine) const {
  return std::max(getArithmeticMicroseconds(machine),
                  getTrafficMicroseconds(machine));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Adds the arithmetic of `op` for the elements `result` of its result.
static void addFlops(Operation *op, const ElementSets &result,
                     SpeedOfLight &light) {
  auto tensorOp = dyn_cast<TensorOpInterface>(op);
  if (!tensorOp)
    return;
  double flops = tensorOp.getFlops(result);
  auto contraction = dyn_cast<ContractionOpInterface>(op);
  if (!contraction) {
    light.scalarFlops += flops;
    return;
  }
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  MatrixRate rate =
      getMatrixRate(toElementType(element), contraction.allowsTf32());
  light.matrixFlops[size_t(rate)] += flops;
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// A constant of equal elements is part of the code.
static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

/// Propagates the needed elements from the results of an op to its operands,
/// and adds its arithmetic.
static void follow(Operation *op, DemandAnalysis &demand, SpeedOfLight &light) {
  const ElementSets result = demand.get(op->getResult(0));
  SmallVector<ElementSets> operands = getDemand(op, result);
  addFlops(op, result, light);
  for (auto [operand, sets] : llvm::zip_equal(op->getOperands(), operands))
    demand.add(operand, sets);
}

static double countBytes(Value value, const ElementSets &sets) {
  Type element = getElementTypeOrSelf(value.getType());
  return sets.count() * double(getStorageBytes(element));
}

bool fact::hasSpeedOfLight(Operation *op) {
  return isa_and_nonnull<FactDialect>(op->getDialect()) &&
         !isa<ViewOpInterface>(op) && op->getNumResults() != 0 &&
         !isa<GetWeightOp, ConstantOp, PrepareOp>(op);
}

SpeedOfLight fact::getSpeedOfLight(Operation *op) {
  SpeedOfLight light;
  if (!hasSpeedOfLight(op))
    return light;
  for (Value value : op->getResults())
    light.bytes += double(getStorageBytes(value.getType()));
  // A result that is a part of its buffer is written in part.
  if (auto fused = dyn_cast<FusedOp>(op))
    for (auto [yielded, result] :
         llvm::zip_equal(fused.getYield()->getOperands(), fused.getResults()))
      light.bytes -=
          double(getStorageBytes(result.getType()) -
                 getStorageBytes(Placement::getWritten(yielded).getType()));
  // Several arguments may be the same memory, which counts once. An op outside
  // of a region is a kernel of its own and reads through the views before it.
  DemandAnalysis inside, memory;
  if (auto fused = dyn_cast<FusedOp>(op)) {
    for (Value value : fused.getYield()->getOperands())
      inside.addWhole(value);
    for (Operation &inner : llvm::reverse(fused.getBodyOps()))
      if (!isa<ViewOpInterface>(inner) && inner.getNumOperands() != 0)
        follow(&inner, inside, light);
    for (auto [argument, input] :
         llvm::zip_equal(fused.getBody().getArguments(), fused.getInputs()))
      memory.addStored(skipReshapes(input), inside.get(argument));
    for (Operation &inner : fused.getBodyOps())
      if (isa<ConstantOp>(inner) && !inner.use_empty())
        memory.addStored(inner.getResult(0), inside.get(inner.getResult(0)));
  } else {
    memory.addWhole(op->getResult(0));
    follow(op, memory, light);
  }
  for (Value value : memory.getValues())
    if (value.getDefiningOp() != op && !isSplat(value))
      light.bytes += countBytes(value, memory.get(value));
  return light;
}
