//===- SpeedOfLight.h - The least time a kernel can take ----------*- C++ -*-===//

#ifndef FACT_ANALYSIS_SPEEDOFLIGHT_H
#define FACT_ANALYSIS_SPEEDOFLIGHT_H

#include "fact/Dialect/Fact/Fact.h"

namespace fact {
/// Work that no implementation of a region can avoid.
struct SpeedOfLight {
  /// Floating-point operations of contractions on 16-bit operands, of other
  /// contractions, and of everything else (one for each element of a pointwise
  /// op).
  double matrixFlops16 = 0;
  double matrixFlops32 = 0;
  double scalarFlops = 0;
  /// Each operand read once, each result written once.
  double bytes = 0;

  double getFlops() const {
    return matrixFlops16 + matrixFlops32 + scalarFlops;
  }
  /// max(arithmetic, traffic) on a machine.
  double getMicroseconds(const MachineDescription &machine) const;
};

SpeedOfLight getSpeedOfLight(FusedOp fused);

/// Bytes of a tensor as kernels store it (booleans take one).
int64_t getStorageBytes(mlir::Type type);
} // namespace fact

#endif // FACT_ANALYSIS_SPEEDOFLIGHT_H
