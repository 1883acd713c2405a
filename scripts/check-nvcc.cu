// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small CUTLASS kernel for Hopper: one wgmma on tiles in shared memory. It
// compiles only where nvcc, its headers, CUTLASS and the host compiler fit
// together.

#include <cute/arch/cluster_sm90.hpp>
#include <cute/tensor.hpp>
#include <cutlass/bfloat16.h>

namespace {

using Element = cutlass::bfloat16_t;
using Layout =
    decltype(cute::tile_to_shape(cute::GMMA::Layout_K_SW128_Atom<Element>{},
                                 cute::Shape<cute::_64, cute::_64>{}));
using Atom = cute::SM90_64x64x16_F32BF16BF16_SS<cute::GMMA::Major::K,
                                                cute::GMMA::Major::K>;

__global__ void product(const Element *a, const Element *b, float *c) {
  __shared__ alignas(1024) Element tileA[64 * 64];
  __shared__ alignas(1024) Element tileB[64 * 64];
  auto sA = cute::make_tensor(cute::make_smem_ptr(tileA), Layout{});
  auto sB = cute::make_tensor(cute::make_smem_ptr(tileB), Layout{});
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
    sA(i / 64, i % 64) = a[i];
    sB(i / 64, i % 64) = b[i];
  }
  __syncthreads();

  auto mma = cute::make_tiled_mma(Atom{});
  auto thread = mma.get_thread_slice(threadIdx.x);
  auto fragmentA = thread.partition_fragment_A(sA);
  auto fragmentB = thread.partition_fragment_B(sB);
  auto gC =
      cute::make_tensor(cute::make_gmem_ptr(c),
                        cute::make_layout(cute::Shape<cute::_64, cute::_64>{},
                                          cute::GenRowMajor{}));
  auto tileC = thread.partition_C(gC);
  auto accumulator = thread.make_fragment_C(tileC);
  cute::clear(accumulator);
  cute::warpgroup_arrive();
  cute::gemm(mma, fragmentA, fragmentB, accumulator);
  cute::warpgroup_commit_batch();
  cute::warpgroup_wait<0>();
  cute::copy(accumulator, tileC);
}

} // namespace

void launch(const Element *a, const Element *b, float *c) {
  product<<<1, 128>>>(a, b, c);
}
