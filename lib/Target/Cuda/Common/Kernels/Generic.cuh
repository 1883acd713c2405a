//===- Generic.cuh - What printed loops are made of ------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generic family prints any region as a sequence of plain kernels:
//
//   __global__ void __launch_bounds__(256) step0(f32 const *p0, f32 *p1) {
//     using Index = int32_t;
//     const Index point = Index(blockIdx.x) * 256 + threadIdx.x;
//     if (point >= 1000)
//       return;
//     p1[point] = p0[point] + 1.0f;
//   }
//
//   struct Kernel { ... enqueue(step0, 4, 256, stream, m0, m1) ... };
//
// Where elements are few, steps are functions instead, and one kernel of one
// block calls them: step0(block, m0, m1); __syncthreads(); step1(...).
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GENERIC_CUH
#define FACT_CUTLASS_GENERIC_CUH

#include "Kernel.cuh"
#include <tuple>
#include <utility>

namespace fact {

/// Enqueues a kernel with any parameters.
template <class... Parameters, class... Arguments>
int enqueue(void (*kernel)(Parameters...), int64_t blocks, int threads,
            cudaStream_t stream, Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "one argument for each parameter");
  if (blocks > INT32_MAX)
    return cudaErrorInvalidConfiguration;
  std::tuple<Parameters...> values(arguments...);
  return std::apply(
      [&](auto &...value) -> int {
        void *pointers[] = {static_cast<void *>(&value)..., nullptr};
        return cudaLaunchKernel(reinterpret_cast<void const *>(kernel),
                                dim3(unsigned(blocks)), dim3(threads), pointers,
                                0, stream);
      },
      values);
}

/// Shared memory that all users of one type have in common, one at a time.
template <class Value, int Count> __device__ Value *get_shared() {
  __shared__ Value values[Count];
  return values;
}

/// Combines the values of all lanes of a slot, in a fixed order. All threads of
/// the block call it; every lane gets the result.
template <int Lanes, int Slots, class Value, class Combine>
__device__ Value combine_lanes(Value value, int lane, int slot,
                               Combine combine) {
  static_assert((Lanes & (Lanes - 1)) == 0, "lanes are halved");
  Value *const values = get_shared<Value, Lanes * Slots>();
  values[lane * Slots + slot] = value;
  __syncthreads();
  for (int half = Lanes / 2; half > 0; half /= 2) {
    if (lane < half)
      values[lane * Slots + slot] = combine(
          values[lane * Slots + slot], values[(lane + half) * Slots + slot]);
    __syncthreads();
  }
  Value result = values[slot];
  __syncthreads();
  return result;
}

} // namespace fact

#endif // FACT_CUTLASS_GENERIC_CUH
