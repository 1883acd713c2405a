//===- CudaDevice.cu - Memory and kernels on a CUDA device ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaError.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Program.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fact {
namespace runtime {

static thread_local std::string failure;

bool succeeded(cudaError_t code, const char *what) {
  if (code == cudaSuccess)
    return true;
  failure = std::string(what) + ": " + cudaGetErrorString(code) + " (" +
            cudaGetErrorName(code) + ")";
  // Clears the error so that the next call does not report it; a sticky error
  // remains.
  cudaGetLastError();
  return false;
}

namespace device {

int32_t type() { return kDLCUDA; }
const char *name() { return "cuda"; }

std::string fingerprint() {
  int ordinal = currentOrdinal();
  cudaDeviceProp properties;
  if (!succeeded(cudaGetDeviceProperties(&properties, ordinal),
                 "cudaGetDeviceProperties"))
    return "";
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  return std::string(properties.name) + ", sm_" +
         std::to_string(properties.major) + std::to_string(properties.minor) +
         ", " + std::to_string(properties.multiProcessorCount) +
         " multiprocessors, driver " + std::to_string(driver) + ", runtime " +
         std::to_string(runtime);
}

int32_t currentOrdinal() {
  int ordinal = -1;
  return succeeded(cudaGetDevice(&ordinal), "cudaGetDevice") ? ordinal : -1;
}

bool select(int32_t ordinal) {
  return succeeded(cudaSetDevice(ordinal), "cudaSetDevice");
}

uint64_t requiredAlignment(uint32_t elementBytes) {
  return bufferAlignment(/*onDevice=*/true, elementBytes);
}

void *allocate(uint64_t bytes) {
  void *memory = nullptr;
  if (!succeeded(cudaMalloc(&memory, bytes ? bytes : 256), "cudaMalloc")) {
    failure += " for " + std::to_string(bytes) + " bytes";
    return nullptr;
  }
  return memory;
}

void release(void *memory) { cudaFree(memory); }

bool copyToDevice(void *target, const void *source, uint64_t bytes) {
  return succeeded(cudaMemcpy(target, source, bytes, cudaMemcpyHostToDevice),
                   "cudaMemcpy to the device");
}

bool copyToHost(void *target, const void *source, uint64_t bytes) {
  return succeeded(cudaMemcpy(target, source, bytes, cudaMemcpyDeviceToHost),
                   "cudaMemcpy to the host");
}

bool synchronize() {
  return succeeded(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

bool fillBytes(void *target, int byte, uint64_t bytes, void *stream) {
  if (bytes == 0)
    return true;
  return succeeded(
      cudaMemsetAsync(target, byte, bytes, static_cast<cudaStream_t>(stream)),
      "cudaMemsetAsync");
}

template <typename Element>
static __global__ void copyStridedKernel(Element *target, StridedTensor source,
                                         uint64_t elements) {
  const Element *data = static_cast<const Element *>(source.data);
  uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i =
           static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < elements; i += step) {
    uint64_t rest = i;
    int64_t offset = 0;
#pragma unroll
    for (int axis = maximumRank - 1; axis >= 0; --axis) {
      if (axis < static_cast<int>(source.rank)) {
        uint64_t extent = static_cast<uint64_t>(source.shape[axis]);
        offset += static_cast<int64_t>(rest % extent) * source.strides[axis];
        rest /= extent;
      }
    }
    target[i] = data[offset];
  }
}

bool copyStrided(void *target, const StridedTensor &source, void *stream) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < source.rank; ++i)
    elements *= static_cast<uint64_t>(source.shape[i]);
  if (elements == 0)
    return true;
  unsigned blocks =
      static_cast<unsigned>(elements / 256 < 4096 ? elements / 256 + 1 : 4096);
  cudaStream_t on = static_cast<cudaStream_t>(stream);
  switch (source.elementBytes) {
  case 1:
    copyStridedKernel<<<blocks, 256, 0, on>>>(static_cast<uint8_t *>(target),
                                              source, elements);
    break;
  case 2:
    copyStridedKernel<<<blocks, 256, 0, on>>>(static_cast<uint16_t *>(target),
                                              source, elements);
    break;
  case 4:
    copyStridedKernel<<<blocks, 256, 0, on>>>(static_cast<uint32_t *>(target),
                                              source, elements);
    break;
  default:
    copyStridedKernel<<<blocks, 256, 0, on>>>(static_cast<uint64_t *>(target),
                                              source, elements);
    break;
  }
  return succeeded(cudaGetLastError(), "strided copy");
}

//===----------------------------------------------------------------------===//
// Checksums
//===----------------------------------------------------------------------===//

/// A bijection on 64 bits (the finalizer of SplitMix64).
static __device__ unsigned long long mix(unsigned long long value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

/// Adds a hash of each 8-byte word and its position to `sum`, in any order.
static __global__ void checksumKernel(const unsigned char *data,
                                      unsigned long long bytes,
                                      unsigned long long *sum) {
  unsigned long long words = bytes / 8, part = 0;
  unsigned long long first =
      static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned long long step =
      static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long *word =
      reinterpret_cast<const unsigned long long *>(data);
  for (unsigned long long i = first; i < words; i += step)
    part += mix(word[i] ^ mix(i + 1));
  if (first == 0) {
    unsigned long long last = 0;
    for (unsigned long long i = words * 8; i < bytes; ++i)
      last = last << 8 | data[i];
    part += mix(last ^ mix(words + 1));
  }
  for (int distance = 16; distance > 0; distance /= 2)
    part += __shfl_xor_sync(0xffffffffu, part, distance);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, part);
}

bool checksums(const std::vector<Region> &regions, void *scratch, void *stream,
               std::vector<uint64_t> &sums) {
  sums.assign(regions.size(), 0);
  if (regions.empty())
    return true;
  cudaStream_t on = static_cast<cudaStream_t>(stream);
  uint64_t bytes = regions.size() * sizeof(uint64_t);
  if (!fillBytes(scratch, 0, bytes, stream))
    return false;
  for (size_t i = 0; i < regions.size(); ++i) {
    uint64_t wanted = regions[i].bytes / 8 / 256 + 1;
    unsigned blocks = static_cast<unsigned>(wanted < 1024 ? wanted : 1024);
    checksumKernel<<<blocks, 256, 0, on>>>(
        static_cast<const unsigned char *>(regions[i].data), regions[i].bytes,
        static_cast<unsigned long long *>(scratch) + i);
  }
  return succeeded(cudaGetLastError(), "checksum") &&
         succeeded(cudaMemcpyAsync(sums.data(), scratch, bytes,
                                   cudaMemcpyDeviceToHost, on),
                   "cudaMemcpyAsync of checksums") &&
         succeeded(cudaStreamSynchronize(on), "cudaStreamSynchronize");
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

bool isCapturing(void *stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaError_t code =
      cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  if (code == cudaErrorStreamCaptureImplicit) {
    // The query fails on the default stream while another one is captured.
    cudaGetLastError();
    return true;
  }
  return code == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

void *createEvent() {
  cudaEvent_t event = nullptr;
  return succeeded(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                   "cudaEventCreate")
             ? event
             : nullptr;
}

void destroyEvent(void *event) {
  cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

bool recordEvent(void *event, void *stream) {
  return succeeded(cudaEventRecord(static_cast<cudaEvent_t>(event),
                                   static_cast<cudaStream_t>(stream)),
                   "cudaEventRecord");
}

bool waitForEvent(void *event, void *stream) {
  return succeeded(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream),
                                       static_cast<cudaEvent_t>(event), 0),
                   "cudaStreamWaitEvent");
}

void *createStream() {
  cudaStream_t stream = nullptr;
  return succeeded(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                   "cudaStreamCreate")
             ? stream
             : nullptr;
}

void destroyStream(void *stream) {
  cudaStreamDestroy(static_cast<cudaStream_t>(stream));
}

const char *lastError() { return failure.c_str(); }
void setLastError(std::string message) { failure = std::move(message); }

} // namespace device

KernelInstance::KernelInstance(const FactKernel &kernel, Table<int64_t> sizes)
    : theKernel(&kernel), sizes(sizes) {}

std::string KernelInstance::findMissingFunction() const {
  if (!theKernel->bind || !theKernel->launch)
    return "has no `bind` or no `launch` function, so it is not a device "
           "kernel";
  if (theKernel->packed_operand >= 0 && !theKernel->pack_on_device)
    return "packs operand " + std::to_string(theKernel->packed_operand) +
           " but has no `pack_on_device` function";
  return "";
}

uint64_t KernelInstance::workspaceBytes() const { return memory().workspace; }

bool KernelInstance::pack(void *const *operands, void *packed, void *stream) {
  return succeeded(static_cast<cudaError_t>(theKernel->pack_on_device(
                       sizes.data, operands, packed, stream)),
                   "pack");
}

/// Enough for two sets of inputs in turn with three sets of outputs.
static constexpr size_t maximumBindings = 8;

bool KernelInstance::bind(void *const *pointers, void *workspace) {
  size_t count = theKernel->buffer_count;
  for (size_t i = 0; i < bindings.size(); ++i)
    if (bindings[i].workspace == workspace &&
        std::equal(pointers, pointers + count, bindings[i].buffers.begin())) {
      bound = i;
      return true;
    }
  uint64_t bytes = theKernel->state_bytes ? theKernel->state_bytes : 1;
  if (bindings.size() < maximumBindings) {
    Binding next;
    void *state = nullptr;
    if (posix_memalign(&state, 64, bytes) != 0) {
      failure = "out of memory for " + std::to_string(bytes) +
                " bytes of launch parameters";
      return false;
    }
    next.state.reset(state);
    next.buffers.resize(count);
    bindings.push_back(std::move(next));
  } else {
    // The oldest one's memory is used again.
    std::rotate(bindings.begin(), bindings.begin() + 1, bindings.end());
  }
  Binding &next = bindings.back();
  std::memset(next.state.get(), 0, bytes);
  std::copy(pointers, pointers + count, next.buffers.begin());
  next.workspace = workspace;
  int code = theKernel->bind(next.state.get(), sizes.data, next.buffers.data(),
                             workspace);
  if (!succeeded(static_cast<cudaError_t>(code), "bind")) {
    bindings.pop_back();
    return false;
  }
  bound = bindings.size() - 1;
  return true;
}

bool KernelInstance::launch(void *stream) {
  return succeeded(static_cast<cudaError_t>(
                       theKernel->launch(bindings[bound].state.get(), stream)),
                   "launch");
}

} // namespace runtime
} // namespace fact
