//===- Device.h - Memory and kernels of the target --------------*- C++ -*-===//
//
// One interface, implemented once for each target (HostDevice.cpp,
// CudaDevice.cu); a library or a worker links exactly one of them. Functions
// that can fail return false or null, and `lastError` says why.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_DEVICE_H
#define FACT_RUNTIME_DEVICE_H

#include "fact/Runtime/Kernel.h"
#include <cstdint>
#include <string>
#include <vector>

namespace fact {
namespace runtime {
namespace device {

/// DLPack's device type, and how messages call it ("cpu", "cuda").
int32_t type();
const char *name();

/// What a measurement depends on: processor or GPU model, size, driver.
std::string fingerprint();

/// The calling thread's device.
int32_t currentOrdinal();
bool select(int32_t ordinal);

/// The alignment every buffer needs that a kernel may touch by wide accesses.
uint64_t requiredAlignment(uint32_t elementBytes);

/// 256-byte aligned; a request for 0 bytes gives a pointer too.
void *allocate(uint64_t bytes);
void release(void *memory);

/// These three return when the copy is done.
bool copyToDevice(void *target, const void *source, uint64_t bytes);
bool copyToHost(void *target, const void *source, uint64_t bytes);
bool synchronize();

/// Enqueued on `stream`.
bool fillBytes(void *target, int byte, uint64_t bytes, void *stream);

constexpr uint32_t maximumRank = 8;

/// A strided tensor to copy into row-major order; strides count elements.
struct StridedTensor {
  const void *data;
  uint32_t elementBytes;
  uint32_t rank;
  int64_t shape[maximumRank];
  int64_t strides[maximumRank];
};
bool copyStrided(void *target, const StridedTensor &source, void *stream);

/// The calling thread's last failure.
const char *lastError();
void setLastError(std::string message);

} // namespace device

/// One kernel with its buffers. `bind` does nothing when no pointer changed.
class KernelInstance {
public:
  explicit KernelInstance(const FactKernel &kernel);
  ~KernelInstance();
  KernelInstance(KernelInstance &&other) noexcept;
  KernelInstance(const KernelInstance &) = delete;
  KernelInstance &operator=(const KernelInstance &) = delete;

  const FactKernel &kernel() const { return *theKernel; }

  /// Why this kernel cannot run here: another ABI, another target, another
  /// number of buffers. Empty when it can.
  std::string validate(uint32_t bufferCount) const;

  /// Bytes that `bind` wants: on the host, those of all threads.
  uint64_t workspaceBytes() const;

  /// The operands that are packed together; the first gives its place to the
  /// packed memory. Empty when the kernel packs none.
  std::vector<uint32_t> packedOperands() const {
    if (theKernel->packed_operand < 0)
      return {};
    uint32_t first = static_cast<uint32_t>(theKernel->packed_operand);
    std::vector<uint32_t> operands = {first};
    for (uint32_t i = 0; i < 32; ++i)
      if (theKernel->packed_with >> i & 1 && i != first)
        operands.push_back(i);
    return operands;
  }

  /// Fills `packed` from the packed operands among `buffers`.
  bool pack(void *const *buffers, void *packed, void *stream);

  bool bind(void *const *buffers, void *workspace);
  bool launch(void *stream);

private:
  const FactKernel *theKernel;
  [[maybe_unused]] void *state = nullptr;
  [[maybe_unused]] void *boundWorkspace = nullptr;
  [[maybe_unused]] bool bound = false;
  /// Of one tile, as the host's launches measure it; negative while unknown.
  [[maybe_unused]] double tileNanoseconds = -1;
  std::vector<void *> buffers;
};

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_DEVICE_H
