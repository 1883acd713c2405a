//===- Float32.cuh - Operands of f32 as wgmma reads them -------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma multiplies 32-bit operands as TF32, and reads them along K only. One
// that does not lie so, or that TMA cannot address, is copied first.
//
// In TF32, TMA rounds operands to nearest on their way to shared memory.
//
// Strict products (StrictMainloop.cuh) take them as they are.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_FLOAT32_CUH
#define FACT_CUTLASS_FLOAT32_CUH

#include "StrictMainloop.cuh"
#include <algorithm>

namespace fact {

/// An operand of f32 that a kernel copies before it multiplies: one that does
/// not lie along K, or that TMA cannot address.
template <class Tensor> struct Copied : Tensor {};
template <class Tensor>
struct is_row_major<Copied<Tensor>> : is_row_major<Tensor> {};

namespace sm90 {

//===----------------------------------------------------------------------===//
// Copies along K
//===----------------------------------------------------------------------===//

/// An operand of f32 and its copy along K: [batches, rows, depth], with K
/// filled up with zeros to 16 bytes.
struct ConvertParams {
  float const *from;
  float *to;
  int rows, k, depth, batches;
  /// Of the operand: between its rows, or its columns if they are contiguous,
  /// and between batches.
  int64_t stride, batch_stride;

  constexpr int64_t count_elements() const {
    return int64_t(batches) * rows * depth;
  }
  /// Between batches of the copy.
  constexpr int64_t get_copy_stride() const {
    return batches == 1 ? 0 : int64_t(rows) * depth;
  }
};

/// Threads of a block. A warp copies 32 vectors of a row, and a block
/// transposes a tile of 32 x 32 elements.
inline constexpr int convert_threads = 256, convert_tile = 32,
                     convert_lines = convert_threads / convert_tile;

FACT_DEVICE float4 get_small_parts(float4 x) {
  return {small_part(x.x), small_part(x.y), small_part(x.z), small_part(x.w)};
}

/// Copies rows.
template <bool Splits>
__global__ void __launch_bounds__(convert_threads)
    copy_operand(ConvertParams params) {
  int lane = threadIdx.x % convert_tile, line = threadIdx.x / convert_tile;
  int64_t k = (int64_t(blockIdx.x) * convert_tile + lane) * 4;
  if (k >= params.depth)
    return;
  for (int64_t batch = blockIdx.z; batch < params.batches; batch += gridDim.z)
    for (int64_t row = blockIdx.y * convert_lines + line; row < params.rows;
         row += gridDim.y * convert_lines) {
      float const *from =
          params.from + batch * params.batch_stride + row * params.stride + k;
      float4 x;
      if (reinterpret_cast<uintptr_t>(from) % 16 == 0 && k + 4 <= params.k) {
        x = __ldg(reinterpret_cast<float4 const *>(from));
      } else {
        x.x = __ldg(from);
        x.y = k + 1 < params.k ? __ldg(from + 1) : 0.0f;
        x.z = k + 2 < params.k ? __ldg(from + 2) : 0.0f;
        x.w = k + 3 < params.k ? __ldg(from + 3) : 0.0f;
      }
      float *to = params.to + (batch * params.rows + row) * params.depth + k;
      *reinterpret_cast<float4 *>(to) = x;
      if constexpr (Splits)
        *reinterpret_cast<float4 *>(to + params.count_elements()) =
            get_small_parts(x);
    }
}

/// Transposes tiles through shared memory.
template <bool Splits>
__global__ void __launch_bounds__(convert_threads)
    transpose_operand(ConvertParams params) {
  __shared__ float tile[convert_tile][convert_tile + 1];
  int lane = threadIdx.x % convert_tile, line = threadIdx.x / convert_tile;
  int64_t row = int64_t(blockIdx.x) * convert_tile;
  for (int64_t batch = blockIdx.z; batch < params.batches; batch += gridDim.z)
    for (int64_t k = int64_t(blockIdx.y) * convert_tile; k < params.depth;
         k += int64_t(gridDim.y) * convert_tile) {
      float const *from = params.from + batch * params.batch_stride;
#pragma unroll
      for (int i = line; i < convert_tile; i += convert_lines)
        tile[i][lane] =
            k + i < params.k && row + lane < params.rows
                ? __ldg(from + (k + i) * params.stride + row + lane)
                : 0.0f;
      __syncthreads();
#pragma unroll
      for (int i = line; i < convert_tile; i += convert_lines)
        if (row + i < params.rows && k + lane < params.depth) {
          float *to = params.to +
                      (batch * params.rows + row + i) * params.depth + k + lane;
          *to = tile[lane][i];
          if constexpr (Splits)
            to[params.count_elements()] = small_part(tile[lane][i]);
        }
      __syncthreads();
    }
}

/// A copy of an operand, which may be followed by its small parts. `AlongK`
/// says how the operand itself lies.
template <class Tensor, bool AlongK, bool Splits = false> struct Conversion {
  /// The copy without addresses.
  static constexpr ConvertParams measure(Sizes sizes, int64_t rows, int64_t k,
                                         int64_t batches) {
    int64_t batch_stride = sizes(Tensor::batch_stride);
    return {nullptr,
            nullptr,
            int(sizes(rows)),
            int(sizes(k)),
            int((sizes(k) + 3) / 4 * 4),
            batch_stride == 0 ? 1 : int(sizes(batches)),
            sizes(Tensor::leading_dimension),
            batch_stride};
  }
  static constexpr uint64_t count_bytes(ConvertParams const &params) {
    return params.count_elements() * sizeof(float) * (Splits ? 2 : 1);
  }

  static int launch(ConvertParams &params, cudaStream_t stream) {
    auto tiles = [](int64_t extent, int tile) {
      return (extent + tile - 1) / tile;
    };
    // What exceeds a grid's limits, or a few blocks per multiprocessor, loops.
    int64_t batches = std::min(params.batches, 65535);
    dim3 grid(1, 1, unsigned(batches));
    if (AlongK) {
      grid.x = unsigned(tiles(params.depth, 4 * convert_tile));
      grid.y = unsigned(std::min(tiles(params.rows, convert_lines),
                                 std::max<int64_t>(
                                     1, 4096 / (grid.x * batches))));
    } else {
      grid.x = unsigned(tiles(params.rows, convert_tile));
      grid.y = unsigned(
          std::min<int64_t>(tiles(params.depth, convert_tile), 65535));
    }
    return launch_kernel(get_kernel(), grid, dim3(1, 1, 1),
                         dim3(convert_threads), 0, params, stream);
  }

private:
  static constexpr auto get_kernel() {
    if constexpr (AlongK)
      return &copy_operand<Splits>;
    else
      return &transpose_operand<Splits>;
  }
};

template <class Tensor> inline constexpr bool is_copied = false;
template <class Tensor> inline constexpr bool is_copied<Copied<Tensor>> = true;

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_FLOAT32_CUH
