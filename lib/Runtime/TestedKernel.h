//===- TestedKernel.h - A kernel that is not trusted ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_TESTEDKERNEL_H
#define FACT_LIB_RUNTIME_TESTEDKERNEL_H

#include "WorkerJob.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <memory>
#include <string>
#include <vector>

namespace fact {
namespace runtime {

/// Fill bytes. `poison` is NaN as a float of any width, so a stray read poisons
/// the result. `otherPoison` is finite as a float of any width. An element that
/// is never written therefore differs between runs that start from either.
constexpr int poison = 0xff;
constexpr int otherPoison = 0x55;
constexpr int guardByte = 0xa5;
constexpr uint64_t guardBytes = 256 << 10;

/// Device memory that is freed with its owner.
class DeviceMemory {
public:
  explicit DeviceMemory(uint64_t bytes)
      : memory(static_cast<char *>(device::allocate(bytes))) {
    if (!memory)
      deviceFailed("worker_error");
  }
  ~DeviceMemory() { device::release(memory); }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  char *get() const { return memory; }

private:
  char *memory;
};

/// Device memory with guard bands around it.
class GuardedBuffer {
public:
  /// `place` moves the data by less than this.
  static constexpr uint64_t slack = 256;

  GuardedBuffer(uint64_t bytes, int guard)
      : bytes(bytes), guard(guard), memory(bytes + slack + 2 * guardBytes) {
    place(0);
  }

  /// Bytes that a buffer allocates.
  static uint64_t footprint(uint64_t bytes) {
    return bytes + slack + 2 * guardBytes;
  }

  char *data() const { return memory.get() + guardBytes + offset; }

  /// Moves the data to `newOffset` bytes beyond a multiple of 256; its content
  /// is lost.
  void place(uint64_t newOffset) {
    offset = newOffset;
    if (!device::fillBytes(memory.get(), guard, before(), nullptr) ||
        !device::fillBytes(data() + bytes, guard, after(), nullptr))
      deviceFailed("worker_error");
  }

  void fillAll(int byte) {
    if (!enqueueFill(byte, nullptr))
      deviceFailed("crash");
  }
  bool enqueueFill(int byte, void *stream) {
    return device::fillBytes(data(), byte, bytes, stream);
  }

  bool intact() const {
    bool beforeIsGood = false, afterIsGood = false;
    if (!measure::allBytesAre(memory.get(), guard, before(), beforeIsGood) ||
        !measure::allBytesAre(data() + bytes, guard, after(), afterIsGood))
      deviceFailed("crash");
    return beforeIsGood && afterIsGood;
  }

private:
  uint64_t before() const { return guardBytes + offset; }
  uint64_t after() const { return guardBytes + slack - offset; }

  uint64_t bytes;
  int guard;
  uint64_t offset = 0;
  DeviceMemory memory;
};

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

/// The kernel's choice on this device, of `choice_bytes`.
inline std::vector<unsigned char> choose(const FactKernel &kernel) {
  std::vector<unsigned char> choice(kernel.choice_bytes);
  if (const char *problem = kernel.choose(choice.data()))
    reject("link_error",
           std::string("the kernel cannot make its choice: ") + problem);
  return choice;
}

/// A kernel with guarded scratch memory. Failures are reported with `status`.
class TestedKernel {
public:
  TestedKernel(const FactKernel &kernel, Table<int64_t> sizes, const Job &job,
               size_t results, const char *status)
      : instance(kernel, sizes), status(status) {
    uint32_t count = static_cast<uint32_t>(job.operands.size() + results);
    std::string wrong = instance.validate(count);
    std::vector<uint32_t> packedOperands = instance.packedOperands();
    for (uint32_t operand : packedOperands)
      if (wrong.empty() && operand >= job.operands.size())
        wrong = "packs a result";
    if (!wrong.empty())
      reject(status, "the kernel " + wrong);
    if (kernel.choice_bytes > 0) {
      choice = job.choice.empty() ? choose(kernel) : job.choice;
      wrong = instance.adopt(choice.data(), choice.size());
    }
    if (!wrong.empty())
      reject("stale_choice", "the kernel " + wrong);
    workspace =
        std::make_unique<GuardedBuffer>(instance.workspaceBytes(), guardByte);
    if (packedOperands.empty())
      return;
    packed = std::make_unique<GuardedBuffer>(instance.packedBytes(), guardByte);
    for (uint32_t operand : packedOperands)
      packedIsFixed = packedIsFixed && job.operands[operand].fixed;
  }

  bool packs() const { return packed != nullptr; }

  /// The choice in use, if the kernel has one.
  const std::vector<unsigned char> &usedChoice() const { return choice; }

  void bind(const Buffers &operands, const Buffers &results) {
    pointers.clear();
    for (const auto &buffer : operands)
      pointers.push_back(buffer->data());
    for (const auto &buffer : results)
      pointers.push_back(buffer->data());
    packSources = pointers;
    if (packs())
      pointers[instance.kernel().packed_operand] = packed->data();
    if (!instance.bind(pointers.data(), workspace->data()))
      deviceFailed(status);
  }

  /// Runs once from scratch memory that holds garbage, as in a model.
  void runOnce() {
    workspace->fillAll(poison);
    if (packs()) {
      packed->fillAll(poison);
      pack(nullptr);
    }
    if (!instance.launch(nullptr) || !device::synchronize())
      deviceFailed(status);
  }

  void pack(void *stream) {
    if (!instance.pack(packSources.data(), packed->data(), stream))
      deviceFailed(status);
  }

  /// Called before timed launches.
  void prepareTimed() {
    workspace->fillAll(poison);
    packFixed(nullptr);
    if (!device::synchronize())
      deviceFailed(status);
  }

  /// Packs the operands that a model packs when its weights change.
  void packFixed(void *stream) {
    if (packs() && packedIsFixed)
      pack(stream);
  }

  bool launchTimed(void *stream) {
    if (packs() && !packedIsFixed)
      pack(stream);
    return instance.launch(stream);
  }

  const char *strayWrite() const {
    if (!workspace->intact())
      return "its workspace";
    if (packed && !packed->intact())
      return "its packed operand";
    return nullptr;
  }

private:
  KernelInstance instance;
  const char *status;
  std::vector<unsigned char> choice;
  std::unique_ptr<GuardedBuffer> workspace, packed;
  bool packedIsFixed = true;
  std::vector<void *> packSources, pointers;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_TESTEDKERNEL_H
