//===- SpeedOfLight.cpp - The least time a kernel can take ----------------===//

#include "fact/Analysis/SpeedOfLight.h"
#include "llvm/ADT/TypeSwitch.h"

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

double SpeedOfLight::getTrafficMicroseconds(
    const MachineDescription &machine) const {
  return 1e6 * bytes / machine.bandwidth;
}

double SpeedOfLight::getMicroseconds(const MachineDescription &machine) const {
  return std::max(getArithmeticMicroseconds(machine),
                  getTrafficMicroseconds(machine));
}

static double elements(Value value) {
  return double(cast<RankedTensorType>(value.getType()).getNumElements());
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Floating-point operations of one contraction.
static double contractionFlops(Operation *op) {
  return TypeSwitch<Operation *, double>(op)
      .Case([](MatmulOp matmul) {
        return 2.0 * elements(matmul) * double(matmul.getK());
      })
      .Case([](AttentionOp attention) {
        double keys = double(attention.getKey().getType().getDimSize(2));
        double flops =
            2.0 * keys * (elements(attention.getQuery()) + elements(attention));
        // Half of the square is masked.
        return attention.getCausal() ? flops / 2 : flops;
      })
      .Default([](Operation *) { return 0.0; });
}

static void addFlops(Operation *op, SpeedOfLight &light) {
  if (double flops = contractionFlops(op)) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    unsigned width = type.getElementTypeBitWidth();
    (width <= 16   ? light.matrixFlops16
     : width == 64 ? light.matrixFlops64
                   : light.matrixFlops32) += flops;
  } else if (isa<ReduceOp>(op)) {
    light.scalarFlops += elements(op->getOperand(0));
  } else if (isa<PointwiseOpInterface, NormOp, SoftmaxOp, RotaryOp>(op)) {
    light.scalarFlops += elements(op->getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return op && op->hasTrait<fact::ViewOp>();
}

/// Bytes that one use of a tensor reads: a gather reads the rows it returns.
static double bytesOfUse(OpOperand &use) {
  double bytes = double(getStorageBytes(use.get().getType()));
  auto gather = dyn_cast<GatherOp>(use.getOwner());
  if (gather && use.getOperandNumber() == 0)
    return std::min(bytes, double(getStorageBytes(gather.getType())));
  return bytes;
}

/// Bytes of a region's argument that its uses need: as many as come through
/// the views on the way.
static double bytesRead(Value value) {
  double bytes = double(getStorageBytes(value.getType())), needed = 0;
  for (OpOperand &use : value.getUses())
    needed += isView(use.getOwner()) ? bytesRead(use.getOwner()->getResult(0))
                                     : bytesOfUse(use);
  return std::min(bytes, needed);
}

/// Bytes that an op needs of one operand: as few as the views on the way from
/// memory leave. A splat is part of the code.
static double bytesOfOperand(OpOperand &operand) {
  double bytes = bytesOfUse(operand);
  Operation *op = operand.get().getDefiningOp();
  for (; isView(op); op = op->getOperand(0).getDefiningOp())
    bytes = std::min(bytes, double(getStorageBytes(op->getOperand(0).getType())));
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        dense && dense.isSplat())
      return 0;
  return bytes;
}

bool fact::hasSpeedOfLight(Operation *op) {
  return isa_and_nonnull<FactDialect>(op->getDialect()) && !isView(op) &&
         op->getNumResults() != 0 &&
         !isa<GetWeightOp, ConstantOp, PrepareOp>(op);
}

SpeedOfLight fact::getSpeedOfLight(Operation *op) {
  SpeedOfLight light;
  if (!hasSpeedOfLight(op))
    return light;
  for (Value value : op->getResults())
    light.bytes += double(getStorageBytes(value.getType()));
  if (auto fused = dyn_cast<FusedOp>(op)) {
    for (Value argument : fused.getBody().getArguments())
      light.bytes += bytesRead(argument);
    for (Operation &inner : fused.getBodyOps())
      addFlops(&inner, light);
    return light;
  }
  llvm::SmallDenseSet<Value> seen;
  for (OpOperand &operand : op->getOpOperands())
    if (seen.insert(operand.get()).second)
      light.bytes += bytesOfOperand(operand);
  addFlops(op, light);
  return light;
}
