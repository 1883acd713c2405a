//===- Thin.cuh - Products with few rows, columns or terms -----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D_r[t, w] = f_r(sum over k of thin[t, k] * wide[w, k], operands...), for each
// batch. The thin factor has few rows; a thread multiplies up to eight of them
// with each element of the wide factor, which is read once from memory, by rows
// or by columns. Products are accumulated in f32, in a fixed order.
//
//   // y[m, n] = sum over k of x[m, k] * weight[n, k] + bias[n], 4 x 4096
//   #include "fact/cutlass/Thin.cuh"
//
//   namespace fact::thin_0 {
//
//   struct Epilogue {
//     FACT_DEVICE float apply(float accumulator, float bias) {
//       return accumulator + bias;
//     }
//   };
//
//   using Kernel = Thin<
//       Extents<1>, ThinProblem<4, 4096, 1024>,        // batches; t, w, k
//       Strided<0, bf16, Strides<0, 1024, 1>>,         // thin: batch, t, k
//       Strided<1, bf16, Strides<0, 1024, 1>>,         // wide: batch, w, k
//       Operands<Strided<2, bf16, Strides<0, 0, 1>>>,  // batch, t, w
//       Results<Result<Epilogue, Strided<3, bf16, Strides<0, 4096, 1>>>>,
//       ThinSchedule<32, 1, 8, true>>;  // lanes, splits, vector, along k
//
//   FACT_KERNEL(thin_0, Kernel)
//
//   } // namespace fact::thin_0
//
// `lanes` threads share the sum of one row of the wide factor, or of a vector
// of rows. Where there are too few rows to fill the machine, `splits` blocks
// share it as well, and a second kernel adds their sums.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_THIN_CUH
#define FACT_CUTLASS_THIN_CUH

#include "Pointwise.cuh"

namespace fact {

/// Rows of the thin factor, rows of the wide factor, terms of a sum.
template <int64_t Thin, int64_t Wide, int64_t K> struct ThinProblem {
  static constexpr int64_t thin = Thin, wide = Wide, k = K;
};

/// Vectors lie along k, or else along the rows of the wide factor.
template <int Lanes, int Splits, int Vector, bool AlongK> struct ThinSchedule {
  static constexpr int threads = 256;
  static constexpr int lanes = Lanes, splits = Splits, vector = Vector;
  static constexpr bool along_k = AlongK;
  static_assert((Lanes & (Lanes - 1)) == 0 && Lanes <= threads,
                "lanes are a power of two");
};

template <class Batches, class Problem, class ThinFactor, class WideFactor,
          class OperandList, class ResultList, class Schedule>
class Thin;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    thin_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::multiply(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    thin_sum_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::add_splits(state);
}

template <class Batches, class Problem, class ThinFactor, class WideFactor,
          class... Tensors, class... List, class Schedule>
class Thin<Batches, Problem, ThinFactor, WideFactor, Operands<Tensors...>,
           Results<List...>, Schedule> {
  static constexpr int threads = Schedule::threads;
  static constexpr int lanes = Schedule::lanes;
  static constexpr int splits = Schedule::splits;
  static constexpr int vector = Schedule::vector;
  static constexpr bool along_k = Schedule::along_k;
  static constexpr int slots = threads / lanes;

  /// Rows of the thin factor per block, and the blocks that have them all.
  static constexpr int tile = Problem::thin < 8 ? int(Problem::thin) : 8;
  static constexpr int64_t tiles = (Problem::thin + tile - 1) / tile;
  /// Rows of the wide factor per thread, and the blocks that have those of all
  /// batches.
  static constexpr int width = along_k ? 1 : vector;
  static constexpr int64_t groups =
      (Batches::total * Problem::wide + slots * width - 1) / (slots * width);
  /// Terms per step of a thread, and per split.
  static constexpr int step = along_k ? vector : 1;
  static constexpr int64_t chunk =
      ((Problem::k + splits - 1) / splits + step - 1) / step * step;
  static constexpr int64_t points =
      Batches::total * Problem::thin * Problem::wide;

  static_assert((along_k ? Problem::k : Problem::wide) % vector == 0,
                "the extent along which vectors lie must be a multiple");

public:
  static constexpr int buffer_count =
      count_buffers<ThinFactor, WideFactor, Tensors...,
                    typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = splits > 1
                                                  ? uint64_t(splits) * points *
                                                        sizeof(float)
                                                  : 0;
  static constexpr int block_threads = threads;

  struct State {
    void *buffers[buffer_count];
    float *partials;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    for (int i = 0; i < buffer_count; ++i) {
      if (vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    state.partials = static_cast<float *>(workspace);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks = tiles * groups * splits;
    static_assert(blocks < INT32_MAX && points < (int64_t(1) << 38),
                  "too many elements for one grid");
    int error = launch_kernel(&thin_kernel<Thin>, dim3(unsigned(blocks)),
                              dim3(1), dim3(threads), 0, state, stream);
    if constexpr (splits > 1) {
      constexpr int64_t sums = (points + threads - 1) / threads;
      if (!error)
        error = launch_kernel(&thin_sum_kernel<Thin>, dim3(unsigned(sums)),
                              dim3(1), dim3(threads), 0, state, stream);
    }
    return error;
  }

  FACT_DEVICE void multiply(State const &state) {
    int64_t block = blockIdx.x;
    int64_t const split = block % splits;
    block /= splits;
    int64_t const group = block % groups;
    int64_t const first = tiles > 1 ? block / groups * tile : 0;
    // Neighboring threads read neighboring elements of the wide factor.
    int const lane = along_k ? threadIdx.x % lanes : threadIdx.x / slots;
    int const slot = along_k ? threadIdx.x / lanes : threadIdx.x % slots;
    int64_t const place = (group * slots + slot) * width;
    int64_t const batch = place / Problem::wide, row = place % Problem::wide;
    bool const inside = batch < Batches::total;

    float sums[tile][width] = {};
    if (inside)
      add_products(state, batch, first, row, split, lane, sums);
    if constexpr (lanes > 1)
      add_lanes(sums, lane, slot);
    if (!inside)
      return;
#pragma unroll
    for (int t = 0; t < tile; ++t)
      if (lane == t % lanes && first + t < Problem::thin)
#pragma unroll
        for (int i = 0; i < width; ++i)
          finish(state, batch, first + t, row + i, split, sums[t][i]);
  }

  /// Adds the sums of all splits, and applies the functors.
  FACT_DEVICE void add_splits(State const &state) {
    int64_t const point = int64_t(blockIdx.x) * threads + threadIdx.x;
    if (point >= points)
      return;
    float sum = 0.0f;
    for (int split = 0; split < splits; ++split)
      sum += state.partials[split * points + point];
    store(state, point / Problem::wide / Problem::thin,
          point / Problem::wide % Problem::thin, point % Problem::wide, sum,
          std::index_sequence_for<Tensors...>{});
  }

private:
  /// Adds the products of one thread: every `lanes`th step of its split.
  FACT_DEVICE void add_products(State const &state, int64_t batch,
                                int64_t first, int64_t row, int64_t split,
                                int lane, float (&sums)[tile][width]) {
    auto const *thin =
        address<ThinFactor>(state, batch) + first * stride<ThinFactor, 1>();
    auto const *wide =
        address<WideFactor>(state, batch) + row * stride<WideFactor, 1>();
    int64_t const begin = split * chunk;
    int64_t const end = begin + chunk < Problem::k ? begin + chunk : Problem::k;
#pragma unroll 4
    for (int64_t k = begin + lane * step; k < end; k += lanes * step) {
      float factors[vector];
      load<WideFactor, vector, (along_k ? 2 : 1)>(
          wide + k * stride<WideFactor, 2>(), factors);
#pragma unroll
      for (int t = 0; t < tile; ++t) {
        // Rows past the last repeat it; their sums are not stored.
        int64_t const thin_row =
            first + t < Problem::thin ? t : Problem::thin - 1 - first;
        float terms[step];
        load<ThinFactor, step, 2>(thin + thin_row * stride<ThinFactor, 1>() +
                                      k * stride<ThinFactor, 2>(),
                                  terms);
        if constexpr (along_k) {
#pragma unroll
          for (int i = 0; i < vector; ++i)
            sums[t][0] = fmaf(terms[i], factors[i], sums[t][0]);
        } else {
#pragma unroll
          for (int i = 0; i < vector; ++i)
            sums[t][i] = fmaf(terms[0], factors[i], sums[t][i]);
        }
      }
    }
  }

  /// Adds the sums of all lanes of a slot. Lane t (modulo the lanes) gets those
  /// of row t of the tile.
  FACT_DEVICE void add_lanes(float (&sums)[tile][width], int lane, int slot) {
    constexpr int together = along_k ? (lanes < 32 ? lanes : 32) : 1;
    constexpr int parts = lanes / together;
    __shared__ float scratch[parts][width][slots];
#pragma unroll
    for (int t = 0; t < tile; ++t) {
#pragma unroll
      for (int i = 0; i < width; ++i)
#pragma unroll
        for (int distance = together / 2; distance > 0; distance /= 2)
          sums[t][i] += __shfl_xor_sync(0xffffffffu, sums[t][i], distance);
      if constexpr (parts > 1) {
        __syncthreads();
        if (lane % together == 0)
#pragma unroll
          for (int i = 0; i < width; ++i)
            scratch[lane / together][i][slot] = sums[t][i];
        __syncthreads();
        if (lane == t % lanes)
#pragma unroll
          for (int i = 0; i < width; ++i) {
            float sum = 0.0f;
            for (int part = 0; part < parts; ++part)
              sum += scratch[part][i][slot];
            sums[t][i] = sum;
          }
      }
    }
  }

  FACT_DEVICE void finish(State const &state, int64_t batch, int64_t t,
                          int64_t w, int64_t split, float sum) {
    if constexpr (splits > 1)
      state.partials[split * points +
                     (batch * Problem::thin + t) * Problem::wide + w] = sum;
    else
      store(state, batch, t, w, sum, std::index_sequence_for<Tensors...>{});
  }

  template <size_t... I>
  FACT_DEVICE void store(State const &state, int64_t batch, int64_t t,
                         int64_t w, float sum, std::index_sequence<I...>) {
    auto at = [&](auto tensor) {
      using Tensor = decltype(tensor);
      return address<Tensor>(state, batch) + t * stride<Tensor, 1>() +
             w * stride<Tensor, 2>();
    };
    auto store_result = [&](auto result) {
      using Result = decltype(result);
      using Element = typename Result::Tensor::Element;
      *at(typename Result::Tensor{}) = narrow<Element>(
          Result::Functor::apply(sum, widen(*at(Tensors{}))...));
    };
    (store_result(List{}), ...);
  }

  /// The first element of a batch.
  template <class Tensor>
  FACT_DEVICE typename Tensor::Element *address(State const &state,
                                                int64_t batch) {
    int64_t offset = Tensor::offset;
#pragma unroll
    for (int d = Batches::rank - 1; d > 0; --d) {
      offset += batch % at(Batches{}, d) * at(typename Tensor::Strides{}, d);
      batch /= at(Batches{}, d);
    }
    offset += batch * at(typename Tensor::Strides{}, 0);
    return static_cast<typename Tensor::Element *>(
               state.buffers[Tensor::buffer]) +
           offset;
  }

  /// The stride of the rows (1) or columns (2) of a batch.
  template <class Tensor, int Dimension>
  static constexpr __device__ int64_t stride() {
    return at(typename Tensor::Strides{}, Batches::rank - 1 + Dimension);
  }
  template <template <int64_t...> class List_, int64_t... Values_>
  static constexpr __device__ int64_t at(List_<Values_...>, int dimension) {
    int64_t result = 0;
    int i = 0;
    ((result = i++ == dimension ? Values_ : result), ...);
    return result;
  }

  /// Whether vectors along a dimension are contiguous and aligned.
  template <class Tensor, int Count, int Dimension>
  static constexpr bool moves_in_vectors() {
    constexpr int inner = Batches::rank - 1 + Dimension;
    bool aligned = Tensor::Strides::values[inner] == 1 &&
                   Tensor::offset % Count == 0 &&
                   sizeof(typename Tensor::Element) * Count <= 16;
    for (int i = 0; i < Tensor::Strides::rank; ++i)
      aligned &= i == inner || Tensor::Strides::values[i] % Count == 0;
    return aligned;
  }

  /// Reads elements that follow each other along a dimension.
  template <class Tensor, int Count, int Dimension>
  FACT_DEVICE void load(typename Tensor::Element const *source, float *values) {
    if constexpr (Count > 1 && moves_in_vectors<Tensor, Count, Dimension>()) {
      load_vector<Count>(source, values);
    } else {
#pragma unroll
      for (int i = 0; i < Count; ++i)
        values[i] = widen(source[i * stride<Tensor, Dimension>()]);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_THIN_CUH
