//===- selftest.cu - Kernels that are right, and wrong in known ways ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// selftest NAME: prints "right" or "wrong", or is ended by the emulation.
//
//===----------------------------------------------------------------------===//

#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <string>

constexpr int threads = 64;

/// Reverses 64 numbers through shared memory.
template <bool Waits> __global__ void reverse(float const *in, float *out) {
  extern __shared__ float staged[];
  staged[threadIdx.x] = in[threadIdx.x];
  if (Waits)
    __syncthreads();
  out[threadIdx.x] = staged[threads - 1 - threadIdx.x];
}

__device__ void copy_async(void *to, void const *from, int bytes) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address),
               "l"(from), "r"(bytes));
}

/// The same, with asynchronous copies.
template <bool Waits>
__global__ void reverse_async(float const *in, float *out) {
  extern __shared__ float staged[];
  copy_async(&staged[threadIdx.x], &in[threadIdx.x], 4);
  asm volatile("cp.async.commit_group;" ::);
  if (Waits)
    asm volatile("cp.async.wait_group 0;" ::);
  __syncthreads();
  out[threadIdx.x] = staged[threads - 1 - threadIdx.x];
}

/// Half of a warp is not there to be asked.
__global__ void absent(float const *in, float *out) {
  if (threadIdx.x % 32 < 16)
    out[threadIdx.x] = __shfl_xor_sync(0xffffu, in[threadIdx.x], 16);
}

/// A barrier for more threads than there are.
__global__ void stuck(float const *, float *) {
  asm volatile("bar.sync 1, 96;" ::);
}

__global__ void misaligned(float const *in, float *out) {
  *reinterpret_cast<float4 *>(out) = *reinterpret_cast<float4 const *>(in + 1);
}

/// D = A B of 16 x 16 by 16 x 8, all of small integers: exact.
__global__ void product(float const *in, float *out) {
  int lane = threadIdx.x, group = lane / 4, in_group = lane % 4;
  auto pair = [&](float low, float high) {
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  };
  auto a = [&](int row, int k) { return in[row] + k; };
  auto b = [&](int k, int column) { return in[k] - 2 * column; };
  unsigned left[4], right[2];
  for (int i = 0; i < 4; ++i) {
    int row = group + i % 2 * 8, k = in_group * 2 + i / 2 * 8;
    left[i] = pair(a(row, k), a(row, k + 1));
  }
  for (int i = 0; i < 2; ++i) {
    int k = in_group * 2 + i * 8;
    right[i] = pair(b(k, group), b(k + 1, group));
  }
  float d[4] = {};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]),
        "r"(right[1]));
  float wrong = 0;
  for (int i = 0; i < 4; ++i) {
    int row = group + i / 2 * 8, column = in_group * 2 + i % 2;
    float sum = 0;
    for (int k = 0; k < 16; ++k)
      sum += a(row, k) * b(k, column);
    wrong += sum != d[i];
  }
  // In the order that a reversal has.
  for (int i = lane; i < threads; i += 32)
    out[i] = wrong ? -1 : in[threads - 1 - i];
}

int main(int, char **arguments) {
  std::string name = arguments[1];
  float *in, *out;
  cudaMalloc(reinterpret_cast<void **>(&in), threads * sizeof(float));
  cudaMalloc(reinterpret_cast<void **>(&out), threads * sizeof(float));
  for (int i = 0; i < threads; ++i)
    in[i] = float(i);
  constexpr int bytes = threads * sizeof(float);
  if (name == "reverse")
    reverse<true><<<1, threads, bytes>>>(in, out);
  else if (name == "no barrier")
    reverse<false><<<1, threads, bytes>>>(in, out);
  else if (name == "reverse_async")
    reverse_async<true><<<1, threads, bytes>>>(in, out);
  else if (name == "no wait")
    reverse_async<false><<<1, threads, bytes>>>(in, out);
  else if (name == "absent")
    absent<<<1, threads>>>(in, out);
  else if (name == "stuck")
    stuck<<<1, threads>>>(in, out);
  else if (name == "misaligned")
    misaligned<<<1, 1>>>(in, out);
  else if (name == "product")
    product<<<1, 32>>>(in, out);
  bool right = true;
  for (int i = 0; i < threads; ++i)
    right = right && out[i] == float(threads - 1 - i);
  std::puts(right ? "right" : "wrong");
}
