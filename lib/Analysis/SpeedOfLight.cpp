//===- SpeedOfLight.cpp - The least time a kernel can take ----------------===//

#include "fact/Analysis/SpeedOfLight.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fact;

int64_t fact::getStorageBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

double SpeedOfLight::getMicroseconds(const MachineDescription &machine) const {
  double arithmetic = matrixFlops16 / machine.matrixFlops16 +
                      matrixFlops32 / machine.matrixFlops32 +
                      scalarFlops / machine.scalarFlops;
  return 1e6 * std::max(arithmetic, bytes / machine.bandwidth);
}

static double elements(Value value) {
  return double(cast<RankedTensorType>(value.getType()).getNumElements());
}

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

SpeedOfLight fact::getSpeedOfLight(FusedOp fused) {
  SpeedOfLight sol;
  for (Value value : fused.getInputs())
    sol.bytes += double(getStorageBytes(value.getType()));
  for (Value value : fused.getResults())
    sol.bytes += double(getStorageBytes(value.getType()));
  for (Operation &op : fused.getBodyOps()) {
    if (double flops = contractionFlops(&op)) {
      auto type = cast<RankedTensorType>(op.getOperand(0).getType());
      (type.getElementTypeBitWidth() == 16 ? sol.matrixFlops16
                                           : sol.matrixFlops32) += flops;
    } else if (isa<PointwiseOpInterface, NormOp, SoftmaxOp>(op)) {
      sol.scalarFlops += elements(op.getResult(0));
    } else if (isa<ReduceOp>(op)) {
      sol.scalarFlops += elements(op.getOperand(0));
    }
  }
  return sol;
}
