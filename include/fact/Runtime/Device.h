//===- Device.h - Memory and kernels of the target --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One interface with one implementation per target (HostDevice.cpp,
// CudaDevice.cu), of which a library or a worker links exactly one. Functions
// that can fail return false or null, and `lastError` says why.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_RUNTIME_DEVICE_H
#define FACT_RUNTIME_DEVICE_H

#include "fact/Runtime/Kernel.h"
#include "fact/Runtime/Table.h"
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fact {
namespace runtime {
namespace device {

/// DLPack's device type, and its name in messages ("cpu", "cuda").
int32_t type();
const char *name();

/// Identifies what a measurement depends on: processor or GPU model, size,
/// driver.
std::string fingerprint();

/// The calling thread's device.
int32_t currentOrdinal();
bool select(int32_t ordinal);

/// The alignment that kernels need of every buffer, for wide accesses.
uint64_t requiredAlignment(uint32_t elementBytes);

/// 256-byte aligned. A request for 0 bytes returns a pointer too.
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

/// Memory that is checked for changes.
struct Region {
  const void *data;
  uint64_t bytes;
};
/// Computes one checksum per region. It always changes with a single word of 4
/// bytes, and with probability 1 - 2^-32 with several. Returns when all are
/// computed. `scratch` is 8 bytes of device memory per region.
bool checksums(const std::vector<Region> &regions, void *scratch, void *stream,
               std::vector<uint64_t> &sums);

/// Whether work on `stream` is captured in a graph rather than executed; then
/// nothing may wait for the device.
bool isCapturing(void *stream);

/// A point of a stream that work on other streams can wait for. No-ops on the
/// host, where calls return when their work is done.
void *createEvent();
void destroyEvent(void *event);
bool recordEvent(void *event, void *stream);
bool waitForEvent(void *event, void *stream);

/// A stream that waits for no other. Null on the host.
void *createStream();
void destroyStream(void *stream);

/// The calling thread's last failure.
const char *lastError();
void setLastError(std::string message);

/// The launches of a program, recorded once and then replayed by one call. The
/// program is a sequence of parts, each of which can be recorded again when its
/// pointers move, also while a replay still runs.
///
/// Functions return null, or one word for what failed: "capture",
/// "instantiate", "update", "launch". Then `lastError` has the details. A graph
/// that was not recorded is of no use; one that was not updated has to be
/// updated in all parts before it is replayed.
class LaunchGraph {
public:
  /// Enqueues one part on a stream.
  using Launch = std::function<bool(uint32_t part, void *stream)>;
  /// For each part, those before it that it follows. Parts that are not ordered
  /// by this run at the same time where the device has room.
  using Order = std::vector<std::vector<uint32_t>>;

  LaunchGraph();
  /// Replays have ended.
  ~LaunchGraph();
  LaunchGraph(LaunchGraph &&) noexcept;
  LaunchGraph &operator=(LaunchGraph &&) noexcept;

  /// Whether this target has graphs.
  static bool isSupported();

  /// Records all parts on `stream`, which is idle.
  const char *record(const Order &predecessors, const Launch &launch,
                     void *stream);
  /// Records the parts that `moved` has again.
  const char *update(const std::vector<bool> &moved, const Launch &launch,
                     void *stream);
  /// Enqueues all parts as they are recorded now.
  const char *replay(void *stream);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace device

/// One kernel with its buffers.
class KernelInstance {
public:
  /// `sizes` are those of the bundle, and outlive the instance.
  explicit KernelInstance(const FactKernel &kernel, Table<int64_t> sizes = {});

  const FactKernel &kernel() const { return *theKernel; }

  /// Why this kernel cannot run here (another ABI, another target, another
  /// number of buffers), or "".
  std::string validate(uint32_t bufferCount) const {
    if (theKernel->abi != FACT_KERNEL_ABI)
      return "has kernel ABI " + std::to_string(theKernel->abi) +
             "; this runtime needs " + std::to_string(FACT_KERNEL_ABI);
    if (theKernel->buffer_count != bufferCount)
      return "takes " + std::to_string(theKernel->buffer_count) +
             " buffers; the bundle names " + std::to_string(bufferCount);
    if (std::string missing = findMissingFunction(); !missing.empty())
      return missing;
    if (theKernel->size_count != sizes.size)
      return "takes " + std::to_string(theKernel->size_count) +
             " sizes; the bundle names " + std::to_string(sizes.size);
    if (theKernel->size_count > 0 && !theKernel->measure)
      return "takes sizes, but has no `measure` function";
    for (uint32_t operand : packedOperands())
      if (operand >= bufferCount)
        return "packs operand " + std::to_string(operand) +
               ", which does not exist";
    if (theKernel->choice_bytes > 0 &&
        (!theKernel->choose || !theKernel->adopt))
      return "has a choice of " + std::to_string(theKernel->choice_bytes) +
             " bytes, but no `choose` or no `adopt` function";
    return "";
  }

  /// Passes the verified choice to a valid kernel. Returns why it cannot be
  /// used, or "".
  std::string adopt(const unsigned char *choice, uint64_t bytes) const {
    if (bytes == 0 && theKernel->choice_bytes > 0)
      return "has no verified choice; link it again without --no-check";
    if (bytes != theKernel->choice_bytes)
      return "was given a choice of " + std::to_string(bytes) +
             " bytes; expected " + std::to_string(theKernel->choice_bytes);
    const char *problem = bytes > 0 ? theKernel->adopt(choice) : nullptr;
    return problem ? std::string("cannot use its verified choice: ") + problem
                   : "";
  }

  /// Bytes that `bind` needs: on the host, for all threads.
  uint64_t workspaceBytes() const;
  /// Bytes that `pack` fills.
  uint64_t packedBytes() const { return memory().packed; }

  /// The operands that are packed together; the packed memory takes the place
  /// of the first. Empty if the kernel packs none.
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

  /// Says what the next launches work on. A device kernel remembers its last
  /// bindings: allocators hand out the same few addresses in turn, and encoding
  /// descriptors takes longer than a launch.
  bool bind(void *const *buffers, void *workspace);
  bool launch(void *stream);

private:
  /// The function that a kernel of this target must have and this one lacks, or
  /// "".
  std::string findMissingFunction() const;

  struct Memory {
    uint64_t workspace, packed;
  };
  Memory memory() const {
    Memory bytes = {theKernel->workspace_bytes, theKernel->packed_bytes};
    if (theKernel->abi == FACT_KERNEL_ABI && theKernel->measure &&
        theKernel->size_count == sizes.size)
      theKernel->measure(sizes.data, &bytes.workspace, &bytes.packed);
    return bytes;
  }

  const FactKernel *theKernel;
  [[maybe_unused]] Table<int64_t> sizes;

  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  struct Binding {
    std::vector<void *> buffers;
    void *workspace = nullptr;
    /// The launch parameters of a device kernel.
    std::unique_ptr<void, Free> state;
  };
  std::vector<Binding> bindings;
  /// The position of the current binding.
  [[maybe_unused]] size_t bound = 0;
  /// Time per tile, as measured by launches on the host; negative while
  /// unknown.
  [[maybe_unused]] double tileNanoseconds = -1;
};

} // namespace runtime
} // namespace fact

#endif // FACT_RUNTIME_DEVICE_H
