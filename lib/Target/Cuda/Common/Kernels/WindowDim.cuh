//===- WindowDim.cuh - A dimension of windows of images --------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CUTLASS_WINDOWDIM_CUH
#define FACT_CUTLASS_WINDOWDIM_CUH

#include <cstdint>

namespace fact {

/// One dimension of images and of their windows: `Extent` elements at `Stride`
/// after `Zeros` zeros, and `Count` windows of `Kernel` taps. Windows begin
/// `Step` elements apart, and taps lie `Dilation` apart.
template <int64_t Extent, int64_t Stride, int64_t Zeros, int64_t Count,
          int64_t Kernel, int64_t Step, int64_t Dilation>
struct WindowDim {
  static constexpr int64_t extent = Extent, stride = Stride, zeros = Zeros,
                           count = Count, kernel = Kernel, step = Step,
                           dilation = Dilation;
};

} // namespace fact

#endif // FACT_CUTLASS_WINDOWDIM_CUH
