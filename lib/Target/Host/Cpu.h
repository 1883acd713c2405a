//===- Cpu.h - The processor that kernels are compiled for ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_TARGET_HOST_CPU_H
#define FACT_LIB_TARGET_HOST_CPU_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/TargetParser/Triple.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace fact::host {
/// A processor: the features that code may use, and the sizes that schedules
/// depend on.
class Cpu {
public:
  /// The processor that LLVM calls `architecture`; "host" is the one that
  /// compiles. It lives as long as the program.
  static const Cpu &get(llvm::StringRef architecture);

  /// LLVM's name: "neoverse-n1".
  llvm::StringRef getName() const { return name; }
  const llvm::Triple &getTriple() const { return triple; }
  /// "x86_64", "aarch64"
  llvm::StringRef getArchitecture() const { return triple.getArchName(); }
  /// Whether the compiler runs on this architecture.
  bool isNativeArchitecture() const;

  /// Features of fact/Runtime/Cpu.h that code may use.
  llvm::ArrayRef<std::string> getFeatures() const { return features; }
  bool has(llvm::StringRef feature) const;

  /// Whether it has fused multiply-add.
  bool hasFusedMultiplyAdd() const;
  /// Whether f16 and f32 convert in one instruction.
  bool convertsHalf() const;
  /// Whether it multiplies by a lane of a register, so that scalars are best
  /// loaded several at a time.
  bool hasLaneMultiply() const;
  /// Whether it loads a vector of elements at any places by one instruction.
  bool hasGather() const;
  /// Whether loops read and write memory faster if they ask for it ahead.
  bool needsPrefetch() const;
  /// Bytes of a vector register, and how many there are.
  int64_t getVectorBytes() const;
  /// Elements of so many bytes in a vector register; at least 1.
  int64_t getRegisterLanes(int64_t bytes) const;
  int64_t getVectorRegisters() const;
  /// Bytes of the first data cache of a core.
  int64_t getFirstCacheBytes() const { return firstCacheBytes; }

  /// LLVM's code generator; null when LLVM was built without it.
  std::unique_ptr<llvm::TargetMachine>
  createMachine(llvm::CodeGenOptLevel level) const;

private:
  explicit Cpu(llvm::StringRef architecture);

  std::string name;
  llvm::Triple triple;
  std::vector<std::string> features;
  int64_t firstCacheBytes;
};
} // namespace fact::host

#endif // FACT_LIB_TARGET_HOST_CPU_H
