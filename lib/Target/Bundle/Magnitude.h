//===- Magnitude.h - How large a region's values become ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H
#define FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// What a region's arithmetic does with operands of some magnitude.
struct MagnitudeEffect {
  /// The largest magnitude that an exponential, or another function whose
  /// value changes as fast as its operand does, is computed of: rounding errors
  /// of the operand are that many times larger in the result.
  double amplification = 0;
};

/// The effect of floating-point operands whose rms is `scales`, one for each
/// argument; none when an intermediate value leaves f32 (a result may), or when
/// rounding would decide the result.
std::optional<MagnitudeEffect>
getMagnitudeEffect(FusedOp fused, llvm::ArrayRef<double> scales);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H
