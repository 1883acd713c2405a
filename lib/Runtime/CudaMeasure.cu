//===- CudaMeasure.cu - Fill, compare and time on a CUDA device -----------===//

#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <cstring>
#include <cuda_runtime.h>

namespace fact {
namespace runtime {
namespace measure {

static bool succeeded(cudaError_t code, const char *what) {
  if (code == cudaSuccess)
    return true;
  device::setLastError(std::string(what) + ": " + cudaGetErrorString(code) +
                       " (" + cudaGetErrorName(code) + ")");
  return false;
}

constexpr unsigned threads = 256;

static unsigned blocksFor(uint64_t work) {
  return static_cast<unsigned>(
      std::min<uint64_t>(2048, (work + threads - 1) / threads));
}

__device__ inline uint64_t firstIndex() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline uint64_t indexStep() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/// Launched kernels report through this struct in device memory.
struct Totals {
  double squares;
  double errorSquares;
  double referenceSquares;
  unsigned long long finite;
  unsigned long long referenceNotFinite;
  unsigned long long notFinite;
  unsigned long long beyond;
  unsigned long long firstBad;
  /// Bits of a non-negative double, which order like integers.
  unsigned long long worstElement;
  unsigned long long checksum;
  unsigned long long different;
};

static Totals *totalsOnDevice() {
  static Totals *totals =
      static_cast<Totals *>(device::allocate(sizeof(Totals)));
  return totals;
}

static bool clearTotals(Totals *totals) {
  Totals zero = {};
  zero.firstBad = ~0ull;
  return totals && device::copyToDevice(totals, &zero, sizeof(zero));
}

static bool readTotals(Totals &host, const char *what) {
  return succeeded(cudaGetLastError(), what) &&
         device::copyToHost(&host, totalsOnDevice(), sizeof(host));
}

template <typename T, typename Combine>
__device__ T reduceWarp(T value, Combine combine) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = combine(value, __shfl_down_sync(0xffffffffu, value, offset));
  return value;
}

struct Add {
  template <typename T> __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

__global__ void fillKernel(void *data, ElementType type, uint64_t elements,
                           Fill how, uint64_t seed) {
  for (uint64_t i = firstIndex(); i < elements; i += indexStep())
    storeElement(data, type, i, detail::randomElement(type, how, seed, i));
}

bool fill(void *data, ElementType type, uint64_t elements, const Fill &how,
          uint64_t seed) {
  if (elements == 0)
    return true;
  fillKernel<<<blocksFor(elements), threads>>>(data, type, elements, how, seed);
  return succeeded(cudaGetLastError(), "fill") && device::synchronize();
}

__global__ void squaresKernel(const void *reference, ElementType type,
                              uint64_t elements, Totals *totals) {
  double squares = 0;
  unsigned long long finite = 0;
  for (uint64_t i = firstIndex(); i < elements; i += indexStep()) {
    double value = loadElement(reference, type, i);
    if (isFinite(value)) {
      squares += value * value;
      ++finite;
    }
  }
  squares = reduceWarp(squares, Add());
  finite = reduceWarp(finite, Add());
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&totals->squares, squares);
    atomicAdd(&totals->finite, finite);
  }
}

__global__ void compareKernel(const void *result, ElementType resultType,
                              const void *reference, ElementType referenceType,
                              uint64_t elements, double tolerance,
                              Totals *totals) {
  double rms = totals->finite
                   ? sqrt(totals->squares / static_cast<double>(totals->finite))
                   : 0.0;
  detail::PartialComparison partial;
  for (uint64_t i = firstIndex(); i < elements; i += indexStep())
    detail::compareElement(result, resultType, reference, referenceType, i,
                           tolerance, rms, partial);
  double error = reduceWarp(partial.errorSquares, Add());
  double squares = reduceWarp(partial.referenceSquares, Add());
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&totals->errorSquares, error);
    atomicAdd(&totals->referenceSquares, squares);
  }
  // Rare, or one per thread: plain atomics.
  if (partial.referenceNotFinite)
    atomicAdd(&totals->referenceNotFinite,
              static_cast<unsigned long long>(partial.referenceNotFinite));
  if (partial.notFinite)
    atomicAdd(&totals->notFinite,
              static_cast<unsigned long long>(partial.notFinite));
  if (partial.beyond)
    atomicAdd(&totals->beyond,
              static_cast<unsigned long long>(partial.beyond));
  if (partial.firstBad != ~0ull)
    atomicMin(&totals->firstBad,
              static_cast<unsigned long long>(partial.firstBad));
  if (partial.worstElement > 0)
    atomicMax(&totals->worstElement,
              static_cast<unsigned long long>(
                  __double_as_longlong(partial.worstElement)));
}

bool compare(const void *result, ElementType resultType, const void *reference,
             ElementType referenceType, uint64_t elements,
             const Tolerance &tolerance, Comparison &comparison) {
  comparison = Comparison();
  comparison.elements = elements;
  if (elements == 0)
    return true;
  Totals *totals = totalsOnDevice();
  if (!clearTotals(totals))
    return false;
  squaresKernel<<<blocksFor(elements), threads>>>(reference, referenceType,
                                                  elements, totals);
  compareKernel<<<blocksFor(elements), threads>>>(
      result, resultType, reference, referenceType, elements, tolerance.element,
      totals);
  Totals host;
  if (!readTotals(host, "compare"))
    return false;
  comparison.referenceNotFinite = host.referenceNotFinite;
  comparison.notFinite = host.notFinite;
  comparison.beyond = host.beyond;
  comparison.firstBad =
      host.firstBad == ~0ull ? -1 : static_cast<int64_t>(host.firstBad);
  comparison.errorSquares = host.errorSquares;
  comparison.referenceSquares = host.referenceSquares;
  memcpy(&comparison.worstElement, &host.worstElement, sizeof(double));
  return true;
}

__global__ void differentKernel(const unsigned char *data, unsigned char byte,
                                uint64_t bytes, Totals *totals) {
  for (uint64_t i = firstIndex(); i < bytes; i += indexStep())
    if (data[i] != byte)
      totals->different = 1;
}

bool allBytesAre(const void *data, int byte, uint64_t bytes, bool &same) {
  same = true;
  if (bytes == 0)
    return true;
  Totals *totals = totalsOnDevice();
  if (!clearTotals(totals))
    return false;
  differentKernel<<<blocksFor(bytes), threads>>>(
      static_cast<const unsigned char *>(data),
      static_cast<unsigned char>(byte), bytes, totals);
  Totals host;
  if (!readTotals(host, "guard check"))
    return false;
  same = host.different == 0;
  return true;
}

__global__ void checksumKernel(const unsigned char *data, uint64_t bytes,
                               Totals *totals) {
  unsigned long long sum = 0;
  for (uint64_t i = firstIndex(); i < bytes; i += indexStep())
    sum += (i + 1) * 0x9e3779b97f4a7c15ull * (data[i] + 1ull);
  sum = reduceWarp(sum, Add());
  if (threadIdx.x % 32 == 0)
    atomicAdd(&totals->checksum, sum);
}

bool checksum(const void *data, uint64_t bytes, uint64_t &sum) {
  sum = 0;
  if (bytes == 0)
    return true;
  Totals *totals = totalsOnDevice();
  if (!clearTotals(totals))
    return false;
  checksumKernel<<<blocksFor(bytes), threads>>>(
      static_cast<const unsigned char *>(data), bytes, totals);
  Totals host;
  if (!readTotals(host, "checksum"))
    return false;
  sum = host.checksum;
  return true;
}

/// Reads, so that the cache is left with clean lines: dirty ones would be
/// written back on the measured kernel's time.
__global__ void readKernel(const uint4 *data, uint64_t count,
                           unsigned *neverWritten) {
  unsigned sum = 0;
  for (uint64_t i = firstIndex(); i < count; i += indexStep())
    sum ^= data[i].x ^ data[i].w;
  if (sum == 0x5eed5eedu)
    *neverWritten = sum;
}

bool time(int runs, const std::function<bool(void *)> &launch,
          std::vector<double> &microseconds) {
  static uint64_t bytes = 0;
  static uint4 *other = nullptr;
  if (!other) {
    int ordinal = 0;
    int cache = 0;
    if (!succeeded(cudaGetDevice(&ordinal), "cudaGetDevice") ||
        !succeeded(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize,
                                          ordinal),
                   "L2 cache size"))
      return false;
    bytes = std::max<uint64_t>(static_cast<uint64_t>(cache) * 3, 64ull << 20);
    bytes = bytes / sizeof(uint4) * sizeof(uint4);
    other = static_cast<uint4 *>(device::allocate(bytes));
    if (!other || !device::fillBytes(other, 0, bytes, nullptr))
      return false;
  }
  cudaStream_t stream;
  if (!succeeded(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                 "cudaStreamCreate") ||
      !device::synchronize())
    return false;
  std::vector<cudaEvent_t> events(2 * static_cast<size_t>(runs));
  bool good = true;
  for (cudaEvent_t &event : events)
    good = good && succeeded(cudaEventCreate(&event), "cudaEventCreate");
  // Everything is enqueued ahead: the flush keeps the device busy while the
  // host enqueues the launch, so the host's latency is not measured.
  for (int run = 0; good && run < runs; ++run) {
    readKernel<<<1024, threads, 0, stream>>>(
        other, bytes / sizeof(uint4), reinterpret_cast<unsigned *>(other));
    good = succeeded(cudaEventRecord(events[2 * run], stream), "event") &&
           launch(stream) &&
           succeeded(cudaEventRecord(events[2 * run + 1], stream), "event");
  }
  good = succeeded(cudaStreamSynchronize(stream), "timed runs") && good;
  for (int run = 0; good && run < runs; ++run) {
    float milliseconds = 0;
    good = succeeded(cudaEventElapsedTime(&milliseconds, events[2 * run],
                                          events[2 * run + 1]),
                     "cudaEventElapsedTime");
    microseconds.push_back(1000.0 * milliseconds);
  }
  for (cudaEvent_t &event : events)
    cudaEventDestroy(event);
  cudaStreamDestroy(stream);
  return good;
}

} // namespace measure
} // namespace runtime
} // namespace fact
