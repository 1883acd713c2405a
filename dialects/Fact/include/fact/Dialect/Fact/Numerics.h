//===- Numerics.h - Arithmetic and magnitudes of ops ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of ContractionOpInterface and RowOpInterface, from which verification
// chooses operands and tolerances, and the registry its keys.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_DIALECT_FACT_NUMERICS_H
#define FACT_DIALECT_FACT_NUMERICS_H

#include "llvm/ADT/SmallVector.h"
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace fact {
/// Sizes by name that the speed of a kernel depends on: "m", "n", "k".
using ProblemExtents = std::map<std::string, int64_t>;

/// The role of an operand of a contraction.
enum class OperandRole {
  /// Activations.
  Data,
  /// The matrix or filter that multiplies them.
  Weight,
  /// Operands of attention: scores are products of queries and keys plus the
  /// mask, and the result averages values by these scores.
  Query,
  Key,
  Value,
  Mask
};

/// Random values reach a few times their root mean square.
constexpr double valueSpread = 8;

/// Magnitudes of an op's result and intermediate values, given those of its
/// operands. A magnitude is a root mean square.
struct ScaleEffect {
  double result = 0;
  /// Magnitude and number of the terms of sums, which are accumulated in f32.
  double term = 0;
  double terms = 1;
  /// Magnitude of the argument of the exponential; 0 if there is none.
  double exponent = 0;
  /// The operands whose rounding errors enter the argument, and whether errors
  /// of the op's own arithmetic do.
  llvm::SmallVector<unsigned> exponentOperands;
  bool computesExponent = false;
};

/// The arithmetic of a row op on one row.
struct RowArithmetic {
  /// The result has one element per row.
  bool reduces = false;
  /// The result is an element of the row, unchanged.
  bool chooses = false;
  /// The result is the index of an element.
  bool locates = false;
  /// Finds the largest element.
  bool findsLargest = false;
  /// Subtracts the mean, which leaves only rounding errors of a row of equal
  /// elements.
  bool subtractsMean = false;
  /// Multiplies all elements.
  bool multiplies = false;
  /// Results may be so small that some kernels flush them to 0.
  bool mayVanish = false;
};
} // namespace fact

#endif // FACT_DIALECT_FACT_NUMERICS_H
