//===- Pointwise.cuh - Elementwise kernels over strided tensors -*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each index of an index space and each result r:  D_r = f_r(operands...).
// Broadcasts are strides of 0, permutations and slices are other strides.
//
//   // y[b, t, c] = x[b, t, c] * scale[c]
//   #include "fact/cutlass/Pointwise.cuh"
//
//   namespace fact::pointwise_0 {
//
//   struct Body {
//     FACT_DEVICE float apply(float x, float scale) { return x * scale; }
//   };
//
//   using Kernel = Pointwise<
//       Extents<65536, 768>,
//       Operands<Strided<0, bf16, Strides<768, 1>>,
//                Strided<1, bf16, Strides<0, 1>>>,
//       Results<Result<Body, Strided<2, bf16, Strides<768, 1>>>>,
//       PointwiseSchedule<256, 8, 2>>;  // threads, vector, vectors a thread
//
//   FACT_KERNEL(pointwise_0, Kernel)
//
//   } // namespace fact::pointwise_0
//
// Functors take float for 16-bit floats and the element's own type otherwise.
// A copy has the functor `Identity`. The vector divides the innermost extent;
// a tensor whose innermost stride is 1 moves in vectors, one whose stride is 0
// is read once, any other is read element by element.
//
// An operand may be chosen by indices, as in an embedding: `Gathered` views the
// rows of a table that another buffer names.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_POINTWISE_CUH
#define FACT_CUTLASS_POINTWISE_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include "Vector.cuh"

namespace fact {

/// Sizes of the index space, innermost last.
template <int64_t... Sizes> struct Extents {
  static constexpr int rank = sizeof...(Sizes);
  static constexpr int64_t sizes[] = {Sizes...};
  static constexpr int64_t total = (Sizes * ...);
  static_assert(rank >= 1 && rank <= 8, "collapse the index space to rank 8");
};

template <int64_t... Values> struct Strides {
  static constexpr int rank = sizeof...(Values);
  static constexpr int64_t values[] = {Values...};
};

/// A tensor with a stride for each dimension of the index space.
template <int Buffer, class Element, class Strides_, int64_t Offset = 0>
struct Strided : View<Buffer, Element, Offset> {
  using Strides = Strides_;
  static constexpr int64_t inner_stride = Strides::values[Strides::rank - 1];

  /// True if vectors of `Count` are contiguous and aligned.
  template <int Count> static constexpr bool moves_in_vectors() {
    bool aligned = inner_stride == 1 && Offset % Count == 0;
    for (int i = 0; i < Strides::rank - 1; ++i)
      aligned &= Strides::values[i] % Count == 0;
    return aligned;
  }
};

/// How a gather takes slices of a buffer [outer, Size, Inner] by `Count` indices
/// of another: element [a, i, b] is source[a, indices[i], b].
template <int Buffer, class Index_, int64_t Count, int64_t Size, int64_t Inner>
struct Indices {
  using Index = Index_;
  static constexpr int buffer = Buffer;
  static constexpr int64_t count = Count, size = Size, inner = Inner;
};

/// A view of what a gather gives. An index outside of the source gives NaN, and
/// 0 where there is none.
template <int Buffer, class Element, class Strides_, int64_t Offset,
          class Indices_>
struct Gathered : Strided<Buffer, Element, Strides_, Offset> {
  using Indices = Indices_;

  template <int Count> static constexpr bool moves_in_vectors() {
    return Strided<Buffer, Element, Strides_,
                   Offset>::template moves_in_vectors<Count>() &&
           Indices::inner % Count == 0;
  }

  /// Where element `position` of the gathered tensor is, or -1.
  FACT_DEVICE int64_t find(void *const *buffers, int64_t position) {
    int64_t column = position % Indices::inner;
    int64_t row = position / Indices::inner;
    int64_t index = __ldg(static_cast<typename Indices::Index const *>(
                              buffers[Indices::buffer]) +
                          row % Indices::count);
    if (index < 0 || index >= Indices::size)
      return -1;
    return (row / Indices::count * Indices::size + index) * Indices::inner +
           column;
  }
};

template <class Tensor> struct buffers_of {
  static constexpr int highest = Tensor::buffer;
};
template <int B, class E, class S, int64_t O, class I>
struct buffers_of<Gathered<B, E, S, O, I>> {
  static constexpr int highest = B > I::buffer ? B : I::buffer;
};

template <class Tensor> struct is_gathered : std::false_type {};
template <int B, class E, class S, int64_t O, class I>
struct is_gathered<Gathered<B, E, S, O, I>> : std::true_type {};

/// What an index outside of a source gives.
template <class Value> FACT_DEVICE Value missing_value() {
  if constexpr (std::is_floating_point_v<Value>)
    return static_cast<Value>(NAN);
  else
    return Value(0);
}

template <int Threads, int Vector, int VectorsPerThread>
struct PointwiseSchedule {
  static constexpr int threads = Threads, vector = Vector,
                       vectors_per_thread = VectorsPerThread;
  static_assert(Threads % 32 == 0 && Threads <= 1024,
                "a block has whole warps and at most 1024 threads");
  static_assert((Vector & (Vector - 1)) == 0, "a vector is a power of two");
};

template <class Extents, class OperandList, class ResultList, class Schedule>
class Pointwise;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    pointwise_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Extents, class... Tensors, class... List, class Schedule>
class Pointwise<Extents, Operands<Tensors...>, Results<List...>, Schedule> {
  static constexpr int vector = Schedule::vector;
  static constexpr int per_thread = Schedule::vectors_per_thread;
  static constexpr int64_t vectors = Extents::total / vector;
  // Index arithmetic is a chain of divisions by constants: 32 bits are cheaper.
  using Index = std::conditional_t<(Extents::total < INT32_MAX), uint32_t,
                                   uint64_t>;

  static_assert(Extents::sizes[Extents::rank - 1] % vector == 0,
                "the innermost extent must be a multiple of the vector");
  static_assert(((Tensors::Strides::rank == Extents::rank) && ...) &&
                    ((List::Tensor::Strides::rank == Extents::rank) && ...),
                "a tensor needs one stride for each dimension");

public:
  template <class Tensor> struct Highest {
    static constexpr int buffer = buffers_of<Tensor>::highest;
  };
  static constexpr int buffer_count =
      count_buffers<Highest<Tensors>..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = Schedule::threads;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    for (int i = 0; i < buffer_count; ++i) {
      if (vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t per_block = int64_t(block_threads) * per_thread;
    constexpr int64_t blocks = (vectors + per_block - 1) / per_block;
    static_assert(blocks < INT32_MAX, "too many elements for one grid: use more "
                                      "vectors a thread");
    return launch_kernel(&pointwise_kernel<Pointwise>, dim3(unsigned(blocks)),
                         dim3(1), dim3(block_threads), 0, state, stream);
  }

  FACT_DEVICE void run(State const &state) {
    run(state, std::index_sequence_for<Tensors...>{});
  }

private:
  /// All of a thread's loads come before its first use of any.
  template <size_t... I>
  FACT_DEVICE void run(State const &state, std::index_sequence<I...>) {
    Slots<std::index_sequence<I...>> operands[per_thread];
    Index first = Index(blockIdx.x) * (block_threads * per_thread) + threadIdx.x;
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      Index index = first + v * block_threads;
      if (is_inside(index))
        (load<Tensors>(state, index, slot<I, Tensors>(operands[v])), ...);
    }
#pragma unroll
    for (int v = 0; v < per_thread; ++v) {
      Index index = first + v * block_threads;
      if (is_inside(index))
        (store<List>(state, index, slot<I, Tensors>(operands[v])...), ...);
    }
  }

  /// One vector of each operand: a tuple that stays in registers.
  template <size_t I, class Tensor> struct Slot {
    Compute<typename Tensor::Element> values[vector];
  };
  template <class Indices> struct Slots;
  template <size_t... I>
  struct Slots<std::index_sequence<I...>> : Slot<I, Tensors>... {};
  template <size_t I, class Tensor>
  FACT_DEVICE Compute<typename Tensor::Element> *slot(Slot<I, Tensor> &slot) {
    return slot.values;
  }

  /// Free where the grid divides the index space.
  FACT_DEVICE bool is_inside(Index index) {
    return vectors % (int64_t(block_threads) * per_thread) == 0 ||
           index < Index(vectors);
  }

  /// The offset in elements of the vector's first element.
  template <class Tensor> FACT_DEVICE int64_t offset_of(Index index) {
    int64_t offset = Tensor::offset;
    Index rest = index * vector;
#pragma unroll
    for (int d = Extents::rank - 1; d > 0; --d) {
      Index size = Index(extent(d));
      offset += int64_t(rest % size) * stride<Tensor>(d);
      rest /= size;
    }
    return offset + int64_t(rest) * stride<Tensor>(0);
  }

  // By value: static arrays have no address on the device.
  static constexpr __device__ int64_t extent(int dimension) {
    return at(Extents{}, dimension);
  }
  template <class Tensor>
  static constexpr __device__ int64_t stride(int dimension) {
    return at(typename Tensor::Strides{}, dimension);
  }
  template <template <int64_t...> class List_, int64_t... Values_>
  static constexpr __device__ int64_t at(List_<Values_...>, int dimension) {
    int64_t result = 0;
    int i = 0;
    ((result = i++ == dimension ? Values_ : result), ...);
    return result;
  }

  template <class Tensor>
  FACT_DEVICE void load(State const &state, Index index,
                        Compute<typename Tensor::Element> *values) {
    int64_t offset = offset_of<Tensor>(index);
    auto const *base = static_cast<typename Tensor::Element const *>(
        state.buffers[Tensor::buffer]);
    auto const *source = base + offset;
    if constexpr (is_gathered<Tensor>::value) {
      load_gathered<Tensor>(state, base, offset, values);
    } else if constexpr (Tensor::template moves_in_vectors<vector>()) {
      load_vector<vector>(source, values);
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        values[i] = widen(source[i * Tensor::inner_stride]);
    }
  }

  template <class Tensor>
  FACT_DEVICE void load_gathered(State const &state,
                                 typename Tensor::Element const *base,
                                 int64_t offset,
                                 Compute<typename Tensor::Element> *values) {
    using Value = Compute<typename Tensor::Element>;
    if constexpr (Tensor::template moves_in_vectors<vector>()) {
      int64_t place = Tensor::find(state.buffers, offset);
      if (place >= 0)
        return load_vector<vector>(base + place, values);
#pragma unroll
      for (int i = 0; i < vector; ++i)
        values[i] = missing_value<Value>();
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i) {
        int64_t place =
            Tensor::find(state.buffers, offset + i * Tensor::inner_stride);
        values[i] = place < 0 ? missing_value<Value>() : widen(base[place]);
      }
    }
  }

  template <class Result, class... Arguments>
  FACT_DEVICE void store(State const &state, Index index,
                         Arguments const *...operands) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    auto *destination =
        static_cast<Element *>(state.buffers[Tensor::buffer]) +
        offset_of<Tensor>(index);
    decltype(Result::Functor::apply(operands[0]...)) values[vector];
#pragma unroll
    for (int i = 0; i < vector; ++i)
      values[i] = Result::Functor::apply(operands[i]...);
    if constexpr (Tensor::template moves_in_vectors<vector>()) {
      store_vector<vector>(destination, values);
    } else {
#pragma unroll
      for (int i = 0; i < vector; ++i)
        destination[i * Tensor::inner_stride] = narrow<Element>(values[i]);
    }
  }
};

} // namespace fact

#endif // FACT_CUTLASS_POINTWISE_CUH
