//===- WarpgroupInstructions.cuh - Instructions of sm_90a ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers in shared memory, bulk copies and matrix products of a warpgroup,
// each a function of one PTX instruction.
//
// A product is of 64 x N elements of TF32, D = A B or D += A B, with 8 elements
// along K. Warp i of the four has rows 16 i to 16 i + 15 of A and D, in the
// fragments of mma.sync that Instructions.cuh describes: `a` as there, and
// `d[j]` for columns 8 j to 8 j + 7.
//
// B lies in shared memory along K, without a swizzle: 8 columns of B, 16 bytes
// of each, are one matrix of 128 contiguous bytes.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_WARPGROUPINSTRUCTIONS_CUH
#define FACT_CUTLASS_WARPGROUPINSTRUCTIONS_CUH

#include "Instructions.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Barriers
//
// A barrier is 8 bytes. Its phase ends after `count` arrivals and the copies
// that they announced. The first phase has parity 0, the next one 1.
//===----------------------------------------------------------------------===//

FACT_DEVICE void init_barrier(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier),
               "r"(count)
               : "memory");
}

/// Shows initialized barriers to copies; other threads need __syncthreads.
FACT_DEVICE void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

FACT_DEVICE void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier)
               : "memory");
}

/// Arrives, and announces copies of `bytes` bytes.
FACT_DEVICE void arrive_with_bytes(uint32_t barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
      "r"(bytes)
      : "memory");
}

/// Whether the phase of this parity has ended; may wait for some time.
FACT_DEVICE bool try_barrier(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; "
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
               "selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done;
}

FACT_DEVICE void wait_for_barrier(uint32_t barrier, uint32_t parity) {
  while (!try_barrier(barrier, parity)) {
  }
}

/// Starts to copy to shared memory, and reports to `barrier`. Addresses and
/// `bytes` are multiples of 16.
FACT_DEVICE void copy_bulk(uint32_t shared, void const *global, uint32_t bytes,
                           uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(shared),
               "l"(global), "r"(bytes), "r"(barrier)
               : "memory");
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Raises the registers per thread of a warpgroup; waits for others to give
/// theirs.
template <int Count> FACT_DEVICE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

/// Lowers the registers per thread of a warpgroup.
template <int Count> FACT_DEVICE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//
//   keep(a), begin_products(), multiply_tile(d, ...), ..., commit_products(),
//   wait_for_products(), keep(d), keep(a)
//===----------------------------------------------------------------------===//

/// Keeps the compiler from moving accesses of registers across, which products
/// read and write until they are waited for.
FACT_DEVICE void keep(float &x) { asm volatile("" : "+f"(x)::"memory"); }
FACT_DEVICE void keep(uint32_t &x) { asm volatile("" : "+r"(x)::"memory"); }
template <class T, int Count> FACT_DEVICE void keep(T (&registers)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    keep(registers[i]);
}

/// Orders accesses of registers before the products that follow.
FACT_DEVICE void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

FACT_DEVICE void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

FACT_DEVICE void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/// Describes B: `column_step` bytes between matrices that are neighbors along
/// N, `depth_step` between the two along K.
FACT_DEVICE uint64_t describe_tile(uint32_t shared, uint32_t column_step,
                                   uint32_t depth_step) {
  return uint64_t(shared >> 4) | uint64_t(depth_step >> 4) << 16 |
         uint64_t(column_step >> 4) << 32;
}

FACT_DEVICE void multiply_tile(float (&d)[4][4], uint32_t const (&a)[4],
                               uint64_t b, bool adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %21, 0; "
               "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
               "%12, %13, %14, %15}, "
               "{%16, %17, %18, %19}, %20, p, 1, 1; }"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]),
                 "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]),
                 "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
                 "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
                 "r"(uint32_t(adds)));
}

FACT_DEVICE void multiply_tile(float (&d)[8][4], uint32_t const (&a)[4],
                               uint64_t b, bool adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0; "
               "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
               "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
               "%24, %25, %26, %27, %28, %29, %30, %31}, "
               "{%32, %33, %34, %35}, %36, p, 1, 1; }"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]),
                 "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]),
                 "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
                 "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]),
                 "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]),
                 "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
                 "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
                 "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
                 "r"(uint32_t(adds)));
}

FACT_DEVICE void multiply_tile(float (&d)[12][4], uint32_t const (&a)[4],
                               uint64_t b, bool adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %53, 0; "
               "wgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
               "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
               "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
               "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
               "{%48, %49, %50, %51}, %52, p, 1, 1; }"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]),
                 "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]),
                 "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
                 "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]),
                 "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]),
                 "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
                 "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
                 "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3]),
                 "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]),
                 "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]),
                 "+f"(d[10][0]), "+f"(d[10][1]), "+f"(d[10][2]), "+f"(d[10][3]),
                 "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
                 "r"(uint32_t(adds)));
}

FACT_DEVICE void multiply_tile(float (&d)[16][4], uint32_t const (&a)[4],
                               uint64_t b, bool adds) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %69, 0; "
               "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
               "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "
               "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
               "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, "
               "%60, %61, %62, %63}, "
               "{%64, %65, %66, %67}, %68, p, 1, 1; }"
               : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]),
                 "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]),
                 "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
                 "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]),
                 "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]),
                 "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
                 "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]),
                 "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3]),
                 "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]),
                 "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]),
                 "+f"(d[10][0]), "+f"(d[10][1]), "+f"(d[10][2]), "+f"(d[10][3]),
                 "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]),
                 "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]),
                 "+f"(d[13][0]), "+f"(d[13][1]), "+f"(d[13][2]), "+f"(d[13][3]),
                 "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]),
                 "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),
                 "r"(uint32_t(adds)));
}

} // namespace fact

#endif // FACT_CUTLASS_WARPGROUPINSTRUCTIONS_CUH
