//===- Instructions.cuh - Instructions of sm_80 and later ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asynchronous copies, matrix loads and matrix products of a warp, each a
// function of one PTX instruction.
//
// A matrix of `load_matrices` is 8 rows of 16 bytes: lane i of eight lanes
// gives the address of row i. Lane i gets word i % 4 of row i / 4; transposed,
// the two 16-bit elements in rows 2 (i % 4) and the next of column i / 4.
//
// A product is of 16 x 8 elements, D += A B. With g = lane / 4, t = lane % 4
// and two 16-bit elements, or one of TF32, per word, a lane holds
//
//   A: rows g, g + 8, g, g + 8 of words t, t, t + 4, t + 4 along K
//   B: columns g of words t, t + 4 along K
//   D: columns 2 t, 2 t + 1 of row g, then of row g + 8
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_INSTRUCTIONS_CUH
#define FACT_CUTLASS_INSTRUCTIONS_CUH

#include "Kernel.cuh"

namespace fact {

/// The address of a pointer into shared memory, as instructions take it.
FACT_DEVICE uint32_t shared_address(void const *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// Starts to copy `given` of 4, 8 or 16 bytes to shared memory; the others
/// become 0. Both addresses are multiples of `Bytes`.
template <int Bytes>
FACT_DEVICE void copy_async(uint32_t shared, void const *global, int given) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16,
                "as cp.async has them");
  // Past the first-level cache, which has no use for whole lines.
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;" ::"r"(shared),
                 "l"(global), "n"(Bytes), "r"(given));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared),
                 "l"(global), "n"(Bytes), "r"(given));
}

/// Makes the copies since the last call one group.
FACT_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;"); }

/// Waits for the own copies of all but the newest `Groups` groups.
template <int Groups> FACT_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups));
}

//===----------------------------------------------------------------------===//
// Matrix loads
//===----------------------------------------------------------------------===//

/// Four matrices: lanes 8 i to 8 i + 7 address matrix i, which becomes word i.
FACT_DEVICE void load_matrices(uint32_t (&words)[4], uint32_t shared) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "r"(shared));
}

FACT_DEVICE void load_matrices_transposed(uint32_t (&words)[4],
                                          uint32_t shared) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "r"(shared));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// The 32-bit elements of TF32.
struct Tf32 {};

/// D += A B, with 16 elements of `Element` along K, or 8 of TF32.
template <class Element>
FACT_DEVICE void multiply(float (&d)[4], uint32_t const (&a)[4], uint32_t b0,
                          uint32_t b1) {
  if constexpr (std::is_same_v<Element, bf16>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
  else if constexpr (std::is_same_v<Element, f16>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                   "r"(b1));
}

/// The nearest TF32 number, ties away from 0.
FACT_DEVICE uint32_t round_to_tf32(float value) {
  uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(value));
  return word;
}

} // namespace fact

#endif // FACT_CUTLASS_INSTRUCTIONS_CUH
