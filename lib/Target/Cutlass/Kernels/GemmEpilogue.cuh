//===- GemmEpilogue.cuh - Functors as a visitor tree ------------*- CUDA -*-===//
//
// What a GEMM does with its accumulators, in CUTLASS's words: loads of operands,
// one compute node for each functor, stores of further results, and partial
// results of reductions.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GEMMEPILOGUE_CUH
#define FACT_CUTLASS_GEMMEPILOGUE_CUH

#include "Kernel.cuh"
#include "Math.cuh"
#include "Vector.cuh"

// The collective builders' umbrella headers parse every architecture. These
// are the Hopper parts: a third less to parse.
#include "cutlass/cutlass.h"
#include "cutlass/device_kernel.h"
#include "cutlass/gemm/collective/collective_builder_decl.hpp"
#include "cutlass/gemm/collective/collective_mma_decl.hpp"
#include "cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp"
#include "cutlass/gemm/collective/builders/sm90_gmma_builder.inl"
#include "cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp"
#include "cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_pingpong.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"

namespace fact {

using tf32 = cutlass::tfloat32_t;

//===----------------------------------------------------------------------===//
// Reductions of rows
//===----------------------------------------------------------------------===//

/// How a row is reduced. NaN counts.
struct RowSum {
  template <class T> using Combine = cutlass::plus<T>;
  static constexpr float identity = 0.0f;
  static constexpr bool is_mean = false;
};
struct RowMean : RowSum {
  static constexpr bool is_mean = true;
};
struct RowMax {
  template <class T> struct Combine : cutlass::maximum<T, true> {};
  static constexpr float identity = -INFINITY;
  static constexpr bool is_mean = false;
};
struct RowMin {
  template <class T> struct Combine : cutlass::minimum<T, true> {};
  static constexpr float identity = INFINITY;
  static constexpr bool is_mean = false;
};
struct RowProduct {
  template <class T> using Combine = cutlass::multiplies<T>;
  static constexpr float identity = 1.0f;
  static constexpr bool is_mean = false;
};

/// A reduction, over its columns, of what `Functor` makes of the product.
template <class Functor_, class Kind_> struct RowReduction {
  using Functor = Functor_;
  using Kind = Kind_;
};

/// Results of one element a row: their functors take all reductions in order,
/// then the operands, which are ColumnVector or Scalar.
template <class ReductionList, class OperandList, class ResultList>
struct RowEpilogue {};
template <class... List> struct Reductions {
  static constexpr int count = sizeof...(List);
};
using NoRowEpilogue = RowEpilogue<Reductions<>, Operands<>, Results<>>;

//===----------------------------------------------------------------------===//
// From FACT's words to CUTLASS's
//===----------------------------------------------------------------------===//

namespace sm90 {

namespace collective = cutlass::epilogue::collective;
namespace fusion = cutlass::epilogue::fusion;

inline constexpr auto nearest = cutlass::FloatRoundStyle::round_to_nearest;

template <class Element> struct NumericType { using type = Element; };
template <> struct NumericType<bf16> { using type = cutlass::bfloat16_t; };
template <> struct NumericType<f16> { using type = cutlass::half_t; };

template <class Tensor>
using Element = typename NumericType<typename Tensor::Element>::type;

template <class Tensor>
constexpr int alignment = 16 / sizeof(typename Tensor::Element);

template <class Tensor>
using Layout = std::conditional_t<is_row_major<Tensor>::value,
                                  cutlass::layout::RowMajor,
                                  cutlass::layout::ColumnMajor>;

template <class Tensor> auto *pointer(void *const *buffers) {
  return reinterpret_cast<Element<Tensor> *>(Tensor::pointer(buffers));
}

/// CUTLASS strides have the unit stride as a static 1 in the place the layout
/// gives it (B counts as [N, K]); the other two are the leading dimension and
/// the batch stride.
template <class Stride, class Tensor> Stride make_stride() {
  Stride stride;
  if constexpr (cute::is_constant<1, decltype(cute::get<0>(stride))>::value)
    cute::get<1>(stride) = Tensor::leading_dimension;
  else
    cute::get<0>(stride) = Tensor::leading_dimension;
  cute::get<2>(stride) = Tensor::batch_stride;
  return stride;
}

//===----------------------------------------------------------------------===//
// The epilogue as a visitor tree
//
// Its nodes, in topological order: the accumulator, the operands, a functor and
// a store for each further result, and last the functor whose value is D.
// What functors have in common is computed once: the compiler sees it inlined.
//===----------------------------------------------------------------------===//

/// Applies a scalar functor to the arrays that visitors pass along.
template <class Functor> struct Elementwise {
  template <class Array> struct Over {
    template <class... Arrays>
    CUTLASS_DEVICE Array operator()(Array const &accumulator,
                                    Arrays const &...operands) const {
      Array result;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < Array::kElements; ++i)
        result[i] = Functor::apply(accumulator[i], operands[i]...);
      return result;
    }
  };
};

template <class Functor>
using Compute = fusion::Sm90Compute<Elementwise<Functor>::template Over, float,
                                    float, nearest>;

/// The visitor that reads an operand, and its arguments.
template <class Tensor, bool IsSource, class Descriptor> struct Load;

/// The first matrix rides as CUTLASS's C, which shares shared memory with D.
template <class Tensor, class Descriptor> struct Load<Tensor, true, Descriptor> {
  using Visitor = fusion::Sm90SrcFetch<Element<Tensor>>;
  static typename Visitor::Arguments arguments(void *const *) { return {}; }
};

template <int B, class E, int64_t L, int64_t S, int64_t O, class Descriptor>
struct Load<RowMajor<B, E, L, S, O>, false, Descriptor> {
  using Tensor = RowMajor<B, E, L, S, O>;
  using Details =
      collective::detail::AuxLoadDescriptor<Descriptor,
                                            cutlass::layout::RowMajor,
                                            Element<Tensor>>;
  using Visitor = fusion::Sm90AuxLoad<
      Details::Stages, typename Details::EpilogueTile, Element<Tensor>,
      typename Details::Stride, typename Details::SmemLayoutAtom,
      typename Details::CopyOpS2R, alignment<Tensor>,
      /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers) {
    return {pointer<Tensor>(buffers), Element<Tensor>(0),
            make_stride<typename Details::Stride, Tensor>()};
  }
};

template <int B, class E, int64_t S, int64_t O, class Descriptor>
struct Load<RowVector<B, E, S, O>, false, Descriptor> {
  using Tensor = RowVector<B, E, S, O>;
  using Visitor = fusion::Sm90RowBroadcast<
      0, typename Descriptor::TileShape, Element<Tensor>, float,
      cute::Stride<cute::_0, cute::_1, int64_t>, alignment<Tensor>,
      /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers) {
    return {pointer<Tensor>(buffers), Element<Tensor>(0), {{}, {}, S}};
  }
};

template <int B, class E, int64_t S, int64_t O, class Descriptor>
struct Load<ColumnVector<B, E, S, O>, false, Descriptor> {
  using Tensor = ColumnVector<B, E, S, O>;
  // Alignment 1: a thread's rows need not be neighbours.
  using Visitor = fusion::Sm90ColBroadcast<
      0, typename Descriptor::TileShape, Element<Tensor>, float,
      cute::Stride<cute::_1, cute::_0, int64_t>, 1, /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers) {
    return {pointer<Tensor>(buffers), Element<Tensor>(0), {{}, {}, S}};
  }
};

template <int B, class E, int64_t O, class Descriptor>
struct Load<Scalar<B, E, O>, false, Descriptor> {
  using Tensor = Scalar<B, E, O>;
  using Visitor = fusion::Sm90ScalarBroadcast<Element<Tensor>>;
  static typename Visitor::Arguments arguments(void *const *buffers) {
    return {{Element<Tensor>(0)}, {pointer<Tensor>(buffers)}, {}};
  }
};

/// Where the value of a functor goes that is not D: into a further result.
template <class Result, class Descriptor> struct Store {
  using Functor = typename Result::Functor;
  using Tensor = typename Result::Tensor;
  using Details =
      collective::detail::AuxStoreDescriptor<Descriptor,
                                             cutlass::layout::RowMajor,
                                             Element<Tensor>>;
  using Visitor = fusion::Sm90AuxStore<
      Details::Stages, typename Details::EpilogueTile, Element<Tensor>, nearest,
      typename Details::Stride, typename Details::SmemLayoutAtom,
      typename Details::CopyOpR2S, alignment<Tensor>, /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers, float *) {
    return {pointer<Tensor>(buffers),
            make_stride<typename Details::Stride, Tensor>()};
  }
};

/// Or into reductions of the rows of each tile, of which `Partials` says where
/// they lie.
template <class Reduction, class Descriptor, int64_t Offset> struct Reduce {
  using Functor = typename Reduction::Functor;
  using Kind = typename Reduction::Kind;
  using Visitor = fusion::Sm90ColReduction<
      Kind::template Combine, Kind::template Combine, Kind::template Combine, 0,
      typename Descriptor::TileShape, float, float, nearest,
      cute::Stride<cute::_1, cute::_0, cute::_0>, 4, /*EnableNullptr=*/false,
      /*FinalReduction=*/false>;
  static typename Visitor::Arguments arguments(void *const *, float *partials) {
    return {partials + Offset, Kind::identity, {}};
  }
};

/// The first RowMajor among the operands, or a stand-in with element void.
struct NoSource {
  using Element = void;
};
template <class... Tensors> struct FindSource { using type = NoSource; };
template <class First, class... Rest> struct FindSource<First, Rest...> {
  using type = std::conditional_t<is_row_major<First>::value, First,
                                  typename FindSource<Rest...>::type>;
};

template <class... List> struct Sinks {};

/// `First` gives D, and the sinks take what other functors give.
template <class Descriptor, class Source, class OperandList, class First,
          class SinkList>
struct EpilogueTree;

template <class Descriptor, class Source, class... Tensors, class First,
          class... Further>
struct EpilogueTree<Descriptor, Source, Operands<Tensors...>, First,
                    Sinks<Further...>> {
  template <class Tensor>
  using LoadOf = Load<Tensor, std::is_same_v<Tensor, Source>, Descriptor>;

  static constexpr int inputs = 1 + sizeof...(Tensors);
  using Inputs = cute::make_seq<inputs>;

  /// The children of each node.
  template <class Indices> struct EdgesOf;
  template <size_t... I> struct EdgesOf<std::index_sequence<I...>> {
    using type = decltype(cute::tuple_cat(
        cute::tuple_repeat<inputs>(cute::seq<>{}),
        cute::make_tuple(Inputs{}, cute::seq<inputs + 2 * int(I)>{})...,
        cute::make_tuple(Inputs{})));
  };

  using Edges =
      typename EdgesOf<std::make_index_sequence<sizeof...(Further)>>::type;

  template <class Visitors> struct GraphOf;
  template <class... Visitors> struct GraphOf<cute::tuple<Visitors...>> {
    using type = fusion::Sm90TopologicalVisitor<float, Edges, Visitors...>;
  };
  using Graph = typename GraphOf<decltype(cute::tuple_cat(
      cute::tuple<fusion::Sm90AccFetch, typename LoadOf<Tensors>::Visitor...>{},
      cute::tuple<Compute<typename Further::Functor>,
                  typename Further::Visitor>{}...,
      cute::tuple<Compute<typename First::Functor>>{}))>::type;

  /// One result needs no graph: its functor is the root of a tree.
  using Tree =
      fusion::Sm90EVT<Compute<typename First::Functor>, fusion::Sm90AccFetch,
                      typename LoadOf<Tensors>::Visitor...>;
  using Visitor = std::conditional_t<sizeof...(Further) == 0, Tree, Graph>;

  /// In both cases the arguments of all nodes, in topological order.
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               float *partials) {
    auto nodes = cute::tuple_cat(
        cute::make_tuple(fusion::Sm90AccFetch::Arguments{},
                         LoadOf<Tensors>::arguments(buffers)...),
        cute::make_tuple(
            typename Compute<typename Further::Functor>::Arguments{},
            Further::arguments(buffers, partials))...,
        cute::make_tuple(typename Compute<typename First::Functor>::Arguments{}));
    return cute::apply(nodes, [](auto const &...arguments) {
      return typename Visitor::Arguments{arguments...};
    });
  }
};

//===----------------------------------------------------------------------===//
// From the reductions of tiles to those of rows
//===----------------------------------------------------------------------===//

/// Partial results of reductions: for each of them, each column of tiles and
/// each row (of whole tiles) one float. They are combined in order, so results
/// do not differ from run to run.
template <class Problem, class Tile> struct Partials {
  static constexpr int64_t rows = (Problem::m + Tile::m - 1) / Tile::m * Tile::m;
  static constexpr int tiles = (Problem::n + Tile::n - 1) / Tile::n;
  static constexpr int64_t elements = rows * tiles;
};

struct FinishParams {
  float const *partials;
  void *buffers[32];
};

inline constexpr int finish_threads = 128;

template <class Problem, class Tile, class RowEpilogue> struct FinishRows;

template <class Problem, class Tile, class... List, class... Tensors,
          class... ResultList>
struct FinishRows<Problem, Tile,
                  RowEpilogue<Reductions<List...>, Operands<Tensors...>,
                              Results<ResultList...>>> {
  using Layout = Partials<Problem, Tile>;

  template <class Kind>
  FACT_DEVICE float finish(float const *partials, int row) {
    typename Kind::template Combine<float> combine;
    float value = partials[row];
    for (int tile = 1; tile < Layout::tiles; ++tile)
      value = combine(value, partials[tile * Layout::rows + row]);
    return Kind::is_mean ? value / Problem::n : value;
  }

  template <class Tensor>
  FACT_DEVICE float read(FinishParams const &params, int row) {
    // A scalar is read by all rows.
    int64_t at = Tensor::offset + (is_scalar<Tensor>() ? 0 : row);
    return widen(static_cast<typename Tensor::Element const *>(
        params.buffers[Tensor::buffer])[at]);
  }
  template <class Tensor> static constexpr __device__ bool is_scalar() {
    return std::is_same_v<Tensor, Scalar<Tensor::buffer, typename Tensor::Element,
                                         Tensor::offset>>;
  }

  template <class Result, size_t... I, size_t... J>
  FACT_DEVICE void store(FinishParams const &params, int row,
                         float const *reduced, float const *operands,
                         std::index_sequence<I...>, std::index_sequence<J...>) {
    using Tensor = typename Result::Tensor;
    using Element = typename Tensor::Element;
    static_cast<Element *>(
        params.buffers[Tensor::buffer])[Tensor::offset + row] =
        narrow<Element>(
            Result::Functor::apply(reduced[I]..., operands[J]...));
  }

  FACT_DEVICE void run(FinishParams const &params) {
    int row = blockIdx.x * finish_threads + threadIdx.x;
    if (row >= Problem::m)
      return;
    int i = 0;
    float reduced[] = {finish<typename List::Kind>(
        params.partials + i++ * Layout::elements, row)...};
    float operands[] = {read<Tensors>(params, row)..., 0.0f};
    (store<ResultList>(params, row, reduced, operands,
                       std::index_sequence_for<List...>{},
                       std::index_sequence_for<Tensors...>{}),
     ...);
  }
};

template <class Finish>
__global__ void __launch_bounds__(finish_threads)
    finish_rows(FinishParams const __grid_constant__ params) {
  Finish::run(params);
}

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_GEMMEPILOGUE_CUH
