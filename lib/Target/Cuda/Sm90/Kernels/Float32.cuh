//===- Float32.cuh - Operands of f32 as wgmma reads them -------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma multiplies 32-bit operands as TF32, and reads them along K only. One
// that does not lie so, or that TMA cannot address, is copied first
// (OperandCopies.cuh).
//
// In TF32, TMA rounds operands to nearest on their way to shared memory.
//
// Strict products (StrictMainloop.cuh) take them as they are.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_FLOAT32_CUH
#define FACT_CUTLASS_FLOAT32_CUH

#include "OperandCopies.cuh"
#include "StrictMainloop.cuh"

namespace fact {

/// An operand of f32 that a kernel copies before it multiplies: one that does
/// not lie along K, or that TMA cannot address.
template <class Tensor> struct Copied : Tensor {};
template <class Tensor>
struct is_row_major<Copied<Tensor>> : is_row_major<Tensor> {};

namespace sm90 {

template <class Tensor> inline constexpr bool is_copied = false;
template <class Tensor> inline constexpr bool is_copied<Copied<Tensor>> = true;

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_FLOAT32_CUH
