//===- TestedKernel.h - A kernel that is not trusted ------------*- C++ -*-===//

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

/// As a float of any width this is NaN: a result that keeps it was not
/// written, and a stray read of it poisons what is computed from it.
constexpr int poison = 0xff;
constexpr int guardByte = 0xa5;
constexpr uint64_t guardBytes = 256 << 10;

/// Device memory with guard bands around it.
class GuardedBuffer {
public:
  GuardedBuffer(uint64_t bytes, int guard) : bytes(bytes), guard(guard) {
    memory = static_cast<char *>(device::allocate(bytes + 2 * guardBytes));
    if (!memory || !device::fillBytes(memory, guard, guardBytes, nullptr) ||
        !device::fillBytes(data() + bytes, guard, guardBytes, nullptr))
      deviceFailed("worker_error");
  }
  ~GuardedBuffer() { device::release(memory); }
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;

  char *data() const { return memory + guardBytes; }

  void fillAll(int byte) {
    if (!device::fillBytes(data(), byte, bytes, nullptr))
      deviceFailed("crash");
  }

  bool intact() const {
    bool before = false, after = false;
    if (!measure::allBytesAre(memory, guard, guardBytes, before) ||
        !measure::allBytesAre(data() + bytes, guard, guardBytes, after))
      deviceFailed("crash");
    return before && after;
  }

private:
  uint64_t bytes;
  int guard;
  char *memory;
};

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

/// A kernel with its own scratch memory, all of it guarded. What goes wrong is
/// reported as `status`.
class TestedKernel {
public:
  TestedKernel(const FactKernel &kernel, const Job &job, const char *status)
      : instance(kernel), status(status) {
    uint32_t count =
        static_cast<uint32_t>(job.operands.size() + job.results.size());
    std::string wrong = instance.validate(count);
    std::vector<uint32_t> packedOperands = instance.packedOperands();
    for (uint32_t operand : packedOperands)
      if (wrong.empty() && operand >= job.operands.size())
        wrong = "packs a result";
    if (!wrong.empty())
      reject(status, "the kernel " + wrong);
    workspace =
        std::make_unique<GuardedBuffer>(instance.workspaceBytes(), guardByte);
    if (packedOperands.empty())
      return;
    packed = std::make_unique<GuardedBuffer>(kernel.packed_bytes, guardByte);
    for (uint32_t operand : packedOperands)
      packedIsFixed = packedIsFixed && job.operands[operand].fixed;
  }

  bool packs() const { return packed != nullptr; }

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

  /// One run from scratch memory that holds garbage, as in a model.
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
  std::unique_ptr<GuardedBuffer> workspace, packed;
  bool packedIsFixed = true;
  std::vector<void *> packSources, pointers;
};

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_TESTEDKERNEL_H
