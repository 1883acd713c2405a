//===- SpeedOfLight.cpp - The least time a kernel can take ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Analysis/SpeedOfLight.h"
#include "fact/Analysis/Demand.h"
#include "fact/Analysis/ReadThrough.h"

using namespace mlir;
using namespace fact;

int64_t fact::getStorageBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

double SpeedOfLight::getArithmeticMicroseconds(
    const MachineDescription &machine) const {
  return 1e6 * (matrixFlops16 / machine.matrixFlops16 +
                matrixFlops32 / machine.matrixFlops32 +
                matrixFlops64 / machine.matrixFlops64 +
                scalarFlops / machine.scalarFlops);
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

/// Adds what `op` computes to make the elements `result`.
static void addFlops(Operation *op, const ElementSets &result,
                     SpeedOfLight &light) {
  auto tensorOp = dyn_cast<TensorOpInterface>(op);
  if (!tensorOp)
    return;
  double flops = tensorOp.getFlops(result);
  if (!isa<ContractionOpInterface>(op)) {
    light.scalarFlops += flops;
    return;
  }
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  unsigned width = type.getElementTypeBitWidth();
  (width <= 16   ? light.matrixFlops16
   : width == 64 ? light.matrixFlops64
                 : light.matrixFlops32) += flops;
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// A splat is part of the code.
static bool isSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

/// Follows what is needed through one op, with its arithmetic.
static void follow(Operation *op, DemandAnalysis &demand, SpeedOfLight &light) {
  const ElementSets result = demand.get(op->getResult(0));
  SmallVector<ElementSets> operands = getDemand(op, result);
  addFlops(op, result, light);
  for (auto [operand, sets] : llvm::zip_equal(op->getOperands(), operands))
    demand.add(operand, sets);
}

static double countBytes(Value value, const ElementSets &sets) {
  auto type = cast<RankedTensorType>(value.getType());
  return sets.count() * double((type.getElementTypeBitWidth() + 7) / 8);
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
  // Two arguments may be the same memory. Where there is no region, a kernel of
  // the op alone reads through the views before it.
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
