//===- Machine.h - Sizes and peaks of machines ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_MACHINE_H
#define FACT_DIALECT_FACT_MACHINE_H

#include "fact/Runtime/ElementType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <array>
#include <cstdint>

namespace fact {
/// Rows of a machine's table of peaks: the operand types of its matrix units.
enum class MatrixRate : uint8_t { Bits16, F32, TF32, F64 };

/// One number per rate.
using MatrixTable = std::array<double, size_t(MatrixRate::F64) + 1>;

/// "16", "32", "tf32", "64": the end of the figure's name.
llvm::StringRef getName(MatrixRate rate);

/// The rate of contractions of operands of `type`; `tf32` says whether those of
/// f32 may be rounded to TF32.
MatrixRate getMatrixRate(runtime::ElementType type, bool tf32);

/// Published or measured figures of one machine. The strings live as long as
/// the program or the context of the attribute that holds them.
struct MachineDescription {
  llvm::StringRef name;
  /// "sm_90a" and the like for a GPU. For a processor its name in LLVM, such as
  /// "x86-64-v3" or "neoverse-v1", or "host" for the one that compiles.
  llvm::StringRef architecture;
  int64_t multiprocessors;
  /// Maximum shared memory per thread block, in bytes.
  int64_t sharedMemoryBytes;
  int64_t cacheBytes;
  /// Bytes per second to memory.
  double bandwidth;
  /// Floating-point operations per second in contractions, by MatrixRate, and
  /// in everything else.
  MatrixTable matrixFlops;
  double scalarFlops;
  /// Sustained cycles per second of a multiprocessor, and seconds per launch of
  /// a kernel, for cost models.
  double clock = 1.7e9;
  double launchSeconds = 3e-6;

  /// The peak of contractions at a rate. A GPU multiplies f32 exactly enough as
  /// three products of TF32 parts where that is faster than its f32 units.
  double getPeak(MatrixRate rate) const {
    double peak = matrixFlops[size_t(rate)];
    if (rate != MatrixRate::F32 || isHost())
      return peak;
    return std::max(peak, matrixFlops[size_t(MatrixRate::TF32)] / 3);
  }
  /// The peak of contractions of operands of `type`.
  double getMatrixFlops(runtime::ElementType type, bool tf32 = false) const {
    return getPeak(getMatrixRate(type, tf32));
  }

  bool isHost() const { return !architecture.starts_with("sm_"); }
  /// The kind of target that writes kernels for it.
  llvm::StringRef getKind() const { return isHost() ? "host" : "cuda"; }
};

/// The built-in machines.
llvm::ArrayRef<MachineDescription> getMachineTable();

/// The built-in machine of that name or architecture, or null.
const MachineDescription *findMachine(llvm::StringRef nameOrArchitecture);
} // namespace fact

#endif // FACT_DIALECT_FACT_MACHINE_H
