//===- SpeedOfLight.h - The least time a kernel can take ----------*- C++
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//-*-===//

#ifndef FACT_ANALYSIS_SPEEDOFLIGHT_H
#define FACT_ANALYSIS_SPEEDOFLIGHT_H

#include "fact/Dialect/Fact/Fact.h"
#include "mlir/IR/BuiltinOps.h"

namespace fact {
/// Work that no implementation can avoid.
struct SpeedOfLight {
  /// Floating-point operations of contractions by the type of their operands,
  /// and of everything else (one for each element of a pointwise op).
  double matrixFlops16 = 0;
  double matrixFlops32 = 0;
  double matrixFlops64 = 0;
  double scalarFlops = 0;
  /// Each element that is needed read once, each result written once.
  double bytes = 0;

  double getFlops() const {
    return matrixFlops16 + matrixFlops32 + matrixFlops64 + scalarFlops;
  }
  /// The same by type, each with its name in tables and files.
  llvm::SmallVector<std::pair<llvm::StringRef, double>, 4>
  getFlopsByType() const {
    return {{"matrix_16", matrixFlops16},
            {"matrix_32", matrixFlops32},
            {"matrix_64", matrixFlops64},
            {"scalar", scalarFlops}};
  }
  double getArithmeticMicroseconds(const MachineDescription &machine) const;
  double getTrafficMicroseconds(const MachineDescription &machine) const;
  /// max(arithmetic, traffic) on a machine.
  double getMicroseconds(const MachineDescription &machine) const;
};

/// Of an op as a kernel of its own, or of a `fact.fused`. Views, weights and
/// constants cost nothing. Only elements that the results depend on count
/// (Demand.h), so that no kernel takes less.
SpeedOfLight getSpeedOfLight(mlir::Operation *op);

/// Whether the op is work, so that an unfused program has a kernel for it.
bool hasSpeedOfLight(mlir::Operation *op);

/// Bytes of a tensor as kernels store it (booleans take one).
int64_t getStorageBytes(mlir::Type type);

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
