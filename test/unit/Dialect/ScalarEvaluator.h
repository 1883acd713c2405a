//===- ScalarEvaluator.h - Runs arith and math on many values ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scalar definition, run without a compiler. Values are held in double and
// rounded to f32 after each op that has f32 results, which gives f32's own
// result for the basic operations and the correctly rounded one for functions.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_TEST_UNIT_DIALECT_SCALAREVALUATOR_H
#define FACT_TEST_UNIT_DIALECT_SCALAREVALUATOR_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace fact::test {

/// One value of the definition for each input. Integers and booleans too.
using Lanes = std::vector<double>;

/// How ops that allow it (`afn`, `arcp`) are computed.
struct Machine {
  /// By the instructions of a GPU, each with the largest error that PTX
  /// documents, rather than exactly.
  bool approximate = false;
  /// Bit i: the i-th such op errs upwards, otherwise downwards.
  unsigned upwards = 0;
};

class ScalarEvaluator {
public:
  explicit ScalarEvaluator(Machine machine = {}) : machine(machine) {}

  void set(mlir::Value value, Lanes lanes) { values[value] = std::move(lanes); }
  /// The value of `result`, which the ops of its block compute.
  Lanes run(mlir::Value result);
  /// Ops that were computed approximately.
  unsigned getApproximated() const { return approximated; }

private:
  void run(mlir::Operation *op);
  double compute(mlir::Operation *op, llvm::ArrayRef<double> x);
  double approximate(mlir::Operation *op, llvm::ArrayRef<double> x);

  Machine machine;
  /// The sign of the errors of the current op, and how many ops there were.
  double direction = 0;
  unsigned approximated = 0;
  /// An op that cannot be computed was found and reported.
  bool unknown = false;
  llvm::DenseMap<mlir::Value, Lanes> values;
};

/// `value` with so many bits of significand, to nearest even; exponents go down
/// to `lowest`, below which there are denormals.
long double roundTo(long double value, int bits, int lowest);

} // namespace fact::test

#endif // FACT_TEST_UNIT_DIALECT_SCALAREVALUATOR_H
