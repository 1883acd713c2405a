//===- runtime.cpp - CUDA's runtime on a CPU ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything is done when a call returns, unless it is captured into a graph.
//
//===----------------------------------------------------------------------===//

#include "emulation.h"
#include <chrono>
#include <cstdlib>
#include <cstring>

extern "C" {

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  *memory = nullptr;
  return posix_memalign(memory, 256, bytes) ? cudaErrorMemoryAllocation
                                            : cudaSuccess;
}
cudaError_t cudaFree(void *memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind) {
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t stream) {
  return emulation::enqueue(stream, cudaGraphNodeTypeMemcpy, [=] {
    std::memmove(to, from, bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes,
                            cudaStream_t stream) {
  return emulation::enqueue(stream, cudaGraphNodeTypeMemset, [=] {
    std::memset(to, byte, bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = *total = size_t(4) << 30;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "error"; }
const char *cudaGetErrorName(cudaError_t code) {
  switch (code) {
  case cudaErrorInvalidValue:
    return "cudaErrorInvalidValue";
  case cudaErrorInvalidConfiguration:
    return "cudaErrorInvalidConfiguration";
  case cudaErrorNotSupported:
    return "cudaErrorNotSupported";
  case cudaErrorMisalignedAddress:
    return "cudaErrorMisalignedAddress";
  default:
    return "cudaError";
  }
}

cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *address, int, int) {
  std::strcpy(address, "00000000:01:00.0");
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  std::memset(properties, 0, sizeof(*properties));
  std::strcpy(properties->name, "emulated GPU");
  properties->major = 8;
  properties->multiProcessorCount = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? 1 : 1 << 10;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}

using Clock = std::chrono::steady_clock;
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = reinterpret_cast<cudaEvent_t>(new Clock::time_point);
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Clock::time_point *>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  *reinterpret_cast<Clock::time_point *>(event) = Clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t first,
                                 cudaEvent_t last) {
  *milliseconds = std::chrono::duration<float, std::milli>(
                      *reinterpret_cast<Clock::time_point *>(last) -
                      *reinterpret_cast<Clock::time_point *>(first))
                      .count();
  return cudaSuccess;
}
}
