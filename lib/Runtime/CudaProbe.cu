//===- CudaProbe.cu - Loads of a CUDA device ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain kernels: reads, copies, sums of products by each unit. fact-tune
// defines FACT_PROBE_WARPGROUPS for sm_90a, whose tensor cores reach their rate
// by wgmma only.
//
//===----------------------------------------------------------------------===//

#include "CudaError.h"
#include "Probe.h"
#include "WorkerReport.h"
#include "fact/Runtime/Device.h"
#include <algorithm>
#include <cuda_runtime.h>
#include <memory>

namespace fact {
namespace runtime {
namespace probe {

constexpr unsigned threads = 256;

static uint64_t getAttribute(cudaDeviceAttr attribute) {
  int value = 0;
  if (!succeeded(
          cudaDeviceGetAttribute(&value, attribute, device::currentOrdinal()),
          "cudaDeviceGetAttribute"))
    deviceFailed("worker_error");
  return static_cast<uint64_t>(value);
}

namespace {
/// Device memory of doubles, or of words.
class Buffer {
public:
  explicit Buffer(uint64_t bytes) : data(device::allocate(bytes)) {
    if (!data)
      deviceFailed("worker_error");
  }
  ~Buffer() { device::release(data); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  void *const data;
};
} // namespace

/// Seconds that the work between two events takes.
template <typename Work> static double timeOf(Work work) {
  cudaEvent_t begin, end;
  float milliseconds = 0;
  bool isDone = succeeded(cudaEventCreate(&begin), "cudaEventCreate") &&
                succeeded(cudaEventCreate(&end), "cudaEventCreate");
  if (!isDone)
    return -1;
  isDone = succeeded(cudaEventRecord(begin, nullptr), "cudaEventRecord");
  work();
  isDone = isDone && succeeded(cudaGetLastError(), "a load's launch") &&
           succeeded(cudaEventRecord(end, nullptr), "cudaEventRecord") &&
           device::synchronize() &&
           succeeded(cudaEventElapsedTime(&milliseconds, begin, end),
                     "cudaEventElapsedTime");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return isDone ? 1e-3 * milliseconds : -1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

__device__ inline uint64_t firstIndex() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline uint64_t indexStep() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

__global__ void fillWords(uint4 *words, uint64_t count) {
  for (uint64_t i = firstIndex(); i < count; i += indexStep()) {
    uint32_t x = static_cast<uint32_t>(i % 1021);
    words[i] = make_uint4(x, x + 1, x + 2, x + 3);
  }
}

/// Adds all words to `*sum`.
__global__ void readWords(const uint4 *words, uint64_t count,
                          unsigned long long *sum) {
  unsigned long long own = 0;
  for (uint64_t i = firstIndex(); i < count; i += indexStep()) {
    uint4 four = words[i];
    own += static_cast<unsigned long long>(four.x) + four.y + four.z + four.w;
  }
  atomicAdd(sum, own);
}

__global__ void copyWords(const uint4 *from, uint4 *to, uint64_t count) {
  for (uint64_t i = firstIndex(); i < count; i += indexStep())
    to[i] = from[i];
}

namespace {
struct Memory {
  explicit Memory(uint64_t bytes)
      : count(bytes / 16), blocks(static_cast<unsigned>(std::min<uint64_t>(
                               (count + threads - 1) / threads, 1u << 16))),
        from(16 * count), to(16 * count), sum(8) {
    fillWords<<<blocks, threads>>>(words(from), count);
  }
  uint4 *words(const Buffer &buffer) const {
    return static_cast<uint4 *>(buffer.data);
  }

  uint64_t count;
  unsigned blocks;
  Buffer from, to, sum;
};
} // namespace

static Load getReads(const std::shared_ptr<Memory> &memory) {
  Load load;
  load.figures = {"bandwidth"};
  load.work = static_cast<double>(16 * memory->count);
  auto *sum = static_cast<unsigned long long *>(memory->sum.data);
  load.run = [=](int64_t rounds) {
    return timeOf([&] {
      for (int64_t round = 0; round < rounds; ++round)
        readWords<<<memory->blocks, threads>>>(memory->words(memory->from),
                                               memory->count, sum);
    });
  };
  load.verify = [=] {
    auto add = [&](int64_t rounds) {
      unsigned long long result = 0;
      if (!device::copyToDevice(sum, &result, sizeof(result)) ||
          load.run(rounds) < 0 ||
          !device::copyToHost(&result, sum, sizeof(result)))
        deviceFailed("crash");
      return static_cast<double>(result);
    };
    return compareRounds(add(1), add(3), 3);
  };
  return load;
}

static Load getCopies(const std::shared_ptr<Memory> &memory) {
  Load load;
  load.figures = {"bandwidth"};
  load.work = static_cast<double>(32 * memory->count);
  load.run = [=](int64_t rounds) {
    return timeOf([&] {
      for (int64_t round = 0; round < rounds; ++round)
        copyWords<<<memory->blocks, threads>>>(memory->words(memory->from),
                                               memory->words(memory->to),
                                               memory->count);
    });
  };
  load.verify = [=]() -> std::string {
    uint64_t shown = std::min<uint64_t>(memory->count, 1 << 16);
    std::vector<uint4> from(shown), to(shown);
    // The end of the buffer.
    uint64_t first = memory->count - shown;
    if (load.run(1) < 0 ||
        !device::copyToHost(from.data(), memory->words(memory->from) + first,
                            16 * shown) ||
        !device::copyToHost(to.data(), memory->words(memory->to) + first,
                            16 * shown))
      deviceFailed("crash");
    for (uint64_t i = 0; i < shown; ++i)
      if (from[i].x != to[i].x || from[i].w != to[i].w)
        return "a copy differs from its source";
    return "";
  };
  return load;
}

//===----------------------------------------------------------------------===//
// Products
//
// A kernel of one of the loops below: each thread has a few independent sums.
// It stores the sum of their magnitudes per thread, and the operations that a
// round of a block has.
//===----------------------------------------------------------------------===//

/// Factors between 1 and 2 with random mantissas and signs, since what a
/// multiplier draws depends on its bits.
__device__ inline float randomFactor(uint32_t seed) {
  uint32_t bits = mixed(seed);
  return __uint_as_float(0x3f800000u | (bits & 0x807fffffu));
}
__device__ inline uint32_t randomPair(uint32_t seed) {
  return 0x3f803f80u | (mixed(seed) & 0x807f807fu);
}

/// f32 by the plain units.
struct Plain {
  static constexpr int sums = 16, sharedBytes = 0;
  float a, b[sums], c[sums] = {};

  __device__ void begin(uint32_t seed) {
    a = randomFactor(seed);
    // Equal sums would be one.
#pragma unroll
    for (int i = 0; i < sums; ++i)
      b[i] = randomFactor(seed + 1 + i);
  }
  __device__ void round() {
#pragma unroll
    for (int i = 0; i < sums; ++i)
      c[i] = fmaf(a, b[i], c[i]);
  }
  __device__ void end() {}
  static constexpr double blockOperations = 2.0 * sums * threads;
};

__device__ inline void multiply16(float (&c)[4], const uint32_t (&a)[4],
                                  const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%10, %11, %12, %13};"
               : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                 "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
__device__ inline void multiplyTf32(float (&c)[4], const uint32_t (&a)[4],
                                    const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%10, %11, %12, %13};"
               : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                 "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

/// bf16 or TF32 by the tensor cores, a warp at a time.
template <bool Is16> struct Warps {
  static constexpr int tiles = 8, sums = 4 * tiles, sharedBytes = 0;
  uint32_t a[4], b[2];
  float d[tiles][4] = {}, c[sums];

  __device__ void begin(uint32_t seed) {
    for (int i = 0; i < 6; ++i)
      (i < 4 ? a[i] : b[i - 4]) =
          Is16 ? randomPair(seed + i) : __float_as_uint(randomFactor(seed + i));
  }
  __device__ void round() {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
      if constexpr (Is16)
        multiply16(d[i], a, b);
      else
        multiplyTf32(d[i], a, b);
  }
  __device__ void end() {
#pragma unroll
    for (int i = 0; i < sums; ++i)
      c[i] = d[i / 4][i % 4];
  }
  static constexpr double blockOperations =
      2.0 * 16 * 8 * (Is16 ? 16 : 8) * tiles * (threads / 32);
};

__device__ inline void multiply64(double (&c)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(c[0]), "=d"(c[1])
               : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
}

/// f64.
struct Doubles {
  static constexpr int tiles = 8, sums = 2 * tiles, sharedBytes = 0;
  double a, b, d[tiles][2] = {};
  float c[sums];

  __device__ void begin(uint32_t seed) {
    a = randomFactor(seed);
    b = randomFactor(seed + 1);
  }
  __device__ void round() {
#pragma unroll
    for (int i = 0; i < tiles; ++i)
      multiply64(d[i], a, b);
  }
  __device__ void end() {
#pragma unroll
    for (int i = 0; i < sums; ++i)
      c[i] = static_cast<float>(d[i / 2][i % 2]);
  }
  static constexpr double blockOperations =
      2.0 * 8 * 8 * 4 * tiles * (threads / 32);
};

#ifdef FACT_PROBE_WARPGROUPS
__device__ inline void multiplyWarpgroup16(float (&d)[64],
                                           const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %69, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
      "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
      "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
      "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1, 0; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
        "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]),
        "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
        "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
        "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]),
        "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
        "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]),
        "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(1));
}

__device__ inline void
multiplyWarpgroupTf32(float (&d)[64], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %69, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "
      "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, "
      "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
      "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
      "%62, %63}, "
      "{%64, %65, %66, %67}, %68, p, 1, 1; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]),
        "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]),
        "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
        "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]),
        "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]),
        "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]),
        "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]),
        "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), "+f"(d[49]), "+f"(d[50]),
        "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]),
        "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(1));
}

/// bf16 or TF32 by the tensor cores, a warpgroup at a time: A in registers, B
/// in shared memory without a swizzle, 16 bytes of 8 columns after another.
template <bool Is16> struct Warpgroups {
  static constexpr int repeats = 16, sums = 64, sharedBytes = 4096;
  uint32_t a[4];
  uint64_t b;
  float c[sums] = {};

  __device__ void begin(uint32_t seed) {
    extern __shared__ __align__(128) uint32_t tile[];
    for (unsigned i = threadIdx.x; i < sharedBytes / 4; i += threads)
      tile[i] = Is16 ? randomPair(i) : __float_as_uint(randomFactor(i));
    for (int i = 0; i < 4; ++i)
      a[i] =
          Is16 ? randomPair(seed + i) : __float_as_uint(randomFactor(seed + i));
    uint32_t start = static_cast<uint32_t>(__cvta_generic_to_shared(tile));
    // 128 bytes between the two halves of K, 256 between columns.
    b = uint64_t(start >> 4) | uint64_t(128 >> 4) << 16 |
        uint64_t(256 >> 4) << 32;
    // Makes the tile visible to the tensor cores.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }
  __device__ void round() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < repeats; ++i)
      if constexpr (Is16)
        multiplyWarpgroup16(c, a, b);
      else
        multiplyWarpgroupTf32(c, a, b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  __device__ void end() {}
  static constexpr double blockOperations =
      2.0 * 64 * 128 * (Is16 ? 16 : 8) * repeats * (threads / 128);
};
template <bool Is16> using Tensors = Warpgroups<Is16>;
#else
template <bool Is16> using Tensors = Warps<Is16>;
#endif

template <typename Loop>
__global__ void __launch_bounds__(threads)
    addProducts(int64_t rounds, double *results) {
  Loop loop;
  loop.begin(16 * threadIdx.x);
  for (int64_t i = 0; i < rounds; ++i)
    loop.round();
  loop.end();
  double sum = 0;
#pragma unroll
  for (int i = 0; i < Loop::sums; ++i)
    sum += fabs(static_cast<double>(loop.c[i]));
  results[static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x] = sum;
}

template <typename Loop>
static Load getProducts(std::vector<std::string> figures) {
  // As many as run at once, with warps that hide the latency of a product.
  auto blocks =
      static_cast<unsigned>(2 * getAttribute(cudaDevAttrMultiProcessorCount));
  auto results = std::make_shared<Buffer>(sizeof(double) * threads * blocks);
  auto *sums = static_cast<double *>(results->data);
  Load load;
  load.figures = std::move(figures);
  load.work = Loop::blockOperations * blocks;
  // Keeps the buffer alive.
  load.run = [=, kept = results](int64_t rounds) {
    return timeOf([&] {
      addProducts<Loop><<<blocks, threads, Loop::sharedBytes>>>(rounds, sums);
    });
  };
  load.verify = [=] {
    auto add = [&](int64_t rounds) {
      std::vector<double> each(static_cast<size_t>(threads) * blocks);
      if (load.run(rounds) < 0 ||
          !device::copyToHost(each.data(), sums, sizeof(double) * each.size()))
        deviceFailed("crash");
      double all = 0;
      for (double sum : each)
        all += sum;
      return all;
    };
    return compareRounds(add(1), add(16), 16);
  };
  return load;
}

std::vector<Load> getLoads(uint64_t bytes) {
  if (bytes == 0)
    bytes =
        std::max<uint64_t>(256 << 20, 8 * getAttribute(cudaDevAttrL2CacheSize));
  auto memory = std::make_shared<Memory>(std::max<uint64_t>(bytes, 4096));
  return {getReads(memory),
          getCopies(memory),
          getProducts<Tensors<true>>({"matrix_flops_16"}),
          getProducts<Tensors<false>>({"matrix_flops_tf32"}),
          getProducts<Plain>({"matrix_flops_32", "scalar_flops"}),
          getProducts<Doubles>({"matrix_flops_64"})};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

__global__ void doNothing() {}

double measureLaunch() {
  constexpr int launches = 1000;
  double best = 1;
  for (int i = 0; i < 5; ++i) {
    double seconds = timeOf([] {
      for (int launch = 0; launch < launches; ++launch)
        doNothing<<<1, threads>>>();
    });
    if (seconds < 0)
      deviceFailed("crash");
    best = std::min(best, seconds / launches);
  }
  return best;
}

} // namespace probe
} // namespace runtime
} // namespace fact
