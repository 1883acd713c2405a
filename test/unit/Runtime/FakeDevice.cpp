//===- FakeDevice.cpp - A device with streams and graphs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeDevice.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

using fake::Work;

static thread_local int64_t pauses = 0;
thread_local int64_t fake::allocations = 0;

#ifdef FACT_TEST_SANITIZE
// Operators are the sanitizer's, which calls this.
extern "C" void __sanitizer_malloc_hook(const volatile void *, std::size_t) {
  fake::allocations += pauses == 0;
}
#else
void *operator new(std::size_t bytes) {
  fake::allocations += pauses == 0;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace {

/// Does not count allocations.
struct Pause {
  Pause() { ++pauses; }
  ~Pause() { --pauses; }
};

struct Stream {
  bool captured = false;
  Work graph;
};

/// One queue for all streams: the order of calls is an order that a GPU may
/// choose.
std::mutex changing;
Work queue;

bool isCaptured(void *stream) {
  return stream && static_cast<Stream *>(stream)->captured;
}

void enqueueOne(void *stream, std::function<void()> work) {
  std::lock_guard<std::mutex> lock(changing);
  (isCaptured(stream) ? static_cast<Stream *>(stream)->graph : queue)
      .push_back(std::move(work));
}

thread_local std::string failure;

} // namespace

std::string fake::failing;
std::atomic<int64_t> fake::binds{0};

void *fake::createStream() { return new Stream; }

void fake::beginCapture(void *stream) {
  static_cast<Stream *>(stream)->captured = true;
}

Work fake::endCapture(void *stream) {
  static_cast<Stream *>(stream)->captured = false;
  return std::exchange(static_cast<Stream *>(stream)->graph, {});
}

void fake::enqueue(const Work &work) {
  std::lock_guard<std::mutex> lock(changing);
  queue.insert(queue.end(), work.begin(), work.end());
}

void fake::synchronize() {
  std::lock_guard<std::mutex> lock(changing);
  for (const std::function<void()> &work : queue)
    work();
  queue.clear();
}

namespace fact {
namespace runtime {
namespace device {

int32_t type() { return kDLCUDA; }
const char *name() { return "cuda"; }
std::string fingerprint() { return "fake"; }
int32_t currentOrdinal() { return 0; }
bool select(int32_t ordinal) { return ordinal == 0; }
uint64_t requiredAlignment(uint32_t elementBytes) { return elementBytes; }
void *allocate(uint64_t bytes) { return std::calloc(bytes ? bytes : 1, 1); }
void release(void *memory) { std::free(memory); }
bool copyToDevice(void *target, const void *source, uint64_t bytes) {
  std::memcpy(target, source, bytes);
  return true;
}
bool copyToHost(void *target, const void *source, uint64_t bytes) {
  return copyToDevice(target, source, bytes);
}
bool synchronize() {
  Pause pause;
  fake::synchronize();
  return true;
}
bool fillBytes(void *target, int byte, uint64_t bytes, void *stream) {
  enqueueOne(stream, [=] { std::memset(target, byte, bytes); });
  return true;
}
bool copyStrided(void *target, const StridedTensor &source, void *stream) {
  Pause pause;
  // Of rank 1.
  enqueueOne(stream, [=] {
    for (int64_t i = 0; i < source.shape[0]; ++i)
      static_cast<float *>(target)[i] =
          static_cast<const float *>(source.data)[i * source.strides[0]];
  });
  return true;
}
bool checksums(const std::vector<Region> &regions, void *, void *,
               std::vector<uint64_t> &sums) {
  fake::synchronize();
  sums.clear();
  for (const Region &region : regions) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < region.bytes; ++i)
      sum = sum * 31 + static_cast<const unsigned char *>(region.data)[i];
    sums.push_back(sum);
  }
  return true;
}
bool isCapturing(void *stream) { return isCaptured(stream); }
void *createEvent() { return &failure; }
void destroyEvent(void *) {}
bool recordEvent(void *, void *) { return true; }
bool waitForEvent(void *, void *) { return true; }
void *createStream() { return fake::createStream(); }
void destroyStream(void *stream) { delete static_cast<Stream *>(stream); }
const char *lastError() { return failure.c_str(); }
void setLastError(std::string message) { failure = std::move(message); }

/// The work of each part.
struct LaunchGraph::Implementation {
  std::vector<Work> parts;
  std::vector<uint32_t> order;
};

/// Of all orders that are allowed, one that is far from the program's: of the
/// parts that may be next, the last one.
static std::vector<uint32_t>
latestFirst(const LaunchGraph::Order &predecessors) {
  std::vector<uint32_t> order;
  std::vector<bool> done(predecessors.size());
  auto mayBeNext = [&](uint32_t part) {
    return !done[part] &&
           std::all_of(predecessors[part].begin(), predecessors[part].end(),
                       [&](uint32_t before) { return done[before]; });
  };
  while (order.size() < predecessors.size()) {
    uint32_t part = static_cast<uint32_t>(predecessors.size()) - 1;
    while (!mayBeNext(part))
      --part;
    order.push_back(part);
    done[part] = true;
  }
  return order;
}

LaunchGraph::LaunchGraph() = default;
LaunchGraph::~LaunchGraph() = default;
LaunchGraph::LaunchGraph(LaunchGraph &&) noexcept = default;
LaunchGraph &LaunchGraph::operator=(LaunchGraph &&) noexcept = default;
bool LaunchGraph::isSupported() { return true; }

static const char *failingAs(const char *word) {
  if (fake::failing != word)
    return nullptr;
  failure = std::string("the fake fails to ") + word;
  return word;
}

const char *LaunchGraph::record(const Order &predecessors, const Launch &launch,
                                void *stream) {
  implementation = std::make_unique<Implementation>();
  implementation->parts.resize(predecessors.size());
  implementation->order = latestFirst(predecessors);
  for (const char *word : {"capture", "instantiate"})
    if (failingAs(word))
      return word;
  return update(std::vector<bool>(predecessors.size(), true), launch, stream);
}
const char *LaunchGraph::update(const std::vector<bool> &moved,
                                const Launch &launch, void *stream) {
  for (uint32_t part = 0; part < moved.size(); ++part) {
    if (!moved[part])
      continue;
    fake::beginCapture(stream);
    bool good = launch(part, stream);
    implementation->parts[part] = fake::endCapture(stream);
    if (!good)
      return "update";
  }
  return failingAs("update");
}
const char *LaunchGraph::replay(void *stream) {
  Pause pause;
  if (isCaptured(stream) || failingAs("launch"))
    return "launch";
  for (uint32_t part : implementation->order)
    fake::enqueue(implementation->parts[part]);
  return nullptr;
}

} // namespace device

KernelInstance::KernelInstance(const FactKernel &kernel, Table<int64_t> sizes)
    : theKernel(&kernel), sizes(sizes), bindings(1) {}
std::string KernelInstance::findMissingFunction() const { return ""; }
bool KernelInstance::pack(void *const *, void *, void *) { return true; }
uint64_t KernelInstance::workspaceBytes() const { return 0; }
bool KernelInstance::bind(void *const *pointers, void *workspace) {
  ++fake::binds;
  bindings[0].buffers.assign(pointers, pointers + theKernel->buffer_count);
  bindings[0].workspace = workspace;
  return true;
}
bool KernelInstance::launch(void *stream) {
  Pause pause;
  enqueueOne(stream, [kernel = theKernel, buffers = bindings[0].buffers] {
    kernel->tile(0, buffers.data(), nullptr);
  });
  return true;
}

} // namespace runtime
} // namespace fact
