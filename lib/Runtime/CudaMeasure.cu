//===- CudaMeasure.cu - Fill, compare and time on a CUDA device -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaError.h"
#include "fact/Runtime/Device.h"
#include "fact/Runtime/Measure.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>

namespace fact {
namespace runtime {
namespace measure {

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

/// The kernels below report through this struct in device memory.
struct Totals {
  double errorSquares;
  double referenceSquares;
  unsigned long long undecided;
  unsigned long long referenceNotFinite;
  unsigned long long otherClass;
  unsigned long long beyond;
  unsigned long long firstBad;
  /// Bits of a non-negative double, which compare like integers.
  unsigned long long worstElement;
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

/// One block per row: computes its rms, or the least scale.
__global__ void scalesKernel(const void *reference, ElementType type,
                             const float *doubt, uint64_t elements,
                             uint64_t row, double leastScale, double *scales) {
  __shared__ double sums[threads / 32];
  __shared__ unsigned long long counts[threads / 32];
  uint64_t rows = (elements + row - 1) / row;
  for (uint64_t at = blockIdx.x; at < rows; at += gridDim.x) {
    double squares = 0;
    unsigned long long finite = 0;
    uint64_t end = (at + 1) * row < elements ? (at + 1) * row : elements;
    for (uint64_t i = at * row + threadIdx.x; i < end; i += threads) {
      double value = loadElement(reference, type, i);
      if (isFinite(value) && !isInfinite(detail::doubtAt(doubt, i))) {
        squares += value * value;
        ++finite;
      }
    }
    squares = reduceWarp(squares, Add());
    finite = reduceWarp(finite, Add());
    if (threadIdx.x % 32 == 0) {
      sums[threadIdx.x / 32] = squares;
      counts[threadIdx.x / 32] = finite;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned i = 1; i < threads / 32; ++i) {
        squares += sums[i];
        finite += counts[i];
      }
      double rms = finite ? sqrt(squares / static_cast<double>(finite)) : 0.0;
      scales[at] = rms > leastScale ? rms : leastScale;
    }
    __syncthreads();
  }
}

__global__ void compareKernel(const void *result, ElementType resultType,
                              const void *reference, ElementType referenceType,
                              const float *doubt, uint64_t elements,
                              uint64_t row, Tolerance tolerance,
                              const double *scales, Totals *totals) {
  detail::PartialComparison partial;
  for (uint64_t i = firstIndex(); i < elements; i += indexStep())
    detail::compareElement(result, resultType, reference, referenceType, doubt,
                           i, tolerance, scales[i / row], partial);
  double error = reduceWarp(partial.errorSquares, Add());
  double squares = reduceWarp(partial.referenceSquares, Add());
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&totals->errorSquares, error);
    atomicAdd(&totals->referenceSquares, squares);
  }
  // Plain atomics: these are rare, or one per thread.
  auto add = [](unsigned long long *total, uint64_t count) {
    if (count)
      atomicAdd(total, static_cast<unsigned long long>(count));
  };
  add(&totals->undecided, partial.undecided);
  add(&totals->referenceNotFinite, partial.referenceNotFinite);
  add(&totals->otherClass, partial.otherClass);
  add(&totals->beyond, partial.beyond);
  if (partial.firstBad != ~0ull)
    atomicMin(&totals->firstBad,
              static_cast<unsigned long long>(partial.firstBad));
  if (partial.worstElement > 0)
    atomicMax(&totals->worstElement,
              static_cast<unsigned long long>(
                  __double_as_longlong(partial.worstElement)));
}

/// Memory for the scales of `rows` rows; kept for the next comparison.
static double *scalesOnDevice(uint64_t rows) {
  static double *scales = nullptr;
  static uint64_t capacity = 0;
  if (rows > capacity) {
    device::release(scales);
    scales = static_cast<double *>(device::allocate(rows * sizeof(double)));
    capacity = scales ? rows : 0;
  }
  return scales;
}

bool compare(const void *result, ElementType resultType, const void *reference,
             ElementType referenceType, const float *doubt, uint64_t elements,
             const Tolerance &tolerance, Comparison &comparison) {
  comparison = Comparison();
  comparison.elements = elements;
  if (elements == 0)
    return true;
  uint64_t row = tolerance.row ? tolerance.row : elements;
  uint64_t rows = (elements + row - 1) / row;
  Totals *totals = totalsOnDevice();
  double *scales = scalesOnDevice(rows);
  if (!scales || !clearTotals(totals))
    return false;
  scalesKernel<<<static_cast<unsigned>(std::min<uint64_t>(rows, 4096)),
                 threads>>>(reference, referenceType, doubt, elements, row,
                            tolerance.leastScale, scales);
  compareKernel<<<blocksFor(elements), threads>>>(
      result, resultType, reference, referenceType, doubt, elements, row,
      tolerance, scales, totals);
  Totals host;
  if (!readTotals(host, "compare"))
    return false;
  comparison.undecided = host.undecided;
  comparison.referenceNotFinite = host.referenceNotFinite;
  comparison.otherClass = host.otherClass;
  comparison.beyond = host.beyond;
  comparison.firstBad =
      host.firstBad == ~0ull ? -1 : static_cast<int64_t>(host.firstBad);
  comparison.errorSquares = host.errorSquares;
  comparison.referenceSquares = host.referenceSquares;
  memcpy(&comparison.worstElement, &host.worstElement, sizeof(double));
  comparison.setLeastScale(tolerance.leastScale);
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

__global__ void checksumKernel(const void *data, ElementType type,
                               uint64_t elements, Columns spare,
                               unsigned long long *total) {
  unsigned long long sum = 0;
  for (uint64_t i = firstIndex(); i < elements; i += indexStep())
    if (!spare.contain(i))
      sum += detail::elementChecksum(data, type, i);
  sum = reduceWarp(sum, Add());
  if (threadIdx.x % 32 == 0)
    atomicAdd(total, sum);
}

bool addChecksum(const void *data, ElementType type, uint64_t elements,
                 const Columns &spare, uint64_t *sum, void *stream) {
  static_assert(sizeof(uint64_t) == sizeof(unsigned long long), "atomicAdd");
  if (elements == 0)
    return true;
  checksumKernel<<<blocksFor(elements), threads, 0,
                   static_cast<cudaStream_t>(stream)>>>(
      data, type, elements, spare, reinterpret_cast<unsigned long long *>(sum));
  return succeeded(cudaGetLastError(), "checksum");
}

bool availableBytes(uint64_t &bytes) {
  size_t available = 0, total = 0;
  if (!succeeded(cudaMemGetInfo(&available, &total), "cudaMemGetInfo"))
    return false;
  bytes = available;
  return true;
}

/// Flushes by reading, so that the cache has clean lines only: dirty ones would
/// be written back during the measured kernel.
__global__ void readKernel(const uint4 *data, uint64_t count,
                           unsigned *neverWritten) {
  unsigned sum = 0;
  for (uint64_t i = firstIndex(); i < count; i += indexStep())
    sum ^= data[i].x ^ data[i].w;
  if (sum == 0x5eed5eedu)
    *neverWritten = sum;
}

bool time(int runs, const TimedRun &timed, std::vector<double> &microseconds) {
  static uint64_t bytes = 0;
  static uint4 *other = nullptr;
  if (!other) {
    int ordinal = 0;
    int cache = 0;
    if (!succeeded(cudaGetDevice(&ordinal), "cudaGetDevice") ||
        !succeeded(
            cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, ordinal),
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
  // Enqueues everything ahead: the flush keeps the device busy while the host
  // enqueues the launch, so the host's latency is not measured.
  for (int run = 0; good && run < runs; ++run) {
    if (timed.restUs > 0) {
      good = succeeded(cudaStreamSynchronize(stream), "timed runs");
      std::this_thread::sleep_for(
          std::chrono::duration<double, std::micro>(timed.restUs));
    }
    good = good && timed.prepare(run, stream);
    if (timed.coldCache)
      readKernel<<<1024, threads, 0, stream>>>(
          other, bytes / sizeof(uint4), reinterpret_cast<unsigned *>(other));
    good = good &&
           succeeded(cudaEventRecord(events[2 * run], stream), "event") &&
           timed.launch(run, stream) &&
           succeeded(cudaEventRecord(events[2 * run + 1], stream), "event") &&
           timed.finish(run, stream);
  }
  if (timed.load)
    *timed.load = readLoad();
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
