//===- Scatter.cuh - Elements at computed places ---------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The result is a source [outer, size, inner] whose rows are replaced by, or
// combined with, updates [outer, count, inner]: update k goes to row
// indices[k], or nowhere if there is no such row. Updates apply in their order,
// whatever the order of threads.
//
//   // index_add of a million rows
//   #include "fact/cutlass/ScatterSorted.cuh"
//
//   namespace fact::scatter_0 {
//   using Kernel = ScatterSorted<
//       Scatter<ScatterShape<1, 100000, 64, 1000000>, f32, RunningSum,
//               Stored<0>, RowIndices<1, i64>, Stored<2>, 3>,  // result: 3
//       4, 32, 0>;    // vector, chunk, rows of a block that sorts at once
//   FACT_KERNEL(scatter_0, Kernel)
//   } // namespace fact::scatter_0
//
// `ScatterSearch` compares each row with all indices: for a few updates.
// `ScatterLast` finds the last update of each row first: for `Last`.
// `ScatterSorted` sorts updates by row: for all else.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SCATTER_CUH
#define FACT_CUTLASS_SCATTER_CUH

#include "Scan.cuh"
#include "StridedTensors.cuh"

namespace fact {

/// The new element replaces the old one.
struct Last {
  template <class T> FACT_DEVICE T apply(T, T b) { return b; }
};

template <int64_t Outer, int64_t Size, int64_t Inner, int64_t Count>
struct ScatterShape {
  static constexpr int64_t outer = Outer, size = Size, inner = Inner;
  static constexpr int64_t count = Count;
};

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Elements in memory.
template <int Buffer> struct Stored {
  template <class Element, int Vector>
  FACT_DEVICE void load(void *const *buffers, int64_t place,
                        Compute<Element> *values) {
    load_vector<Vector>(static_cast<Element const *>(buffers[Buffer]) + place,
                        values);
  }
};

/// Elements in memory that are repeated, or lie apart: a view of the operand's
/// shape in row-major order.
template <int Buffer, class Extents, class Strides, int64_t Offset = 0>
struct Viewed {
  static constexpr int last = Extents::rank - 1;
  static constexpr int64_t stride = Strides::values[last];
  static_assert(Extents::total < UINT32_MAX,
                "elements are numbered by 32 bits");

  template <int Vector> static constexpr bool moves_in_vectors() {
    bool aligned = stride == 1 && Offset % Vector == 0;
    for (int i = 0; i < last; ++i)
      aligned &= Strides::values[i] % Vector == 0;
    return aligned;
  }

  template <class Element, int Vector>
  FACT_DEVICE void load(void *const *buffers, int64_t place,
                        Compute<Element> *values) {
    using Places = Grid<Extents, Strides>;
    auto const *source = static_cast<Element const *>(buffers[Buffer]) + Offset;
    constexpr bool is_inside = Extents::sizes[last] % Vector == 0;
    if constexpr (is_inside && moves_in_vectors<Vector>()) {
      load_vector<Vector>(source + Places::offset_of(unsigned(place)), values);
    } else if constexpr (is_inside && stride == 0) {
      load_vector<1>(source + Places::offset_of(unsigned(place)), values);
#pragma unroll
      for (int i = 1; i < Vector; ++i)
        values[i] = values[0];
    } else {
#pragma unroll
      for (int i = 0; i < Vector; ++i)
        load_vector<1>(source + Places::offset_of(unsigned(place + i)),
                       values + i);
    }
  }
};

/// Elements that are all `Constant::value()`.
template <class Constant> struct Filled {
  template <class Element, int Vector>
  FACT_DEVICE void load(void *const *, int64_t, Compute<Element> *values) {
#pragma unroll
    for (int i = 0; i < Vector; ++i)
      values[i] = Constant::value();
  }
};

/// The row of each update.
template <int Buffer, class Element> struct RowIndices {
  static constexpr int buffer = Buffer;
  FACT_DEVICE int64_t get(void const *indices, int64_t update) {
    // CUDA's name of 64 bits.
    using Loaded = std::conditional_t<sizeof(Element) == 8, long long, int>;
    return __ldg(static_cast<Loaded const *>(indices) + update);
  }
};

//===----------------------------------------------------------------------===//
// What all forms share
//===----------------------------------------------------------------------===//

template <class Shape_, class Element_, class Operation_, class Source_,
          class Indices_, class Updates_, int ResultBuffer>
struct Scatter {
  using Shape = Shape_;
  using Element = Element_;
  using Value = Compute<Element>;
  using Operation = Operation_;
  using Source = Source_;
  using Indices = Indices_;
  using Updates = Updates_;
  /// Long sums of floats need more than their own precision.
  using Sum = std::conditional_t<std::is_same_v<Operation, RunningSum> &&
                                     std::is_same_v<Value, float>,
                                 double, Value>;
  static constexpr int result_buffer = ResultBuffer;

  static_assert(Shape::size < INT32_MAX && Shape::count < INT32_MAX,
                "rows and updates are numbered by 32 bits");
};

template <class Tensors>
__device__ __forceinline__ int64_t get_row(void *const *buffers,
                                           int64_t update) {
  using Indices = typename Tensors::Indices;
  return Indices::get(buffers[Indices::buffer], update);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scatter_rows_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::write_rows(state);
}

/// Visits the result, `Vector` elements at a time along `inner`.
template <class Tensors, int Vector, int Threads = 256> struct ScatterRows {
  using Shape = typename Tensors::Shape;
  using Element = typename Tensors::Element;
  using Value = typename Tensors::Value;
  static constexpr int threads = Threads;
  /// Vectors of a thread, whose loads are in flight together.
  static constexpr int items = 4;
  static constexpr int64_t columns = Shape::inner / Vector;
  static constexpr int64_t total = Shape::outer * Shape::size * columns;
  static constexpr int64_t blocks =
      (total + threads * items - 1) / (threads * items);
  using Index = std::conditional_t<(total < INT32_MAX - threads * items),
                                   uint32_t, int64_t>;

  static_assert(Shape::inner % Vector == 0, "rows are whole vectors");
  static_assert(blocks < INT32_MAX, "too many elements for one grid");

  struct Place {
    bool inside;
    int32_t row;
    /// Of the first element in the result, and of that of update 0.
    int64_t result, update;
  };

  FACT_DEVICE Place get(int item, unsigned block = blockIdx.x) {
    Index const index = (Index(block) * items + item) * threads + threadIdx.x;
    Index const column = index % Index(columns);
    Index const row = index / Index(columns) % Index(Shape::size);
    Index const outer = index / Index(columns) / Index(Shape::size);
    return {index < Index(total), int32_t(row), int64_t(index) * Vector,
            (int64_t(outer) * Shape::count * columns + column) * Vector};
  }

  FACT_DEVICE void load_source(void *const *buffers, Place const &place,
                               Value *values) {
    Tensors::Source::template load<Element, Vector>(buffers, place.result,
                                                    values);
  }

  FACT_DEVICE void load_update(void *const *buffers, Place const &place,
                               int64_t update, Value *values) {
    Tensors::Updates::template load<Element, Vector>(
        buffers, place.update + update * Shape::inner, values);
  }

  template <class Values>
  FACT_DEVICE void store(void *const *buffers, Place const &place,
                         Values const *values) {
    store_vector<Vector>(
        static_cast<Element *>(buffers[Tensors::result_buffer]) + place.result,
        values);
  }

  template <int Count>
  static int bind(void *(&bound)[Count], void *const *buffers) {
    for (int i = 0; i < Count; ++i) {
      if (Vector > 1 && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      bound[i] = buffers[i];
    }
    return cudaSuccess;
  }
};

//===----------------------------------------------------------------------===//
// A few updates
//===----------------------------------------------------------------------===//

template <class Tensors, int Vector> class ScatterSearch {
  using Rows = ScatterRows<Tensors, Vector>;
  using Sum = typename Tensors::Sum;

public:
  static constexpr int buffer_count = Tensors::result_buffer + 1;
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = Rows::threads;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    return Rows::bind(state.buffers, buffers);
  }

  static int launch(State &state, cudaStream_t stream) {
    return launch_kernel(&scatter_rows_kernel<ScatterSearch>,
                         dim3(unsigned(Rows::blocks)), dim3(1),
                         dim3(block_threads), 0, state, stream);
  }

  FACT_DEVICE void write_rows(State const &state) {
    typename Rows::Place places[Rows::items];
    Sum sums[Rows::items][Vector];
#pragma unroll
    for (int i = 0; i < Rows::items; ++i) {
      places[i] = Rows::get(i);
      typename Tensors::Value values[Vector];
      if (!places[i].inside)
        continue;
      Rows::load_source(state.buffers, places[i], values);
#pragma unroll
      for (int j = 0; j < Vector; ++j)
        sums[i][j] = values[j];
    }
    for (int64_t update = 0; update < Tensors::Shape::count; ++update) {
      int64_t const row = get_row<Tensors>(state.buffers, update);
#pragma unroll
      for (int i = 0; i < Rows::items; ++i) {
        if (!places[i].inside || places[i].row != row)
          continue;
        typename Tensors::Value values[Vector];
        Rows::load_update(state.buffers, places[i], update, values);
#pragma unroll
        for (int j = 0; j < Vector; ++j)
          sums[i][j] = Tensors::Operation::apply(sums[i][j], Sum(values[j]));
      }
    }
#pragma unroll
    for (int i = 0; i < Rows::items; ++i)
      if (places[i].inside)
        Rows::store(state.buffers, places[i], sums[i]);
  }
};

//===----------------------------------------------------------------------===//
// The last update of each row
//===----------------------------------------------------------------------===//

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scatter_clear_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::clear(state);
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads)
    scatter_find_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::find(state);
}

template <class Tensors, int Vector> class ScatterLast {
  using Rows = ScatterRows<Tensors, Vector>;
  using Shape = typename Tensors::Shape;

  static_assert(std::is_same_v<typename Tensors::Operation, Last>,
                "one update of a row suffices only if it replaces the others");

public:
  static constexpr int buffer_count = Tensors::result_buffer + 1;
  static constexpr uint64_t workspace_bytes = Shape::size * sizeof(int32_t);
  static constexpr int block_threads = Rows::threads;

  struct State {
    void *buffers[buffer_count];
    /// The last update of each row; -1 if there is none.
    int32_t *last;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    state.last = static_cast<int32_t *>(workspace);
    return Rows::bind(state.buffers, buffers);
  }

  static int launch(State &state, cudaStream_t stream) {
    auto enqueue = [&](auto *kernel, int64_t blocks) {
      return launch_kernel(kernel, dim3(unsigned(blocks)), dim3(1),
                           dim3(block_threads), 0, state, stream);
    };
    if (int error = enqueue(&scatter_clear_kernel<ScatterLast>,
                            (Shape::size + block_threads - 1) / block_threads))
      return error;
    if (int error = enqueue(&scatter_find_kernel<ScatterLast>,
                            (Shape::count + block_threads - 1) / block_threads))
      return error;
    return enqueue(&scatter_rows_kernel<ScatterLast>, Rows::blocks);
  }

  FACT_DEVICE void clear(State const &state) {
    int64_t const row = int64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (row < Shape::size)
      state.last[row] = -1;
  }

  FACT_DEVICE void find(State const &state) {
    int64_t const update = int64_t(blockIdx.x) * block_threads + threadIdx.x;
    if (update >= Shape::count)
      return;
    int64_t const row = get_row<Tensors>(state.buffers, update);
    if (row >= 0 && row < Shape::size)
      atomicMax(&state.last[row], int32_t(update));
  }

  FACT_DEVICE void write_rows(State const &state) {
    typename Rows::Place places[Rows::items];
    int32_t last[Rows::items];
    typename Tensors::Value values[Rows::items][Vector];
#pragma unroll
    for (int i = 0; i < Rows::items; ++i) {
      places[i] = Rows::get(i);
      last[i] = places[i].inside ? __ldg(&state.last[places[i].row]) : -1;
    }
#pragma unroll
    for (int i = 0; i < Rows::items; ++i)
      if (last[i] >= 0)
        Rows::load_update(state.buffers, places[i], last[i], values[i]);
      else if (places[i].inside)
        Rows::load_source(state.buffers, places[i], values[i]);
#pragma unroll
    for (int i = 0; i < Rows::items; ++i)
      if (places[i].inside)
        Rows::store(state.buffers, places[i], values[i]);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SCATTER_CUH
