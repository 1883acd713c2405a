//===- LocalMachine.h - The machine that runs this program ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--target=auto`: the first GPU that the driver shows to this process, or the
// host where there is none.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_DIALECT_FACT_LOCALMACHINE_H
#define FACT_DIALECT_FACT_LOCALMACHINE_H

#include "fact/Dialect/Fact/Fact.h"
#include <optional>
#include <string>

namespace fact {
/// The architectures of the built-in GPUs, in the order of the table.
llvm::SmallVector<llvm::StringRef> getGpuArchitectures();

/// All figures of a machine, as MachineAttr holds them.
mlir::DictionaryAttr getFigures(mlir::MLIRContext *context,
                                const MachineDescription &machine);

/// A GPU as its driver describes it. A figure that the driver does not know is
/// 0.
struct LocalGpu {
  /// "NVIDIA H100 PCIe"
  std::string name;
  /// The compute capability.
  int major = 0, minor = 0;
  int64_t multiprocessors = 0, sharedMemoryBytes = 0, cacheBytes = 0;
  /// Bytes per second, and the maximum cycles per second.
  double bandwidth = 0, clock = 0;

  /// "NVIDIA H100 PCIe (compute capability 9.0)"
  std::string describe() const;
};

/// The first GPU of the driver; if there is none, `reason` says why.
std::optional<LocalGpu> findLocalGpu(std::string &reason);

/// The built-in machine that a GPU is, or a machine with the figures that the
/// driver knows and those of the GPU's architecture, scaled by multiprocessors
/// and clock. Fails if there are no kernels for the architecture.
mlir::FailureOr<MachineAttr>
toMachine(mlir::MLIRContext *context, const LocalGpu &gpu,
          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The machine of findLocalGpu, or the host.
mlir::FailureOr<MachineAttr>
resolveLocalMachine(mlir::MLIRContext *context,
                    llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
} // namespace fact

#endif // FACT_DIALECT_FACT_LOCALMACHINE_H
