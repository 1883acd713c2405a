//===- Weights.h - The weights of one instance ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_WEIGHTS_H
#define FACT_LIB_RUNTIME_WEIGHTS_H

#include "Safetensors.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Program.h"
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fact {
namespace runtime {

/// Device memory that frees itself.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept : memory(std::exchange(other.memory, {})) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(memory, other.memory);
    return *this;
  }
  ~Buffer() {
    if (memory)
      device::release(memory);
  }
  bool allocate(uint64_t bytes) {
    if (!memory)
      memory = device::allocate(bytes);
    return memory != nullptr;
  }
  char *data() const { return static_cast<char *>(memory); }

private:
  void *memory = nullptr;
};

/// The weights at one time, and what was computed from them. Changing weights
/// builds a new instance beside the old one and then replaces it.
struct Weights {
  /// By position in Program::weights.
  std::vector<char *> data;
  /// Keeps `data[i]` alive; null if it is borrowed from the caller.
  std::vector<std::shared_ptr<void>> owners;
  Buffer prepared;
  /// By position in MemoryPlan::slotBytes.
  std::vector<Buffer> packed;
  /// Checksums of MemoryPlan::consumedWeights at the time they were read.
  std::vector<uint64_t> sums;
};

/// Adds the named tensors to `weights`. Returns the problems, one line each;
/// with `needAll`, missing weights too.
std::vector<std::string> takeTensors(const Program &program, int32_t ordinal,
                                     const FactNamedTensor *tensors,
                                     int64_t count, bool needAll,
                                     Weights &weights);

/// Describes how a weight differs from the value that the compiler relied on,
/// or returns "".
std::string checkBakedValue(const WeightSpec &expected, const void *data);

/// The same from a file: mapped if kernels can read it in place, copied to the
/// device otherwise.
std::vector<std::string> takeFile(const Program &program,
                                  const SafetensorsFile &file, bool needAll,
                                  Weights &weights);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_WEIGHTS_H
