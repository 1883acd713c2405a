//===- Program.h - A compiled model as static tables ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fact-tune writes one `library.cpp` that defines `theProgram` from these
// structs; Library.cpp interprets it. Everything is constant-initialized: a
// library runs no constructors when it is loaded.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_PROGRAM_H
#define FACT_RUNTIME_PROGRAM_H

#include "fact/Runtime/ElementType.h"
#include "fact/Runtime/Kernel.h"
#include "fact/Runtime/Table.h"
#include <cstdint>

namespace fact {
namespace runtime {

/// A row-major tensor.
struct TensorSpec {
  const char *name;
  ElementType type;
  uint32_t rank;
  const int64_t *shape;

  constexpr uint64_t elements() const {
    uint64_t count = 1;
    for (uint32_t i = 0; i < rank; ++i)
      count *= static_cast<uint64_t>(shape[i]);
    return count;
  }
  constexpr uint64_t bytes() const { return elements() * bytesOf(type); }
};

struct WeightSpec {
  TensorSpec tensor;
  /// The compiler relied on this value: `hash` is FNV-1a 64 over its bytes, and
  /// another value is an error.
  bool baked;
  uint64_t hash;
};

struct ConstantSpec {
  const void *data;
  uint64_t bytes;
};

/// The least alignment of the buffers that kernels are launched on.
constexpr uint64_t bufferAlignment(bool onDevice, uint32_t elementBytes) {
  return onDevice ? 16 : elementBytes;
}

enum class ValueKind : uint8_t {
  Input,
  Weight,
  Constant,
  Prepared,
  Workspace,
  Output,
  Part
};

struct ValueSpec {
  ValueKind kind;
  /// For an input, weight, constant or output: its position. For a part: that
  /// of the whole value in `values`, which is not a part itself.
  uint32_t index;
  /// For a prepared value or workspace: its offset in the region. For a part:
  /// its offset in the whole value.
  uint64_t offset;
  uint64_t bytes = 0;
};

/// The bytes [begin, end) of each row of `pitch` bytes; all where `pitch` is 0.
struct WrittenSpec {
  uint64_t begin, end, pitch;
};

struct KernelSpec {
  const char *name;
  const char *schedule;
  const FactKernel *kernel;
  /// The choice that the kernel was verified with, if it has one.
  Table<unsigned char> choice = {};
  /// The sizes that it is called with, if it takes any.
  Table<int64_t> sizes = {};
  /// What it writes of each result; nothing if it writes all of all.
  Table<WrittenSpec> written = {};
};

/// One kernel launch: operands, then results, as positions in `values`.
struct StepSpec {
  uint32_t kernel;
  uint32_t operandCount;
  uint32_t bufferCount;
  const uint32_t *buffers;
};

struct Program {
  const char *name;
  /// The JSON that FactLibrary::describe returns.
  const char *description;
  Table<TensorSpec> inputs;
  Table<TensorSpec> outputs;
  Table<WeightSpec> weights;
  Table<ConstantSpec> constants;
  Table<ValueSpec> values;
  Table<KernelSpec> kernels;
  Table<StepSpec> prepare;
  Table<StepSpec> program;
  uint64_t workspaceBytes;
  uint64_t preparedBytes;
  /// What kernels need of the processor (Cpu.h); null if they run on a device.
  const char *cpuArchitecture;
  Table<const char *> cpuFeatures;

  /// The position of the value that a value is, or is a part of.
  constexpr uint32_t wholeOf(uint32_t value) const {
    return values[value].kind == ValueKind::Part ? values[value].index : value;
  }
};

/// Defined by the generated library.cpp.
extern const Program theProgram;

inline uint64_t fnv1a64(const void *data, uint64_t bytes,
                        uint64_t hash = 0xcbf29ce484222325ull) {
  const unsigned char *byte = static_cast<const unsigned char *>(data);
  for (uint64_t i = 0; i < bytes; ++i)
    hash = (hash ^ byte[i]) * 0x100000001b3ull;
  return hash;
}

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_PROGRAM_H
