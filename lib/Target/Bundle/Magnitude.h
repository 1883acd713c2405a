//===- Magnitude.h - Magnitudes of a region's values ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H
#define FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// The effect of operands of some magnitude on a region's arithmetic.
struct MagnitudeEffect {
  /// The largest computed operand of an exponential or a similarly steep
  /// function: relative rounding errors of the operand are that many times
  /// larger in the result.
  double amplification = 0;
};

/// The effect of floating-point operands whose rms is `scales`, one per
/// argument; none if an intermediate value overflows f32 (a result may), or if
/// rounding would decide the result.
std::optional<MagnitudeEffect>
getMagnitudeEffect(FusedOp fused, llvm::ArrayRef<double> scales);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H
