//===- OperandCopies.cuh - Copies of f32 operands along K ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand [batches, rows, k] of f32 at any strides is copied to [batches,
// rows, depth], with K filled up with zeros to 16 bytes. A copy may be followed
// by the small parts of its elements, which strict products read.
//
// Both kernels store vectors of 16 bytes, and load them where the operand's
// strides allow it.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_OPERANDCOPIES_CUH
#define FACT_CUTLASS_OPERANDCOPIES_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include <algorithm>

namespace fact::sm90 {

/// An operand of f32 and its copy.
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
  /// Whether each row, or column, of the operand begins at 16 bytes.
  __device__ __forceinline__ bool is_aligned() const {
    return reinterpret_cast<uintptr_t>(from) % 16 == 0 && stride % 4 == 0 &&
           batch_stride % 4 == 0;
  }
};

inline constexpr int convert_threads = 256;
/// Vectors per thread of a copy.
inline constexpr int copy_vectors = 4;
/// Rows and columns of a tile that a block transposes.
inline constexpr int transpose_tile = 64;

FACT_DEVICE float4 get_small_parts(float4 x) {
  return {small_part(x.x), small_part(x.y), small_part(x.z), small_part(x.w)};
}

/// Stores four elements of the copy, and their small parts behind all of it.
template <bool Splits>
FACT_DEVICE void store_copied(ConvertParams const &params, float *to,
                              float4 x) {
  *reinterpret_cast<float4 *>(to) = x;
  if constexpr (Splits)
    *reinterpret_cast<float4 *>(to + params.count_elements()) =
        get_small_parts(x);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Loads the elements of a row from `k`, and zeros behind its end.
FACT_DEVICE float4 load_row(float const *row, int k, int end, bool is_aligned) {
  if (is_aligned && k + 4 <= end)
    return __ldg(reinterpret_cast<float4 const *>(row + k));
  float4 x;
  x.x = k < end ? __ldg(row + k) : 0.0f;
  x.y = k + 1 < end ? __ldg(row + k + 1) : 0.0f;
  x.z = k + 2 < end ? __ldg(row + k + 2) : 0.0f;
  x.w = k + 3 < end ? __ldg(row + k + 3) : 0.0f;
  return x;
}

/// Copies rows. A block has consecutive vectors of the copy, so that short rows
/// leave no threads idle.
template <bool Splits>
__global__ void __launch_bounds__(convert_threads)
    copy_operand(ConvertParams params) {
  // The block's first vector by a wide division, the others by narrow ones.
  constexpr int of_block = convert_threads * copy_vectors;
  uint32_t vectors = params.depth / 4, rows = params.rows;
  int64_t first = int64_t(blockIdx.x) * of_block;
  int64_t first_line = first / vectors;
  int64_t first_batch = first_line / rows;
  uint32_t vector = uint32_t(first - first_line * vectors) + threadIdx.x;
  uint32_t row = uint32_t(first_line - first_batch * rows);
  bool is_aligned = params.is_aligned();

  float4 x[copy_vectors];
#pragma unroll
  for (int i = 0; i < copy_vectors; ++i) {
    uint32_t place = vector + i * convert_threads;
    uint32_t line = place / vectors, batch = (row + line) / rows;
    if (first_batch + batch < params.batches)
      x[i] =
          load_row(params.from + (first_batch + batch) * params.batch_stride +
                       int64_t(row + line - batch * rows) * params.stride,
                   int(place - line * vectors) * 4, params.k, is_aligned);
  }
#pragma unroll
  for (int i = 0; i < copy_vectors; ++i) {
    int64_t place = (first + i * convert_threads + threadIdx.x) * 4;
    if (place < params.count_elements())
      store_copied<Splits>(params, params.to + place, x[i]);
  }
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

using TransposedTile = float[transpose_tile][transpose_tile + 1];

/// Loads a tile of [k, row] into shared memory as [row, k], four rows at once.
FACT_DEVICE void load_vectors(ConvertParams const &params, float const *from,
                              int64_t row, int64_t k, TransposedTile &tile) {
  constexpr int across = transpose_tile / 4;
  constexpr int loads = transpose_tile * across / convert_threads;
  float4 x[loads];
  int r = int(threadIdx.x) % across * 4, first = int(threadIdx.x) / across;
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    int64_t place = k + first + i * (convert_threads / across);
    x[i] = float4{0.0f, 0.0f, 0.0f, 0.0f};
    if (place < params.k && row + r < params.rows)
      x[i] = load_row(from + place * params.stride + row, r,
                      int(params.rows - row), /*is_aligned=*/true);
  }
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    int column = first + i * (convert_threads / across);
    tile[r][column] = x[i].x;
    tile[r + 1][column] = x[i].y;
    tile[r + 2][column] = x[i].z;
    tile[r + 3][column] = x[i].w;
  }
}

/// The same, one row at a time.
FACT_DEVICE void load_elements(ConvertParams const &params, float const *from,
                               int64_t row, int64_t k, TransposedTile &tile) {
  constexpr int loads = transpose_tile * transpose_tile / convert_threads;
  constexpr int step = convert_threads / transpose_tile;
  float x[loads];
  int r = int(threadIdx.x) % transpose_tile;
  int first = int(threadIdx.x) / transpose_tile;
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    int64_t place = k + first + i * step;
    x[i] = place < params.k && row + r < params.rows
               ? __ldg(from + place * params.stride + row + r)
               : 0.0f;
  }
#pragma unroll
  for (int i = 0; i < loads; ++i)
    tile[r][first + i * step] = x[i];
}

/// Transposes tiles through shared memory.
template <bool Splits>
__global__ void __launch_bounds__(convert_threads)
    transpose_operand(ConvertParams params) {
  __shared__ TransposedTile tile;
  constexpr int across = transpose_tile / 4;
  int64_t row = int64_t(blockIdx.x) * transpose_tile;
  bool is_aligned = params.is_aligned();
  for (int64_t batch = blockIdx.z; batch < params.batches; batch += gridDim.z)
    for (int64_t k = int64_t(blockIdx.y) * transpose_tile; k < params.depth;
         k += int64_t(gridDim.y) * transpose_tile) {
      float const *from = params.from + batch * params.batch_stride;
      if (is_aligned)
        load_vectors(params, from, row, k, tile);
      else
        load_elements(params, from, row, k, tile);
      __syncthreads();
      int column = int(threadIdx.x) % across * 4;
#pragma unroll
      for (int r = int(threadIdx.x) / across; r < transpose_tile;
           r += convert_threads / across)
        if (row + r < params.rows && k + column < params.depth) {
          float *to =
              params.to + (batch * params.rows + row + r) * params.depth + k;
          float const *x = &tile[r][column];
          store_copied<Splits>(params, to + column,
                               float4{x[0], x[1], x[2], x[3]});
        }
      __syncthreads();
    }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// A copy of an operand. `AlongK` says how the operand itself lies, and
/// `Splits` whether small parts follow.
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
    auto tiles = [](int64_t extent, int64_t tile) {
      return unsigned((extent + tile - 1) / tile);
    };
    dim3 grid(1, 1, 1);
    if (AlongK) {
      grid.x =
          tiles(params.count_elements(), 4 * copy_vectors * convert_threads);
    } else {
      // What exceeds a grid's limits loops.
      grid.x = tiles(params.rows, transpose_tile);
      grid.y = std::min(tiles(params.depth, transpose_tile), 65535u);
      grid.z = unsigned(std::min(params.batches, 65535));
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

} // namespace fact::sm90

#endif // FACT_CUTLASS_OPERANDCOPIES_CUH
