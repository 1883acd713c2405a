//===- Machine.h - What the compiler knows of a machine -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_DIALECT_FACT_MACHINE_H
#define FACT_DIALECT_FACT_MACHINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace fact {
/// Published or measured figures of one machine. The strings live as long as
/// the program or the context of the attribute that holds them.
struct MachineDescription {
  llvm::StringRef name;
  /// "sm_90a" and the like; of a processor LLVM's name for it, such as
  /// "x86-64-v3" or "neoverse-v1", or "host" for the one that compiles.
  llvm::StringRef architecture;
  int64_t multiprocessors;
  /// Shared memory one block can have, in bytes.
  int64_t sharedMemoryBytes;
  int64_t cacheBytes;
  /// Bytes a second to memory.
  double bandwidth;
  /// Floating-point operations a second in contractions of 16-bit types, of f32
  /// (without TF32) and of f64, and in everything else.
  double matrixFlops16;
  double matrixFlops32;
  double matrixFlops64;
  double scalarFlops;

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
