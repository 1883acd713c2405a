//===- CudaDevice.cu - Memory and kernels on a CUDA device ----------------===//

#include "fact/Runtime/Device.h"
#include "fact/Runtime/dlpack/dlpack.h"
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

namespace fact {
namespace runtime {

static thread_local std::string failure;

static bool succeeded(cudaError_t code, const char *what) {
  if (code == cudaSuccess)
    return true;
  failure = std::string(what) + ": " + cudaGetErrorString(code) + " (" +
            cudaGetErrorName(code) + ")";
  // A sticky error stays; any other must not be blamed on the next call.
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

uint64_t requiredAlignment(uint32_t) { return 16; }

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
  return succeeded(cudaMemsetAsync(target, byte, bytes,
                                   static_cast<cudaStream_t>(stream)),
                   "cudaMemsetAsync");
}

template <typename Element>
static __global__ void copyStridedKernel(Element *target, StridedTensor source,
                                         uint64_t elements) {
  const Element *data = static_cast<const Element *>(source.data);
  uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x +
                    threadIdx.x;
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

const char *lastError() { return failure.c_str(); }
void setLastError(std::string message) { failure = std::move(message); }

} // namespace device

KernelInstance::KernelInstance(const FactKernel &kernel) : theKernel(&kernel) {}

KernelInstance::~KernelInstance() { std::free(state); }

KernelInstance::KernelInstance(KernelInstance &&other) noexcept
    : theKernel(other.theKernel), state(other.state),
      boundWorkspace(other.boundWorkspace), bound(other.bound),
      buffers(std::move(other.buffers)) {
  other.state = nullptr;
  other.bound = false;
}

std::string KernelInstance::validate(uint32_t bufferCount) const {
  if (theKernel->abi != FACT_KERNEL_ABI)
    return "was made for kernel ABI " + std::to_string(theKernel->abi) +
           "; this runtime speaks " + std::to_string(FACT_KERNEL_ABI);
  if (theKernel->buffer_count != bufferCount)
    return "takes " + std::to_string(theKernel->buffer_count) +
           " buffers; the bundle names " + std::to_string(bufferCount);
  if (!theKernel->bind || !theKernel->launch)
    return "has no `bind` or no `launch` function, so it is not a device "
           "kernel";
  if (theKernel->packed_operand >= 0 && !theKernel->pack_on_device)
    return "packs operand " + std::to_string(theKernel->packed_operand) +
           " and has no `pack_on_device` function";
  for (uint32_t operand : packedOperands())
    if (operand >= bufferCount)
      return "packs operand " + std::to_string(operand) +
             ", which is not there";
  return "";
}

uint64_t KernelInstance::workspaceBytes() const {
  return theKernel->workspace_bytes;
}

bool KernelInstance::pack(void *const *operands, void *packed, void *stream) {
  return succeeded(static_cast<cudaError_t>(
                       theKernel->pack_on_device(operands, packed, stream)),
                   "pack");
}

bool KernelInstance::bind(void *const *pointers, void *workspace) {
  size_t count = theKernel->buffer_count;
  if (bound && workspace == boundWorkspace &&
      std::memcmp(pointers, buffers.data(), count * sizeof(void *)) == 0)
    return true;
  bound = false;
  if (!state) {
    uint64_t bytes = theKernel->state_bytes ? theKernel->state_bytes : 1;
    if (posix_memalign(&state, 64, bytes) != 0) {
      state = nullptr;
      failure = "out of memory for " + std::to_string(bytes) +
                " bytes of launch parameters";
      return false;
    }
    std::memset(state, 0, bytes);
  }
  buffers.assign(pointers, pointers + count);
  boundWorkspace = workspace;
  int code = theKernel->bind(state, buffers.data(), workspace);
  bound = succeeded(static_cast<cudaError_t>(code), "bind");
  return bound;
}

bool KernelInstance::launch(void *stream) {
  return succeeded(static_cast<cudaError_t>(theKernel->launch(state, stream)),
                   "launch");
}

} // namespace runtime
} // namespace fact
