//===- HostDevice.cpp - Memory and kernels on the processor ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/Device.h"
#include "fact/Runtime/Program.h"
#include "fact/Runtime/ThreadPool.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fact {
namespace runtime {

static thread_local std::string failure;

namespace device {

int32_t type() { return kDLCPU; }
const char *name() { return "cpu"; }

/// The processor model from /proc/cpuinfo, whose key depends on the
/// architecture.
static std::string processorModel() {
  std::string model, part;
  if (FILE *file = std::fopen("/proc/cpuinfo", "r")) {
    char line[512];
    while (std::fgets(line, sizeof(line), file)) {
      std::string text(line);
      size_t colon = text.find(": ");
      if (colon == std::string::npos)
        continue;
      std::string value = text.substr(colon + 2, text.find('\n') - colon - 2);
      if (model.empty() && text.compare(0, 10, "model name") == 0)
        model = value;
      if (part.empty() && (text.compare(0, 8, "CPU part") == 0))
        part = value;
    }
    std::fclose(file);
  }
  if (!model.empty())
    return model;
  return part.empty() ? "unknown processor" : "Arm part " + part;
}

std::string fingerprint() {
#if defined(__x86_64__)
  std::string architecture = "x86_64";
#elif defined(__aarch64__)
  std::string architecture = "aarch64";
#else
  std::string architecture = "host";
#endif
  return architecture + ", " + processorModel() + ", " +
         std::to_string(threadCount()) + " threads";
}

int32_t currentOrdinal() { return 0; }

bool select(int32_t ordinal) {
  if (ordinal == 0)
    return true;
  failure = "the host has one device, number 0";
  return false;
}

uint64_t requiredAlignment(uint32_t elementBytes) {
  return bufferAlignment(/*onDevice=*/false, elementBytes);
}

void *allocate(uint64_t bytes) {
  void *memory = nullptr;
  if (posix_memalign(&memory, 256, bytes ? bytes : 1) != 0) {
    failure = "out of memory: " + std::to_string(bytes) + " bytes";
    return nullptr;
  }
  return memory;
}

void release(void *memory) { std::free(memory); }

bool copyToDevice(void *target, const void *source, uint64_t bytes) {
  if (bytes)
    std::memcpy(target, source, bytes);
  return true;
}

bool copyToHost(void *target, const void *source, uint64_t bytes) {
  return copyToDevice(target, source, bytes);
}

bool synchronize() { return true; }

bool fillBytes(void *target, int byte, uint64_t bytes, void *) {
  if (bytes)
    std::memset(target, byte, bytes);
  return true;
}

bool copyStrided(void *target, const StridedTensor &source, void *) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < source.rank; ++i)
    elements *= static_cast<uint64_t>(source.shape[i]);
  if (elements == 0)
    return true;
  uint64_t inner = source.rank ? source.shape[source.rank - 1] : 1;
  int64_t innerStride = source.rank ? source.strides[source.rank - 1] : 0;
  uint32_t size = source.elementBytes;
  parallelFor(static_cast<int64_t>(elements / inner), [&](int64_t row) {
    int64_t offset = 0;
    int64_t rest = row;
    for (uint32_t i = source.rank - (source.rank ? 1 : 0); i-- > 0;) {
      offset += (rest % source.shape[i]) * source.strides[i];
      rest /= source.shape[i];
    }
    const char *from = static_cast<const char *>(source.data) +
                       offset * static_cast<int64_t>(size);
    char *to = static_cast<char *>(target) + row * inner * size;
    if (innerStride == 1) {
      std::memcpy(to, from, inner * size);
      return;
    }
    for (uint64_t i = 0; i < inner; ++i)
      std::memcpy(to + i * size,
                  from + static_cast<int64_t>(i) * innerStride *
                             static_cast<int64_t>(size),
                  size);
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Checksums
//===----------------------------------------------------------------------===//

/// A bijection on 64 bits (the finalizer of SplitMix64).
static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

namespace {
/// One hash chain per word of a stripe, so that compilers vectorize them. A
/// step is a bijection of the word for a given chain and of the chain for a
/// given word, so a change of one word reaches the result. The rotation moves
/// high bits, which a product never carries down, to low positions.
struct Chains {
  static constexpr uint32_t count = 32;
  static constexpr uint64_t stripe = count * sizeof(uint32_t);

  void add(const char *data) {
    uint32_t words[count];
    std::memcpy(words, data, sizeof(words));
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t product = (chains[i] ^ words[i]) * 0x9e3779b1u;
      chains[i] = product << 13 | product >> 19;
    }
  }

  uint32_t chains[count] = {};
};
} // namespace

static uint64_t checksumOfPiece(const char *data, uint64_t bytes,
                                uint64_t seed) {
  Chains chains;
  uint64_t whole = bytes / Chains::stripe * Chains::stripe;
  for (uint64_t offset = 0; offset < whole; offset += Chains::stripe)
    chains.add(data + offset);
  char rest[Chains::stripe] = {};
  if (bytes > whole)
    std::memcpy(rest, data + whole, bytes - whole);
  chains.add(rest);
  uint64_t sum = mix(seed) ^ bytes;
  for (uint32_t i = 0; i < Chains::count; i += 2)
    sum = mix(sum ^ (uint64_t(chains.chains[i]) << 32 | chains.chains[i + 1]));
  return sum;
}

bool checksums(const std::vector<Region> &regions, void *, void *,
               std::vector<uint64_t> &sums) {
  constexpr uint64_t piece = 256 << 10;
  sums.clear();
  for (const Region &region : regions) {
    const char *data = static_cast<const char *>(region.data);
    std::atomic<uint64_t> sum{0};
    parallelFor(static_cast<int64_t>((region.bytes + piece - 1) / piece),
                [&](int64_t index) {
                  uint64_t begin = static_cast<uint64_t>(index) * piece;
                  uint64_t bytes = std::min(piece, region.bytes - begin);
                  sum += checksumOfPiece(data + begin, bytes, begin + 1);
                });
    sums.push_back(sum);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

bool isCapturing(void *) { return false; }
void *createEvent() { return &failure; }
void destroyEvent(void *) {}
bool recordEvent(void *, void *) { return true; }
bool waitForEvent(void *, void *) { return true; }
void *createStream() { return nullptr; }
void destroyStream(void *) {}

/// Calls run when they are made, so there is nothing to record.
struct LaunchGraph::Implementation {};
LaunchGraph::LaunchGraph() = default;
LaunchGraph::~LaunchGraph() = default;
LaunchGraph::LaunchGraph(LaunchGraph &&) noexcept = default;
LaunchGraph &LaunchGraph::operator=(LaunchGraph &&) noexcept = default;
bool LaunchGraph::isSupported() { return false; }
const char *LaunchGraph::record(const Order &, const Launch &, void *) {
  return "capture";
}
const char *LaunchGraph::update(const std::vector<bool> &, const Launch &,
                                void *) {
  return "update";
}
const char *LaunchGraph::replay(void *) { return "launch"; }

const char *lastError() { return failure.c_str(); }
void setLastError(std::string message) { failure = std::move(message); }

} // namespace device

KernelInstance::KernelInstance(const FactKernel &kernel, Table<int64_t> sizes)
    : theKernel(&kernel), sizes(sizes), bindings(1) {}

std::string KernelInstance::findMissingFunction() const {
  if (!theKernel->tile)
    return "has no `tile` function, so it is not a host kernel";
  if (theKernel->packed_operand >= 0 && !theKernel->pack)
    return "packs operand " + std::to_string(theKernel->packed_operand) +
           " but has no `pack` function";
  return "";
}

bool KernelInstance::pack(void *const *operands, void *packed, void *) {
  parallelFor(static_cast<int64_t>(theKernel->pack_tiles),
              [&](int64_t index) { theKernel->pack(index, operands, packed); });
  return true;
}

/// The distance in bytes between the workspaces of two threads.
static uint64_t workspaceStride(const FactKernel &kernel) {
  return (kernel.workspace_bytes + 255) / 256 * 256;
}

uint64_t KernelInstance::workspaceBytes() const {
  // One tile runs on the first thread.
  int threads = theKernel->tiles > 1 ? threadCount() : 1;
  return workspaceStride(*theKernel) * static_cast<uint64_t>(threads);
}

bool KernelInstance::bind(void *const *pointers, void *workspace) {
  Binding &binding = bindings[bound];
  binding.buffers.assign(pointers, pointers + theKernel->buffer_count);
  binding.workspace = workspace;
  return true;
}

bool KernelInstance::launch(void *) {
  void *const *pointers = bindings[bound].buffers.data();
  char *workspace = static_cast<char *>(bindings[bound].workspace);
  uint64_t stride = workspaceStride(*theKernel);
  CallCost cost{tileNanoseconds};
  parallelForThreads(
      static_cast<int64_t>(theKernel->tiles),
      [&](int64_t index, int thread) {
        theKernel->tile(index, pointers,
                        workspace + stride * static_cast<uint64_t>(thread));
      },
      &cost);
  tileNanoseconds = cost.nanoseconds;
  return true;
}

} // namespace runtime
} // namespace fact
