//===- GroupedGemm.cuh - GEMMs of one operand, side by side ----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D_s = f_s(A * B_s, operands_s...) for several weights of one A (queries, keys
// and values), with fp32 accumulation and any pointwise f_s. It is one GEMM of
// the summed width, so A is read once and the last tiles of each product do not
// leave the machine idle:
//
//   // q = x @ Q^T + bias; k = relu(x @ K^T)
//   #include "fact/cutlass/GroupedGemm.cuh"
//
//   namespace fact::grouped_gemm_0 {
//
//   struct Epilogue0 {
//     FACT_DEVICE float apply(float product, float bias) {
//       return product + bias;
//     }
//   };
//   struct Epilogue1 {
//     FACT_DEVICE float apply(float product) { return fmaxf(product, 0.0f); }
//   };
//
//   using Kernel = GroupedGemm<
//       GroupedProblem<32768, 4096>,                   // M, K
//       RowMajor<0, bf16, 4096>,                       // A[M, K]
//       Segments<
//           Segment<4096, ColumnMajor<1, bf16, 4096>,  // N, B[K, N] as [N, K]
//                   Operands<RowVector<3, bf16>>, Epilogue0,
//                   RowMajor<4, bf16, 4096>>,          // D[M, N]
//           Segment<1024, ColumnMajor<2, bf16, 4096>, Operands<>, Epilogue1,
//                   RowMajor<5, bf16, 1024>>>,
//       GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative>>;
//
//   FACT_KERNEL(grouped_gemm_0, Kernel)
//
//   } // namespace fact::grouped_gemm_0
//
// `pack` puts the weights one after the other, each filled up with zeros to
// whole subtiles of the epilogue: a subtile then belongs to one product, whose
// functor it goes through and into whose result TMA stores what is inside.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GROUPEDGEMM_CUH
#define FACT_CUTLASS_GROUPEDGEMM_CUH

#include "PackedGemm.cuh"

namespace fact {

template <int64_t M, int64_t K> struct GroupedProblem {
  static constexpr auto m = extent<M>;
  static constexpr auto k = extent<K>;
};

/// One product and its result.
template <int64_t N, class Weight_, class OperandList, class Functor_,
          class Tensor_>
struct Segment {
  static constexpr auto n = extent<N>;
  using Weight = Weight_;
  using Operands = OperandList;
  using Functor = Functor_;
  using Tensor = Tensor_;
};

template <class... List> struct Segments {
  static constexpr int count = sizeof...(List);

  /// Columns of each segment, and where it begins when each has whole multiples
  /// of a unit; after the last begin, where the last segment ends.
  struct Columns {
    int sizes[count], begins[count + 1];
    constexpr int total() const { return begins[count]; }
  };
  static constexpr Columns get_columns(Sizes sizes, int unit) {
    Columns columns{{int(sizes(List::n))...}, {}};
    for (int i = 0; i < count; ++i)
      columns.begins[i + 1] =
          columns.begins[i] + (columns.sizes[i] + unit - 1) / unit * unit;
    return columns;
  }
};

//===----------------------------------------------------------------------===//
// Packing the weights
//===----------------------------------------------------------------------===//

template <class SegmentList> struct ConcatenateParams {
  uint4 const *weights[SegmentList::count];
  uint4 *packed;
  /// Of the weights' rows, counted in vectors.
  int64_t strides[SegmentList::count];
  int vectors;
  typename SegmentList::Columns columns;
};

/// Threads of a block, which copies one row of the stored [N, K] weights.
inline constexpr int concatenate_threads = 128;

template <class SegmentList, bool Splits>
__global__ void __launch_bounds__(concatenate_threads)
    concatenate_weights(ConcatenateParams<SegmentList> params) {
  int row = blockIdx.x;
  uint4 const *from = nullptr;
#pragma unroll
  for (int i = 0; i < SegmentList::count; ++i) {
    int local = row - params.columns.begins[i];
    if (local >= 0 && local < params.columns.sizes[i])
      from = params.weights[i] + local * params.strides[i];
  }
  uint4 *to = params.packed + int64_t(row) * params.vectors;
#pragma unroll 4
  for (int i = threadIdx.x; i < params.vectors; i += concatenate_threads)
    sm90::store_packed<Splits>(to + i,
                               from ? __ldg(from + i) : uint4{0, 0, 0, 0},
                               int64_t(gridDim.x) * params.vectors);
}

//===----------------------------------------------------------------------===//
// The store that knows the segments
//===----------------------------------------------------------------------===//

namespace sm90 {

template <class Descriptor, class SegmentList> struct GroupedStore;

template <class Descriptor, class First, class... Further>
struct GroupedStore<Descriptor, Segments<First, Further...>>
    : StagedTiles<Element<typename First::Tensor>,
                  typename Descriptor::EpilogueTile, Descriptor::StagesD> {
  using Base =
      StagedTiles<sm90::Element<typename First::Tensor>,
                  typename Descriptor::EpilogueTile, Descriptor::StagesD>;
  using typename Base::Element;
  using typename Base::SharedStorage;
  using typename Base::Tile;
  static constexpr int stages = Base::stages;

  using All = Segments<First, Further...>;
  static constexpr int count = All::count;
  /// Columns of a subtile, of which segments have whole multiples.
  static constexpr int unit = cute::get<1>(Tile{});

  using OperandPointers = cute::tuple<Pointers<typename First::Operands>,
                                      Pointers<typename Further::Operands>...>;
  struct Arguments {
    Element *pointers[count] = {};
    typename Base::Stride strides[count] = {};
    OperandPointers operands = {};
    typename All::Columns columns = {};
  };
  struct Params {
    typename Base::CopyToGlobal copies[count];
    OperandPointers operands;
    typename All::Columns columns;
    int rows;
  };

  template <size_t... I>
  static Params make_params(int rows, Arguments const &arguments,
                            std::index_sequence<I...>) {
    return {{Base::make_copy(arguments.pointers[I], arguments.strides[I], rows,
                             arguments.columns.sizes[I])...},
            arguments.operands,
            arguments.columns,
            rows};
  }
  template <class Shape>
  static Params to_underlying_arguments(Shape const &wide,
                                        Arguments const &arguments, void *) {
    return make_params(cute::get<0>(wide), arguments,
                       std::make_index_sequence<count>{});
  }

  CUTLASS_HOST_DEVICE GroupedStore() {}
  CUTLASS_HOST_DEVICE GroupedStore(Params const &params,
                                   SharedStorage const &storage)
      : Base(storage), params(&params) {}

  /// `function(index, segment)` for the segment that has a column of the wide
  /// product: none beyond the last.
  template <class Function, size_t... I>
  static CUTLASS_DEVICE void select(Params const &params, int column,
                                    Function &&function,
                                    std::index_sequence<I...>) {
    auto visit = [&](auto index, auto segment) {
      constexpr int number = decltype(index)::value;
      if (column >= params.columns.begins[number] &&
          column < params.columns.begins[number + 1])
        function(index, segment);
    };
    (visit(cute::Int<int(I)>{},
           std::tuple_element_t<I, std::tuple<First, Further...>>{}),
     ...);
  }
  template <class Function>
  static CUTLASS_DEVICE void select(Params const &params, int column,
                                    Function &&function) {
    select(params, column, function, std::make_index_sequence<count>{});
  }

  template <class Part, class Where, class TmaShared> struct Callbacks : Part {
    CUTLASS_DEVICE Callbacks(Part part, Where where, TmaShared tma_shared,
                             int first_row_tile, int first_column,
                             Params const *params)
        : Part(part), where(where), tma_shared(tma_shared),
          first_row_tile(first_row_tile), first_column(first_column),
          params(params) {}

    Where where;
    TmaShared tma_shared;
    /// Of the block, counted in subtiles and in columns of the wide product.
    int first_row_tile, first_column;
    Params const *params;

    template <class Accumulator, class Value, int Size>
    CUTLASS_DEVICE auto visit(cutlass::Array<Accumulator, Size> const &,
                              int fragment, int m, int n,
                              cutlass::Array<Value, Size> const &wide) {
      cutlass::Array<Value, Size> values = wide;
      select(*params, first_column + n * unit, [&](auto index, auto segment) {
        constexpr int number = decltype(index)::value;
        using Segment = decltype(segment);
        auto const &operands = cute::get<number>(params->operands);
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Size; ++i) {
          if constexpr (Segment::Operands::count == 0) {
            values[i] = Segment::Functor::apply(wide[i]);
          } else {
            auto [row, wide_column] = where.at(fragment * Size + i, m, n);
            int column = wide_column - params->columns.begins[number];
            bool inside =
                row < params->rows && column < params->columns.sizes[number];
            values[i] = operands.template apply<typename Segment::Functor>(
                row, column, inside, wide[i]);
          }
        }
      });
      Part::set(fragment, values);
      return wide;
    }

    CUTLASS_DEVICE void tma_store(int m, int n, int iteration, bool issue) {
      if (!issue)
        return;
      int column = first_column + n * unit;
      select(*params, column, [&](auto index, auto) {
        constexpr int number = decltype(index)::value;
        auto const &copy = params->copies[number];
        auto global = copy.get_tma_tensor(
            cute::make_shape(params->rows, params->columns.sizes[number], 1));
        auto tiles = copy.get_slice(cute::_0{})
                         .partition_D(cute::flat_divide(
                             global(cute::_, cute::_, 0), Tile{}));
        cute::copy(copy,
                   tma_shared(cute::_, cute::_, cute::_, iteration % stages),
                   tiles(cute::_, cute::_, cute::_, first_row_tile + m,
                         (column - params->columns.begins[number]) / unit));
      });
    }
  };

  template <bool ReferenceSource, class... Args>
  CUTLASS_DEVICE auto
  get_consumer_store_callbacks(fusion::ConsumerStoreArgs<Args...> const &args) {
    auto [m, n, k, l] = args.tile_coord_mnkl;
    auto block = cute::take<0, 2>(args.tile_shape_mnk);
    auto part = this->template make_part<ReferenceSource>(block, args);
    auto tma_shared =
        params->copies[0].get_slice(cute::_0{}).partition_S(this->get_tiles());
    using Where = CoordinatesOf<fusion::ConsumerStoreArgs<Args...>>;
    int row_tiles = cute::get<0>(block) / cute::get<0>(Tile{});
    return Callbacks<decltype(part), Where, decltype(tma_shared)>(
        part, Where::get(args), tma_shared, int(m) * row_tiles,
        int(n) * int(cute::get<1>(block)), params);
  }

  Params const *params;
};

} // namespace sm90

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class SegmentList, class Schedule>
class GroupedGemm;

template <class Problem, class A, class... List, class Schedule>
class GroupedGemm<Problem, A, Segments<List...>, Schedule> {
  using First = std::tuple_element_t<0, std::tuple<List...>>;

  static_assert(
      (std::is_same_v<typename A::Element, typename List::Weight::Element> &&
       ...),
      "A and all weights must have the same element type");
  static_assert((std::is_same_v<typename First::Tensor::Element,
                                typename List::Tensor::Element> &&
                 ...),
                "all results must have the same element type");
  static_assert((!is_row_major<typename List::Weight>::value && ...),
                "the weights must be column-major: stored [N, K]");
  static_assert((is_row_major<typename List::Tensor>::value && ...),
                "the results must be row-major");
  static_assert(((is_size(List::n) || List::n % 8 == 0) && ...),
                "N must be multiples of 8");
  static_assert((tma_can_address<typename List::Weight>() && ...) &&
                    (tma_can_address<typename List::Tensor>() && ...),
                "the strides of weights and results must be 16-byte multiples");

  using All = Segments<List...>;
  using Store = sm90::GroupedStore<sm90::EpilogueOf<Schedule>, All>;
  using Wide = sm90::PackedGemm<Problem, A, Store, Schedule>;

  template <class OperandList> struct Highest;
  template <class... Tensors> struct Highest<Operands<Tensors...>> {
    static constexpr int buffer = count_buffers<Tensors...>() - 1;
  };

public:
  static constexpr bool takes_sizes = true;
  static constexpr int buffer_count =
      count_buffers<A, typename List::Weight...,
                    Highest<typename List::Operands>...,
                    typename List::Tensor...>();
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    return Wide::workspace_bytes(sizes);
  }

  /// The packed weights take the first one's place.
  static constexpr int packed_operand = First::Weight::buffer;
  static constexpr uint32_t packed_with = ((1u << List::Weight::buffer) | ...);
  static constexpr uint64_t packed_bytes(Sizes sizes) {
    return Wide::packed_bytes(sizes,
                              All::get_columns(sizes, Store::unit).total());
  }

  static int pack(Sizes sizes, void *const *buffers, void *packed,
                  cudaStream_t stream) {
    constexpr int elements = sizeof(uint4) / sizeof(typename A::Element);
    ConcatenateParams<All> params{
        {reinterpret_cast<uint4 const *>(
            List::Weight::pointer(buffers, sizes))...},
        static_cast<uint4 *>(packed),
        {sizes(List::Weight::leading_dimension) / elements...},
        int(sizes(Problem::k)) / elements,
        All::get_columns(sizes, Store::unit)};
    for (void const *pointer : params.weights)
      if (!is_aligned(pointer, 16))
        return cudaErrorMisalignedAddress;
    if (!is_aligned(packed, 16) ||
        !(tma_can_address<typename List::Weight>(sizes) && ...))
      return cudaErrorMisalignedAddress;
    return launch_kernel(
        &concatenate_weights<All, sm90::splits_ahead<Schedule>>,
        dim3(params.columns.total()), dim3(1, 1, 1), dim3(concatenate_threads),
        0, params, stream);
  }

  using State = typename Wide::State;

  static int bind(State &state, Sizes sizes, void *const *buffers,
                  void *workspace) {
    typename Store::Arguments store{
        {sm90::pointer<typename List::Tensor>(buffers, sizes)...},
        {sm90::make_stride<typename Store::Stride, typename List::Tensor>(
            sizes)...},
        {sm90::Pointers<typename List::Operands>::get(buffers, sizes)...},
        All::get_columns(sizes, Store::unit)};
    for (void const *pointer : store.pointers)
      if (!is_aligned(pointer, 16))
        return cudaErrorMisalignedAddress;
    if (!(tma_can_address<typename List::Tensor>(sizes) && ...))
      return cudaErrorMisalignedAddress;
    return Wide::bind(state, sizes, store.columns.total(), buffers,
                      buffers[packed_operand], workspace, store);
  }

  static int launch(State &state, cudaStream_t stream) {
    return Wide::launch(state, stream);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_GROUPEDGEMM_CUH
