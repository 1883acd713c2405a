//===- emulation.h - CUDA's words on a CPU ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included before every source that the `nvcc` beside this file compiles. A
// launch runs the blocks of a grid one after another; the threads of a block
// are fibers that run until they wait for each other. So kernels are executed
// as they are written, on machines without a GPU: slowly, in a fixed order,
// with shared memory that is poisoned and asynchronous copies that arrive as
// late as they may.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_EMULATION_H
#define FACT_EMULATION_H

// Without __CUDACC__, these declare the host's interface and types; a thread's
// position is a variable below.
#define __DEVICE_LAUNCH_PARAMETERS_H__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>

// Of the runtime: precompiled, they save a quarter of the time of its sources.
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// Each library has its own.
#pragma GCC visibility push(hidden)

/// Of the thread that runs.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;

namespace emulation {

constexpr int warpSize = 32;
constexpr unsigned fullMask = 0xffffffffu;
constexpr size_t sharedBytes = 256 << 10;

/// Of the thread that runs.
int lane();

/// The block's dynamic shared memory.
char *sharedMemory();

/// Runs one block after another.
cudaError_t runGrid(dim3 grid, dim3 block, size_t sharedBytes,
                    const std::function<void()> &thread);

/// Does work that was enqueued on a stream: now, or as a node of the graph into
/// which the stream is captured. What the work needs, it holds.
cudaError_t enqueue(cudaStream_t stream, cudaGraphNodeType kind,
                    std::function<cudaError_t()> work);

void synchronizeBlock();
/// Returns the values of all lanes in `mask`, when they have arrived.
const void *exchange(unsigned mask, const void *value, size_t bytes);
bool isLaneActive(int lane);
/// `barrier.sync id, threads`.
void synchronizeSome(int id, int threads);

/// Ends the program, since the kernel does what a GPU would not.
[[noreturn]] void fail(const char *what);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

template <class... Params, size_t... I>
cudaError_t launch(void (*kernel)(Params...), dim3 grid, dim3 block,
                   size_t bytes, void **arguments, cudaStream_t stream,
                   std::index_sequence<I...>) {
  std::tuple<std::remove_cv_t<std::remove_reference_t<Params>>...> copies(
      *static_cast<std::remove_cv_t<std::remove_reference_t<Params>> *>(
          arguments[I])...);
  return enqueue(stream, cudaGraphNodeTypeKernel, [=]() mutable {
    return runGrid(grid, block, bytes, [&] { std::apply(kernel, copies); });
  });
}

/// cudaLaunchKernel, with the kernel's type.
template <class... Params>
cudaError_t launchKernel(void (*kernel)(Params...), dim3 grid, dim3 block,
                         void **arguments, size_t bytes, cudaStream_t stream) {
  return launch(kernel, grid, block, bytes, arguments, stream,
                std::index_sequence_for<Params...>());
}

/// cudaLaunchKernelExC. Blocks of a cluster would have to run together.
template <class... Params>
cudaError_t launchKernelExC(const cudaLaunchConfig_t *config,
                            void (*kernel)(Params...), void **arguments) {
  if (config->numAttrs)
    return cudaErrorNotSupported;
  return launchKernel(kernel, config->gridDim, config->blockDim, arguments,
                      config->dynamicSmemBytes, config->stream);
}

/// cudaFuncSetAttribute, with the kernel's type.
template <class Kernel>
cudaError_t setAttribute(Kernel, cudaFuncAttribute, int bytes) {
  return bytes > 227 << 10 ? cudaErrorInvalidValue : cudaSuccess;
}

/// kernel<<<grid, block, bytes, stream>>>(arguments...)
template <class Kernel> struct Configured {
  Kernel kernel;
  dim3 grid, block;
  size_t bytes;
  cudaStream_t stream;
  template <class... Arguments> void operator()(Arguments... arguments) const {
    enqueue(stream, cudaGraphNodeTypeKernel,
            [=, kernel = kernel, grid = grid, block = block, bytes = bytes] {
              return runGrid(grid, block, bytes, [&] { kernel(arguments...); });
            });
  }
};
template <class Kernel>
Configured<Kernel> configure(Kernel kernel, dim3 grid, dim3 block,
                             size_t bytes = 0, cudaStream_t stream = nullptr) {
  return {kernel, grid, block, bytes, stream};
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

template <class T> T shuffle(unsigned mask, T value, int from) {
  auto *values = static_cast<const T *>(exchange(mask, &value, sizeof(T)));
  if (!isLaneActive(from) || !(mask >> from & 1))
    fail("a shuffle reads a lane that does not take part");
  return values[from];
}

/// The lane to read within a segment of `width` lanes, or the own one.
inline int within(int from, int width) {
  int first = lane() & ~(width - 1);
  return from >= first && from < first + width ? from : lane();
}

inline unsigned ballot(unsigned mask, int predicate) {
  auto *values =
      static_cast<const int *>(exchange(mask, &predicate, sizeof(predicate)));
  unsigned result = 0;
  for (int i = 0; i < warpSize; ++i)
    if ((mask >> i & 1) && isLaneActive(i) && values[i])
      result |= 1u << i;
  return result;
}

template <class T, class Combine>
T reduceLanes(unsigned mask, T value, Combine combine) {
  auto *values = static_cast<const T *>(exchange(mask, &value, sizeof(T)));
  T result{};
  bool first = true;
  for (int i = 0; i < warpSize; ++i)
    if ((mask >> i & 1) && isLaneActive(i)) {
      result = first ? values[i] : combine(result, values[i]);
      first = false;
    }
  return result;
}

//===----------------------------------------------------------------------===//
// PTX: one function per instruction, dots as underscores, operands in order
//===----------------------------------------------------------------------===//

/// Addresses in shared memory are distances from the block's.
inline uint32_t toShared(const void *pointer) {
  return static_cast<uint32_t>(static_cast<const char *>(pointer) -
                               sharedMemory());
}
inline char *fromShared(uint32_t address) {
  return sharedMemory() + static_cast<int32_t>(address);
}
inline void *fromGlobal(uint64_t address) {
  return reinterpret_cast<void *>(address);
}
inline void *fromGlobal(const void *address) {
  return const_cast<void *>(address);
}

template <class T, class Address> T *checked(Address address, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(address) % bytes)
    fail("a misaligned address");
  return reinterpret_cast<T *>(address);
}

/// Enqueues a copy of the first `given` of `bytes` bytes; the rest are 0.
void copyAsync(char *shared, const void *global, int bytes, int given);
void commitCopies();
/// All groups but the newest `groups` have arrived.
void waitForCopies(int groups);

#define FACT_CP_ASYNC(name)                                                    \
  template <class Global>                                                      \
  void name(uint32_t shared, Global global, int bytes) {                       \
    copyAsync(fromShared(shared), fromGlobal(global), bytes, bytes);           \
  }                                                                            \
  template <class Global>                                                      \
  void name(uint32_t shared, Global global, int bytes, int given) {            \
    copyAsync(fromShared(shared), fromGlobal(global), bytes, given);           \
  }
FACT_CP_ASYNC(cp_async_cg_shared_global)
FACT_CP_ASYNC(cp_async_ca_shared_global)
FACT_CP_ASYNC(cp_async_cg_shared_global_L2__128B)
FACT_CP_ASYNC(cp_async_ca_shared_global_L2__128B)
#undef FACT_CP_ASYNC
inline void cp_async_commit_group() { commitCopies(); }
inline void cp_async_wait_group(int groups) { waitForCopies(groups); }
inline void cp_async_wait_all() { waitForCopies(0); }

inline void bar_sync(int id, int threads) { synchronizeSome(id, threads); }

/// Each lane of eight gives the address of a row of eight 16-bit elements; lane
/// i gets elements 2 (i % 4) and the next of row i / 4, or of column i / 4.
void loadMatrices(uint32_t address, uint32_t *const *results, int count,
                  bool transposed);

inline void ldmatrix_sync_aligned_m8n8_x1_shared_b16(uint32_t &a, uint32_t at) {
  uint32_t *results[] = {&a};
  loadMatrices(at, results, 1, false);
}
inline void ldmatrix_sync_aligned_m8n8_x1_trans_shared_b16(uint32_t &a,
                                                           uint32_t at) {
  uint32_t *results[] = {&a};
  loadMatrices(at, results, 1, true);
}
inline void ldmatrix_sync_aligned_m8n8_x2_shared_b16(uint32_t &a, uint32_t &b,
                                                     uint32_t at) {
  uint32_t *results[] = {&a, &b};
  loadMatrices(at, results, 2, false);
}
inline void ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16(uint32_t &a,
                                                           uint32_t &b,
                                                           uint32_t at) {
  uint32_t *results[] = {&a, &b};
  loadMatrices(at, results, 2, true);
}
inline void ldmatrix_sync_aligned_m8n8_x4_shared_b16(uint32_t &a, uint32_t &b,
                                                     uint32_t &c, uint32_t &d,
                                                     uint32_t at) {
  uint32_t *results[] = {&a, &b, &c, &d};
  loadMatrices(at, results, 4, false);
}
inline void ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(
    uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, uint32_t at) {
  uint32_t *results[] = {&a, &b, &c, &d};
  loadMatrices(at, results, 4, true);
}

enum class Factor { BF16, F16, TF32 };
/// D = A B + C of 16 x 8 elements; K is 16, or 8 where `a` has two words, or
/// TF32. 4 for TF32 with two.
void multiply(Factor factor, float *d, const uint32_t *a, int aWords,
              const uint32_t *b, const float *c);

#define FACT_MMA(name, factor)                                                 \
  inline void name(float &d0, float &d1, float &d2, float &d3, uint32_t a0,    \
                   uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,         \
                   uint32_t b1, float c0, float c1, float c2, float c3) {      \
    uint32_t a[] = {a0, a1, a2, a3}, b[] = {b0, b1};                           \
    float c[] = {c0, c1, c2, c3}, d[4];                                        \
    multiply(factor, d, a, 4, b, c);                                           \
    d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];                                \
  }
FACT_MMA(mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32, Factor::BF16)
FACT_MMA(mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32, Factor::F16)
FACT_MMA(mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32, Factor::TF32)
#undef FACT_MMA

#define FACT_MMA_HALF(name, factor)                                            \
  inline void name(float &d0, float &d1, float &d2, float &d3, uint32_t a0,    \
                   uint32_t a1, uint32_t b0, float c0, float c1, float c2,     \
                   float c3) {                                                 \
    uint32_t a[] = {a0, a1}, b[] = {b0};                                       \
    float c[] = {c0, c1, c2, c3}, d[4];                                        \
    multiply(factor, d, a, 2, b, c);                                           \
    d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];                                \
  }
FACT_MMA_HALF(mma_sync_aligned_m16n8k8_row_col_f32_bf16_bf16_f32, Factor::BF16)
FACT_MMA_HALF(mma_sync_aligned_m16n8k8_row_col_f32_f16_f16_f32, Factor::F16)
FACT_MMA_HALF(mma_sync_aligned_m16n8k4_row_col_f32_tf32_tf32_f32, Factor::TF32)
#undef FACT_MMA_HALF

/// wgmma of TF32 or bf16, D = A B + D or A B of 64 x N elements: a warp has 16
/// rows of them. The descriptor of B has no swizzle.
void multiplyWarpgroup(Factor factor, float *const *d, int n, const uint32_t *a,
                       uint64_t b, bool adds);
template <int N, class Operands, size_t... I>
void multiplyWarpgroup(Factor factor, const Operands &operands,
                       std::index_sequence<I...>) {
  float *d[] = {&std::get<I>(operands)...};
  uint32_t a[] = {std::get<N / 2>(operands), std::get<N / 2 + 1>(operands),
                  std::get<N / 2 + 2>(operands), std::get<N / 2 + 3>(operands)};
  multiplyWarpgroup(factor, d, N, a, std::get<N / 2 + 4>(operands),
                    std::get<N / 2 + 5>(operands));
}
#define FACT_WGMMA(shape, n, factor)                                           \
  template <class... Operands>                                                 \
  void wgmma_mma_async_sync_aligned_##shape(Operands &&...operands) {          \
    multiplyWarpgroup<n>(factor, std::forward_as_tuple(operands...),           \
                         std::make_index_sequence<n / 2>());                   \
  }
FACT_WGMMA(m64n32k8_f32_tf32_tf32, 32, Factor::TF32)
FACT_WGMMA(m64n64k8_f32_tf32_tf32, 64, Factor::TF32)
FACT_WGMMA(m64n96k8_f32_tf32_tf32, 96, Factor::TF32)
FACT_WGMMA(m64n128k8_f32_tf32_tf32, 128, Factor::TF32)
FACT_WGMMA(m64n128k16_f32_bf16_bf16, 128, Factor::BF16)
#undef FACT_WGMMA
// Products are done when they are issued.
inline void fence_proxy_async_shared__cta() {}
inline void wgmma_fence_sync_aligned() {}
inline void wgmma_commit_group_sync_aligned() {}
inline void wgmma_wait_group_sync_aligned(int) {}
inline void setmaxnreg_inc_sync_aligned_u32(int) {}
inline void setmaxnreg_dec_sync_aligned_u32(int) {}

/// Barriers in shared memory. A bulk copy arrives at once or when its barrier
/// is waited for, in turn.
void initBarrier(uint32_t barrier, int count);
void arriveAt(uint32_t barrier, int bytes);
bool tryBarrier(uint32_t barrier, uint32_t parity);
void copyBulk(uint32_t shared, const void *global, int bytes, uint32_t barrier);
inline void mbarrier_init_shared__cta_b64(uint32_t barrier, int count) {
  initBarrier(barrier, count);
}
inline void fence_mbarrier_init_release_cluster() {}
inline void mbarrier_arrive_shared__cta_b64(uint32_t barrier) {
  arriveAt(barrier, 0);
}
inline void mbarrier_arrive_expect_tx_shared__cta_b64(uint32_t barrier,
                                                      int bytes) {
  arriveAt(barrier, bytes);
}
inline void mbarrier_try_wait_parity_shared__cta_b64(uint32_t &done,
                                                     uint32_t barrier,
                                                     uint32_t parity) {
  done = tryBarrier(barrier, parity);
}
template <class Global>
void cp_async_bulk_shared__cluster_global_mbarrier__complete_tx__bytes(
    uint32_t shared, Global global, int bytes, uint32_t barrier) {
  copyBulk(shared, fromGlobal(global), bytes, barrier);
}

/// DMMA: D = A B + C of 8 x 8 elements, K is 4.
void multiplyDoubles(double *d, double a, double b, const double *c);
inline void mma_sync_aligned_m8n8k4_row_col_f64_f64_f64_f64(
    double &d0, double &d1, double a, double b, double c0, double c1) {
  double c[] = {c0, c1}, d[2];
  multiplyDoubles(d, a, b, c);
  d0 = d[0], d1 = d[1];
}

inline float flushed(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}
inline void ex2_approx_ftz_f32(float &d, float a) {
  d = flushed(std::exp2(flushed(a)));
}
inline void ex2_approx_f32(float &d, float a) { d = std::exp2(a); }
inline void lg2_approx_ftz_f32(float &d, float a) { d = std::log2(flushed(a)); }
inline void tanh_approx_f32(float &d, float a) { d = std::tanh(a); }
inline void rcp_approx_ftz_f32(float &d, float a) {
  d = flushed(1.0f / flushed(a));
}
inline void sqrt_approx_f32(float &d, float a) { d = std::sqrt(a); }
inline void sqrt_approx_ftz_f32(float &d, float a) {
  d = std::sqrt(flushed(a));
}
inline void rsqrt_approx_ftz_f32(float &d, float a) {
  d = 1.0f / std::sqrt(flushed(a));
}
/// +0 is more than -0.
inline void max_NaN_f32(float &d, float a, float b) {
  d = std::isnan(a) || std::isnan(b)         ? NAN
      : a > b || (a == b && std::signbit(b)) ? a
                                             : b;
}
inline void min_NaN_f32(float &d, float a, float b) {
  d = std::isnan(a) || std::isnan(b)         ? NAN
      : a < b || (a == b && std::signbit(a)) ? a
                                             : b;
}
template <class T> uint32_t pairBits(T high, T low) {
  uint16_t words[2];
  std::memcpy(&words[0], &low, 2);
  std::memcpy(&words[1], &high, 2);
  return words[0] | uint32_t(words[1]) << 16;
}
inline void cvt_rn_bf16x2_f32(uint32_t &d, float high, float low) {
  d = pairBits(__float2bfloat16_rn(high), __float2bfloat16_rn(low));
}
inline void cvt_rn_f16x2_f32(uint32_t &d, float high, float low) {
  d = pairBits(__float2half_rn(high), __float2half_rn(low));
}
/// Nearest, ties away from 0.
inline void cvt_rna_tf32_f32(uint32_t &d, float a) {
  std::memcpy(&d, &a, 4);
  if ((d & 0x7f800000u) != 0x7f800000u)
    d = (d + 0x1000u) & ~0x1fffu;
}
template <class Address>
void st_global_v4_b32(Address at, uint32_t a, uint32_t b, uint32_t c,
                      uint32_t d) {
  uint32_t words[] = {a, b, c, d};
  std::memcpy(checked<char>(fromGlobal(at), 16), words, 16);
}
template <class Address>
void st_global_v2_b32(Address at, uint32_t a, uint32_t b) {
  uint32_t words[] = {a, b};
  std::memcpy(checked<char>(fromGlobal(at), 8), words, 8);
}

/// What the caches keep is no matter here.
inline void createpolicy_fractional_L2__evict_first_b64(uint64_t &policy, int,
                                                        int) {
  policy = 0;
}
template <class Address>
void ld_global_nc_L1__evict_first_L2__cache_hint_b32(uint32_t &a, Address at,
                                                     uint64_t) {
  std::memcpy(&a, checked<char>(fromGlobal(at), 4), 4);
}
template <class Address>
void ld_global_nc_L1__evict_first_L2__cache_hint_v2_b32(uint32_t &a,
                                                        uint32_t &b, Address at,
                                                        uint64_t) {
  uint32_t words[2];
  std::memcpy(words, checked<char>(fromGlobal(at), 8), 8);
  a = words[0], b = words[1];
}
template <class Address>
void ld_global_nc_L1__evict_first_L2__cache_hint_v4_b32(
    uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, Address at, uint64_t) {
  uint32_t words[4];
  std::memcpy(words, checked<char>(fromGlobal(at), 16), 16);
  a = words[0], b = words[1], c = words[2], d = words[3];
}

} // namespace emulation

#pragma GCC visibility pop

//===----------------------------------------------------------------------===//
// Words of device code
//===----------------------------------------------------------------------===//

// From here on, all code is the device's.
#define __CUDACC__ 1
#define __CUDA_ARCH__ 800

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __grid_constant__
#define __grid_constant__
#undef __shared__
#define __shared__ static
#define __cvta_generic_to_shared(pointer) (::emulation::toShared(pointer))

inline void __syncthreads() { emulation::synchronizeBlock(); }
inline int __syncthreads_or(int predicate) {
  static int any;
  emulation::synchronizeBlock();
  any = 0;
  emulation::synchronizeBlock();
  any |= predicate != 0;
  emulation::synchronizeBlock();
  return any;
}
inline void __syncwarp(unsigned mask = emulation::fullMask) {
  int nothing = 0;
  emulation::exchange(mask, &nothing, sizeof(nothing));
}
inline void __threadfence() {}
inline void __threadfence_block() {}

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  int first = emulation::lane() & ~(width - 1);
  return emulation::shuffle(mask, value, first + (from & (width - 1)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  int from = emulation::within(emulation::lane() ^ bits, width);
  return emulation::shuffle(mask, value, from);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  int from = emulation::within(emulation::lane() + int(by), width);
  return emulation::shuffle(mask, value, from);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  int from = emulation::within(emulation::lane() - int(by), width);
  return emulation::shuffle(mask, value, from);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return emulation::ballot(mask, predicate);
}
inline int __any_sync(unsigned mask, int predicate) {
  return emulation::ballot(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return emulation::ballot(mask, !predicate) == 0;
}
template <class T> T __reduce_add_sync(unsigned mask, T value) {
  return emulation::reduceLanes(mask, value, std::plus<T>());
}
template <class T> T __reduce_max_sync(unsigned mask, T value) {
  return emulation::reduceLanes(mask, value,
                                [](T a, T b) { return std::max(a, b); });
}
template <class T> T __reduce_min_sync(unsigned mask, T value) {
  return emulation::reduceLanes(mask, value,
                                [](T a, T b) { return std::min(a, b); });
}

// Threads do not run at once.
template <class T> T emulated_exchange(T *at, T value) {
  T old = *at;
  *at = value;
  return old;
}
template <class T, class U> T atomicAdd(T *at, U value) {
  return emulated_exchange<T>(at, *at + static_cast<T>(value));
}
template <class T, class U> T atomicMin(T *at, U value) {
  return emulated_exchange(at, std::min(*at, static_cast<T>(value)));
}
template <class T, class U> T atomicMax(T *at, U value) {
  return emulated_exchange(at, std::max(*at, static_cast<T>(value)));
}
template <class T, class U> T atomicOr(T *at, U value) {
  return emulated_exchange<T>(at, *at | static_cast<T>(value));
}
template <class T, class U> T atomicExch(T *at, U value) {
  return emulated_exchange(at, static_cast<T>(value));
}
template <class T, class U, class V> T atomicCAS(T *at, U wanted, V value) {
  bool isWanted = *at == static_cast<T>(wanted);
  return emulated_exchange(at, isWanted ? static_cast<T>(value) : *at);
}

template <class T> T __ldg(const T *at) { return *at; }
template <class T> T __ldcs(const T *at) { return *at; }
template <class T> T __ldcg(const T *at) { return *at; }
template <class T> void __stcs(T *at, T value) { *at = value; }

template <class To, class From> To emulated_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
inline int __float_as_int(float x) { return emulated_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return emulated_bits<unsigned>(x); }
inline float __int_as_float(int x) { return emulated_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return emulated_bits<float>(x); }
inline long long __double_as_longlong(double x) {
  return emulated_bits<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return emulated_bits<double>(x);
}
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) {
  return std::fma(a, b, c);
}
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __exp2f(float x) { return std::exp2(x); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
template <class T, class U> auto min(T a, U b) { return b < a ? b : a; }
template <class T, class U> auto max(T a, U b) { return a < b ? b : a; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t(a) * b >> 32);
}

#endif // FACT_EMULATION_H
