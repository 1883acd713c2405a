//===- SpeedOfLight.h - The least time a kernel can take --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_ANALYSIS_SPEEDOFLIGHT_H
#define FACT_ANALYSIS_SPEEDOFLIGHT_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// Work that no implementation can avoid.
struct SpeedOfLight {
  /// Floating-point operations of contractions, by MatrixRate, and of all other
  /// ops (one per element of a pointwise op).
  MatrixTable matrixFlops = {};
  double scalarFlops = 0;
  /// Bytes of needed elements, read once, and of results, written once.
  double bytes = 0;

  double getFlops() const;
  /// The same by type, each with its name in tables and files.
  llvm::SmallVector<std::pair<std::string, double>> getFlopsByType() const;
  double getArithmeticMicroseconds(const MachineDescription &machine) const;
  double getTrafficMicroseconds(const MachineDescription &machine) const;
  /// max(arithmetic, traffic) on a machine.
  double getMicroseconds(const MachineDescription &machine) const;
};

/// The speed of light of an op as a kernel of its own, or of a `fact.fused`.
/// Views, weights and constants cost nothing. Only elements that the results
/// depend on count (Demand.h), so that no kernel takes less. A contraction of
/// f32 runs at the rate of TF32 if it allows that.
SpeedOfLight getSpeedOfLight(mlir::Operation *op);

/// Whether the op is work, so that an unfused program has a kernel for it.
bool hasSpeedOfLight(mlir::Operation *op);

/// One row per op of the graph, or per `fact.fused` with the sum over its ops
/// as kernels of their own.
struct SpeedOfLightReport {
  struct Row {
    mlir::Operation *op;
    SpeedOfLight light;
    double microseconds;
    /// The sum over the ops that a kernel replaces.
    double unfusedMicroseconds;
    unsigned ops;
  };
  MachineDescription machine;
  llvm::SmallVector<Row> rows;

  double getMicroseconds() const;
  double getUnfusedMicroseconds() const;
};

/// The report of what runs on each call, which excludes `fact.prepare`. Warns
/// of ops of other dialects, which are not counted.
SpeedOfLightReport reportSpeedOfLight(mlir::ModuleOp module,
                                      const MachineDescription &machine);
void warnOfUncounted(mlir::ModuleOp module);
void printTable(const SpeedOfLightReport &report, llvm::raw_ostream &os);
void printJson(const SpeedOfLightReport &report, llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_ANALYSIS_SPEEDOFLIGHT_H
