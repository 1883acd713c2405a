//===- Numerics.h - What ops say of their arithmetic ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers of ContractionOpInterface and RowOpInterface, for those who choose
// operands and tolerances to verify a kernel with, and for the registry.
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

/// What an operand is to a contraction.
enum class OperandRole {
  /// Activations.
  Data,
  /// What they are multiplied with: a matrix, a filter.
  Weight,
  /// Scores are products of queries and keys, to which a mask is added; by
  /// them, values are averaged.
  Query,
  Key,
  Value,
  Mask
};

/// Random values reach a few times their root mean square.
constexpr double valueSpread = 8;

/// How large an op's numbers are for operands of a certain size. All sizes are
/// root mean squares.
struct ScaleEffect {
  double result = 0;
  /// Sums are kept in f32, of this many terms of this size.
  double term = 0;
  double terms = 1;
  /// What an exponential is computed of; 0 where there is none.
  double exponent = 0;
  /// The operands whose rounding errors are in it, and whether the op's own are
  /// too.
  llvm::SmallVector<unsigned> exponentOperands;
  bool computesExponent = false;
};

/// What a row op does with a row.
struct RowArithmetic {
  /// Gives one element.
  bool reduces = false;
  /// Gives an element of the row as it is.
  bool chooses = false;
  /// Gives the place of an element.
  bool locates = false;
  /// Looks for the largest element.
  bool findsLargest = false;
  /// Subtracts the mean: of equal elements, nothing but rounding errors is
  /// left.
  bool subtractsMean = false;
  /// Multiplies all elements.
  bool multiplies = false;
  /// Gives elements so small that some kernels compute 0.
  bool mayVanish = false;
};
} // namespace fact

#endif // FACT_DIALECT_FACT_NUMERICS_H
