//===- SpeedOfLight.h - The least time a kernel can take ----------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_ANALYSIS_SPEEDOFLIGHT_H
#define FACT_ANALYSIS_SPEEDOFLIGHT_H

#include "fact/Dialect/Fact/Fact.h"
#include "fact/Dialect/Fact/Types.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// Work that no implementation can avoid.
struct SpeedOfLight {
  /// Floating-point operations of contractions, by MatrixRate, and of
  /// everything else (one for each element of a pointwise op).
  MatrixTable matrixFlops = {};
  double scalarFlops = 0;
  /// Each element that is needed read once, each result written once.
  double bytes = 0;

  double getFlops() const;
  /// The same by type, each with its name in tables and files.
  llvm::SmallVector<std::pair<std::string, double>> getFlopsByType() const;
  double getArithmeticMicroseconds(const MachineDescription &machine) const;
  double getTrafficMicroseconds(const MachineDescription &machine) const;
  /// max(arithmetic, traffic) on a machine.
  double getMicroseconds(const MachineDescription &machine) const;
};

/// Of an op as a kernel of its own, or of a `fact.fused`. Views, weights and
/// constants cost nothing. Only elements that the results depend on count
/// (Demand.h), so that no kernel takes less. Contractions of f32 have the
/// precision that the module allows.
SpeedOfLight getSpeedOfLight(mlir::Operation *op);

/// Whether the op is work, so that an unfused program has a kernel for it.
bool hasSpeedOfLight(mlir::Operation *op);

/// The rows of a report: each op of the graph, or each `fact.fused` with the
/// sum of its ops as kernels of their own.
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

/// Of what runs on each call; `fact.prepare` does not. Ops of other dialects
/// are not counted, and a warning says so.
SpeedOfLightReport reportSpeedOfLight(mlir::ModuleOp module,
                                      const MachineDescription &machine);
void warnOfUncounted(mlir::ModuleOp module);
void printTable(const SpeedOfLightReport &report, llvm::raw_ostream &os);
void printJson(const SpeedOfLightReport &report, llvm::raw_ostream &os);
} // namespace fact

#endif // FACT_ANALYSIS_SPEEDOFLIGHT_H
