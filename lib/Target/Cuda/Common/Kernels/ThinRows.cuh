//===- ThinRows.cuh - Many rows times few filters --------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D_r[place, n] = f_r(sum over terms of source[place, term] * filter[n, term],
// operands...). Each thread has whole rows of the product in registers, and
// filters are read from shared memory. Rows are read by strides, so that they
// may be windows of images, and zeros outside of these. Products are
// accumulated in f32, in a fixed order: by runs of terms.
//
//   // A convolution of 3x3 with 3 filters, of images with 32 channels that lie
//   // last, padded by 1
//   #include "fact/cutlass/ThinRows.cuh"
//
//   namespace fact::thin_0 {
//
//   using Kernel = ThinRows<
//       Extents<16, 64, 64>, Extents<3, 3, 32>, 3,   // places, terms, filters
//       RowsOf<0, f32, Strides<131072, 2048, 32>, Strides<2048, 32, 1>, -2080,
//              RowBound<1, 0, 1, 1, 1, 64>, RowBound<2, 1, 1, 1, 1, 64>>,
//       Strided<1, f32, Strides<288, 1>>,              // n, term
//       Operands<>,                                    // places, n
//       Results<Result<Identity, Strided<2, f32, Strides<12288, 192, 3, 1>>>>,
//       ThinRowsSchedule<2, 32, 4, RowReads::Staged>>;  // rows, terms, vector
//
//   FACT_KERNEL(thin_0, Kernel)
//
//   } // namespace fact::thin_0
//
// A thread has `rows` rows, and a block reads `terms` terms of all of its rows
// at a time. Where neighboring rows are neighbors in memory, each thread reads
// its own. Otherwise the threads of a block read them together, `vector` terms
// that follow each other in memory at a time, and leave them in shared memory.
// `Flat` rows are whole, and follow each other: a block reads them as one.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_THINROWS_CUH
#define FACT_CUTLASS_THINROWS_CUH

#include "Pointwise.cuh"

namespace fact {

/// Zeros outside of 0 <= place * Step + term * Dilation - Zeros < Extent, for
/// the coordinates in one dimension of the places and one of the terms.
template <int Place, int Term, int64_t Step, int64_t Dilation, int64_t Zeros,
          int64_t Extent>
struct RowBound {
  static constexpr int place = Place, term = Term;
  static constexpr int step = int(Step), dilation = int(Dilation),
                       zeros = int(Zeros), extent = int(Extent);
};

/// The rows of a product by strides of places and of terms.
template <int Buffer, class Element, class PlaceStrides_, class TermStrides_,
          int64_t Offset, class... Bounds_>
struct RowsOf : View<Buffer, Element, Offset> {
  using PlaceStrides = PlaceStrides_;
  using TermStrides = TermStrides_;
  using Bounds = Pack<Bounds_...>;
  static constexpr int bound_count = sizeof...(Bounds_);
};

enum class RowReads { Own, Staged, Flat };

template <int Rows, int Terms, int Vector, RowReads Reads>
struct ThinRowsSchedule {
  static constexpr int threads = 128;
  static constexpr int rows = Rows, terms = Terms, vector = Vector;
  static constexpr RowReads reads = Reads;
};

/// The places of rows beside one column.
template <class Extents_> struct WithColumn;
template <int64_t... Sizes> struct WithColumn<Extents<Sizes...>> {
  using type = Extents<Sizes..., 1>;
};

template <class Places, class Terms, int Filters, class Source, class Filter,
          class OperandList, class ResultList, class Schedule>
class ThinRows;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::block_threads, Kernel::least_blocks)
    thin_rows_kernel(typename Kernel::State const __grid_constant__ state) {
  Kernel::run(state);
}

template <class Places, class Terms, int Filters, class Source, class Filter,
          class... Tensors, class... List, class Schedule>
class ThinRows<Places, Terms, Filters, Source, Filter, Operands<Tensors...>,
               Results<List...>, Schedule> {
  static constexpr int threads = Schedule::threads;
  static constexpr int rows = Schedule::rows;
  static constexpr int block_rows = threads * rows;
  static constexpr int vector = Schedule::vector;
  static constexpr bool is_staged = Schedule::reads != RowReads::Own;
  static constexpr bool is_flat = Schedule::reads == RowReads::Flat;
  static constexpr int64_t k = Terms::total;
  /// Terms of a run.
  static constexpr int run_terms =
      k < Schedule::terms ? int(k) : Schedule::terms;
  static constexpr bool has_runs = k > run_terms;
  static constexpr int pieces = is_flat ? 1 : run_terms / vector;
  static constexpr int bounds = Source::bound_count;
  /// Filters filled up to whole accesses.
  static constexpr int width = (Filters + 3) / 4 * 4;
  /// An odd pitch: neighboring rows lie in different banks.
  static constexpr int pitch = run_terms + 1 - run_terms % 2;
  static_assert(is_flat ? k == run_terms
                        : run_terms % vector == 0 && k % vector == 0,
                "vectors are whole, and of one run");
  static_assert(Places::total < INT32_MAX && k < INT32_MAX,
                "rows and terms are counted in 32 bits");

public:
  static constexpr int buffer_count =
      count_buffers<Source, Filter, Tensors..., typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;
  static constexpr int block_threads = threads;
  /// Staged, registers are for the sums. Threads that read their own rows have
  /// many loads in flight.
  static constexpr int least_blocks = !is_staged             ? 1
                                      : rows * Filters <= 16 ? 8
                                                             : 4;

  struct State {
    void *buffers[buffer_count];
  };

  static int bind(State &state, void *const *buffers, void *) {
    constexpr bool has_vectors =
        vector > 1 || ((store_width<typename List::Tensor> > 1) || ...);
    for (int i = 0; i < buffer_count; ++i) {
      if (has_vectors && !is_aligned(buffers[i], 16))
        return cudaErrorMisalignedAddress;
      state.buffers[i] = buffers[i];
    }
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    constexpr int64_t blocks = (Places::total + block_rows - 1) / block_rows;
    return launch_kernel(&thin_rows_kernel<ThinRows>, dim3(unsigned(blocks)),
                         dim3(1), dim3(threads), 0, state, stream);
  }

  FACT_DEVICE void run(State const &state) {
    __shared__ Shared shared;
    int64_t const first = int64_t(blockIdx.x) * block_rows;
    Row own[rows];
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      int const row = threadIdx.x + i * threads;
      if constexpr (!is_flat)
        own[i] = find_row(first + row);
      if constexpr (is_staged && !is_flat)
        shared.rows[row] = own[i];
    }
    float sums[rows][Filters] = {};
    for (int64_t begin = 0; begin < k; begin += run_terms) {
      if constexpr (has_runs)
        __syncthreads();
      read_filters(state, begin, shared);
      if constexpr (is_flat) {
        stage_flat(state, first, shared);
        __syncthreads();
      } else {
        find_terms(begin, shared);
        __syncthreads();
      }
      if constexpr (is_staged && !is_flat) {
        stage(state, begin, shared);
        __syncthreads();
      }
      multiply(state, begin, own, shared, sums);
    }
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      int64_t const place = first + threadIdx.x + i * threads;
      if (place < Places::total)
        finish(state, unsigned(place), sums[i],
               std::index_sequence_for<Tensors...>{});
    }
  }

private:
  static constexpr int at_least_one(int count) { return count ? count : 1; }

  /// Where a row or a term is: an offset, and coordinates for the bounds.
  struct Row {
    int64_t offset;
    int at[at_least_one(bounds)];
  };
  struct Shared {
    alignas(16) float filters[run_terms][width];
    Row terms[run_terms];
    Row rows[is_staged && !is_flat ? block_rows : 1];
    float staged[is_staged ? block_rows : 1][is_staged ? pitch : 1];
  };

  template <class Tensor>
  FACT_DEVICE typename Tensor::Element *pointer(State const &state) {
    return static_cast<typename Tensor::Element *>(
               state.buffers[Tensor::buffer]) +
           Tensor::offset;
  }

  FACT_DEVICE Row find_row(int64_t place) {
    // Rows past the last repeat it; they are not stored.
    unsigned const index =
        unsigned(place < Places::total ? place : Places::total - 1);
    using PlaceGrid = Grid<Places, typename Source::PlaceStrides>;
    Row row;
    row.offset = PlaceGrid::offset_of(index);
    set_rows<PlaceGrid>(index, row, typename Source::Bounds{});
    return row;
  }
  template <class Points, class... Bounds>
  FACT_DEVICE void set_rows(unsigned index, Row &row, Pack<Bounds...>) {
    int i = 0;
    ((row.at[i++] = int(Points::template coordinate_of<Bounds::place>(index)) *
                        Bounds::step -
                    Bounds::zeros),
     ...);
  }

  /// What all threads need to know of the terms of a run.
  FACT_DEVICE void find_terms(int64_t begin, Shared &shared) {
    for (int term = threadIdx.x; term < run_terms; term += threads) {
      unsigned const index = unsigned(begin + term < k ? begin + term : k - 1);
      using TermGrid = Grid<Terms, typename Source::TermStrides>;
      shared.terms[term].offset = TermGrid::offset_of(index);
      set_terms<TermGrid>(index, shared.terms[term], typename Source::Bounds{});
    }
  }
  template <class Points, class... Bounds>
  FACT_DEVICE void set_terms(unsigned index, Row &term, Pack<Bounds...>) {
    int i = 0;
    ((term.at[i++] = int(Points::template coordinate_of<Bounds::term>(index)) *
                     Bounds::dilation),
     ...);
  }

  template <class... Bounds>
  FACT_DEVICE bool is_inside(Row const &row, Row const &term, Pack<Bounds...>) {
    int i = 0;
    bool inside = true;
    ((inside &= unsigned(row.at[i] + term.at[i]) < unsigned(Bounds::extent),
      ++i),
     ...);
    return inside;
  }

  FACT_DEVICE void read_filters(State const &state, int64_t begin,
                                Shared &shared) {
    constexpr int64_t filter_stride = Filter::Strides::values[0];
    constexpr int64_t term_stride = Filter::Strides::values[1];
    auto const *filters = pointer<Filter>(state);
    for (int i = threadIdx.x; i < run_terms * width; i += threads) {
      int const term = i / width, filter = i % width;
      float value = 0.0f;
      if (filter < Filters && begin + term < k)
        value = widen(__ldg(filters + filter * filter_stride +
                            (begin + term) * term_stride));
      shared.filters[term][filter] = value;
    }
  }

  FACT_DEVICE void stage(State const &state, int64_t begin, Shared &shared) {
    auto const *source = pointer<Source>(state);
#pragma unroll 4
    for (int i = threadIdx.x; i < block_rows * pieces; i += threads) {
      int const row = i / pieces, term = i % pieces * vector;
      float values[vector] = {};
      if (begin + term < k && is_inside(shared.rows[row], shared.terms[term],
                                        typename Source::Bounds{}))
        load_vector<vector>(source + shared.rows[row].offset +
                                shared.terms[term].offset,
                            values);
#pragma unroll
      for (int v = 0; v < vector; ++v)
        shared.staged[row][term + v] = values[v];
    }
  }

  FACT_DEVICE void stage_flat(State const &state, int64_t first,
                              Shared &shared) {
    int64_t const begin = first * k;
    auto const *source = pointer<Source>(state) + begin;
    constexpr int elements = block_rows * int(k);
    int64_t const left = Places::total * k - begin;
#pragma unroll 4
    for (int i = threadIdx.x * vector; i < elements; i += threads * vector) {
      float values[vector] = {};
      if (i + vector <= left)
        load_vector<vector>(source + i, values);
      else
        for (int v = 0; v < vector; ++v)
          values[v] = i + v < left ? float(widen(source[i + v])) : 0.0f;
#pragma unroll
      for (int v = 0; v < vector; ++v)
        shared.staged[(i + v) / int(k)][(i + v) % int(k)] = values[v];
    }
  }

  FACT_DEVICE void multiply(State const &state, int64_t begin,
                            Row const (&own)[rows], Shared const &shared,
                            float (&sums)[rows][Filters]) {
    int const count =
        has_runs && k - begin < run_terms ? int(k - begin) : run_terms;
    float parts[rows][Filters] = {};
#pragma unroll(is_staged || has_runs ? 4 : run_terms < 32 ? run_terms : 8)
    for (int term = 0; term < count; ++term) {
      float filter[width];
#pragma unroll
      for (int n = 0; n < width; n += 4)
        *reinterpret_cast<float4 *>(filter + n) =
            *reinterpret_cast<float4 const *>(&shared.filters[term][n]);
#pragma unroll
      for (int i = 0; i < rows; ++i) {
        float const value = get(state, own[i], term, i, shared);
#pragma unroll
        for (int n = 0; n < Filters; ++n)
          parts[i][n] = fmaf(value, filter[n], parts[i][n]);
      }
    }
#pragma unroll
    for (int i = 0; i < rows; ++i)
#pragma unroll
      for (int n = 0; n < Filters; ++n)
        sums[i][n] += parts[i][n];
  }

  FACT_DEVICE float get(State const &state, Row const &row, int term, int i,
                        Shared const &shared) {
    if constexpr (is_staged) {
      return shared.staged[threadIdx.x + i * threads][term];
    } else {
      if (!is_inside(row, shared.terms[term], typename Source::Bounds{}))
        return 0.0f;
      return widen(__ldg(pointer<Source>(state) + row.offset +
                         shared.terms[term].offset));
    }
  }

  template <size_t... I>
  FACT_DEVICE void finish(State const &state, unsigned place,
                          float const (&sums)[Filters],
                          std::index_sequence<I...>) {
    auto apply = [&](auto result) {
      using Result = decltype(result);
      using Tensor = typename Result::Tensor;
      using Element = typename Tensor::Element;
      constexpr int64_t step = Tensor::inner_stride;
      constexpr int vectors = store_width<Tensor>;
      auto *destination = pointer<Tensor>(state) + at<Tensor>(place);
#pragma unroll
      for (int n = 0; n < Filters; n += vectors) {
        Compute<Element> values[vectors];
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          values[v] = Result::Functor::apply(
              sums[n + v], widen(pointer<Tensors>(
                               state)[at<Tensors>(place) +
                                      (n + v) * Tensors::inner_stride])...);
        store_vector<vectors>(destination + n * step, values);
      }
    };
    (apply(List{}), ...);
  }

  /// The element of the first filter at a place.
  template <class Tensor> FACT_DEVICE int64_t at(unsigned place) {
    return Grid<typename WithColumn<Places>::type,
                typename Tensor::Strides>::offset_of(place);
  }

  /// Elements per access, of up to 16 bytes.
  template <class Tensor,
            int Count = int(16 / sizeof(typename Tensor::Element))>
  static constexpr int get_store_width() {
    if constexpr (Count == 1 || (Filters % Count == 0 &&
                                 Tensor::template moves_in_vectors<Count>()))
      return Count;
    else
      return get_store_width<Tensor, Count / 2>();
  }
  template <class Tensor>
  static constexpr int store_width = get_store_width<Tensor>();
};

} // namespace fact

#endif // FACT_CUTLASS_THINROWS_CUH
