//===- Magnitude.h - Magnitudes of a region's values ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H
#define FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>

namespace fact {
/// The effect of operands of some magnitude on a region's arithmetic.
struct MagnitudeEffect {
  /// Whether no intermediate value overflows f32 (a result may), and rounding
  /// does not decide a result.
  bool holds = false;
  /// For each result: how many times larger relative rounding errors are
  /// because of exponentials and similarly steep functions; 0 without these.
  llvm::SmallVector<double> amplifications;
};

/// The effect of floating-point operands whose rms is `scales`, one per
/// argument.
MagnitudeEffect getMagnitudeEffect(FusedOp fused,
                                   llvm::ArrayRef<double> scales);
} // namespace fact

#endif // FACT_LIB_TARGET_BUNDLE_MAGNITUDE_H
