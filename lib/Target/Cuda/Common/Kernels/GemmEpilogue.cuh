//===- GemmEpilogue.cuh - Functors as a visitor tree -----------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GEMM does with its accumulators, in CUTLASS's words: loads of
// operands, one compute node for each functor, stores of further results, and
// partial results of reductions. The visitors are Hopper's; Blackwell's
// epilogues take them too.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GEMMEPILOGUE_CUH
#define FACT_CUTLASS_GEMMEPILOGUE_CUH

#include "GemmReductions.cuh"

#include "cutlass/cutlass.h"
#include "cutlass/device_kernel.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"

namespace fact {

using tf32 = cutlass::tfloat32_t;

//===----------------------------------------------------------------------===//
// From FACT's words to CUTLASS's
//===----------------------------------------------------------------------===//

namespace sm90 {

namespace collective = cutlass::epilogue::collective;
namespace fusion = cutlass::epilogue::fusion;

inline constexpr auto nearest = cutlass::FloatRoundStyle::round_to_nearest;

template <class Element> struct NumericType {
  using type = Element;
};
template <> struct NumericType<bf16> {
  using type = cutlass::bfloat16_t;
};
template <> struct NumericType<f16> {
  using type = cutlass::half_t;
};
/// A boolean is a byte that is 0 or 1.
template <> struct NumericType<i1> {
  using type = uint8_t;
};

template <class Tensor>
using Element = typename NumericType<typename Tensor::Element>::type;

/// What functors see of an element: floats as f32, booleans and integers as
/// they are.
template <class Number>
using Computed = std::conditional_t<std::is_integral_v<Number>, Number, float>;

template <class Tensor>
constexpr int alignment = 16 / sizeof(typename Tensor::Element);

/// Row-major for what stands in for no tensor, too.
template <class Tensor>
using Layout =
    std::conditional_t<is_row_major<Tensor>::value ||
                           std::is_void_v<typename Tensor::Element>,
                       cutlass::layout::RowMajor, cutlass::layout::ColumnMajor>;

template <class Tensor> auto *pointer(void *const *buffers, Sizes sizes = {}) {
  return reinterpret_cast<Element<Tensor> *>(Tensor::pointer(buffers, sizes));
}

/// CUTLASS strides have the unit stride as a static 1 in the place the layout
/// gives it (B counts as [N, K]); the other two are the leading dimension and
/// the batch stride.
template <class Stride, class Tensor> Stride make_stride(Sizes sizes = {}) {
  Stride stride;
  if constexpr (cute::is_constant<1, decltype(cute::get<0>(stride))>::value)
    cute::get<1>(stride) = sizes(Tensor::leading_dimension);
  else
    cute::get<0>(stride) = sizes(Tensor::leading_dimension);
  cute::get<2>(stride) = sizes(Tensor::batch_stride);
  return stride;
}

/// An extent rounded up to 16 bytes of elements of two.
constexpr int round_extent(int extent) { return (extent + 7) / 8 * 8; }

/// The arguments with extents rounded up to 16 bytes, for CUTLASS's check. It
/// wants whole rows of 16 bytes, but TMA needs only strides of them, which
/// `tma_can_address` checks. It reads nothing beyond the extents, and writes
/// what is behind a row up to 16 bytes: the emitter takes only rows with
/// padding there.
template <class Arguments> Arguments round_extents(Arguments arguments) {
  auto &shape = arguments.problem_shape;
  cute::get<0>(shape) = round_extent(cute::get<0>(shape));
  cute::get<1>(shape) = round_extent(cute::get<1>(shape));
  cute::get<2>(shape) = round_extent(cute::get<2>(shape));
  return arguments;
}

//===----------------------------------------------------------------------===//
// The epilogue as a visitor tree
//
// Its nodes, in topological order: the accumulator, the operands, a functor and
// a store for each further result, and last the functor whose value is D.
// What functors have in common is computed once: the compiler sees it inlined.
//===----------------------------------------------------------------------===//

/// Applies a scalar functor to the arrays that visitors pass along. CUTLASS's
/// own node would make floats of integers.
template <class Functor, class Output = float>
struct Compute : fusion::Sm90VisitorImpl<> {
  using fusion::Sm90VisitorImpl<>::Sm90VisitorImpl;

  struct ConsumerStoreCallbacks : fusion::EmptyConsumerStoreCallbacks {
    template <class Accumulator, class... Inputs, int Count>
    CUTLASS_DEVICE cutlass::Array<Output, Count>
    visit(cutlass::Array<Accumulator, Count> const &, int, int, int,
          cutlass::Array<Inputs, Count> const &...inputs) {
      return apply(cutlass::NumericArrayConverter<Computed<Inputs>, Inputs,
                                                  Count, nearest>{}(inputs)...);
    }

  private:
    template <class... Values, int Count>
    CUTLASS_DEVICE static cutlass::Array<Output, Count>
    apply(cutlass::Array<Values, Count> const &...values) {
      cutlass::Array<float, Count> result;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < Count; ++i)
        result[i] = Functor::apply(values[i]...);
      return cutlass::NumericArrayConverter<Output, float, Count, nearest>{}(
          result);
    }
  };

  template <bool ReferenceSrc, class... Args>
  CUTLASS_DEVICE auto
  get_consumer_store_callbacks(fusion::ConsumerStoreArgs<Args...> const &) {
    return ConsumerStoreCallbacks();
  }
};

/// How a matrix beside C and D is staged in shared memory, given CUTLASS's
/// descriptor of the epilogue.
template <class Descriptor, class Tensor> struct Staging {
  using Load = collective::detail::AuxLoadDescriptor<Descriptor, Layout<Tensor>,
                                                     Element<Tensor>>;
  using Store =
      collective::detail::AuxStoreDescriptor<Descriptor, Layout<Tensor>,
                                             Element<Tensor>>;
};

/// The visitor that reads an operand, and its arguments.
template <class Tensor, bool IsSource, class Descriptor> struct Load;

/// The first matrix rides as CUTLASS's C, which shares shared memory with D.
template <class Tensor, class Descriptor>
struct Load<Tensor, true, Descriptor> {
  using Visitor = fusion::Sm90SrcFetch<Element<Tensor>>;
  static typename Visitor::Arguments arguments(void *const *, Sizes) {
    return {};
  }
};

template <class Tensor, class Descriptor> struct LoadMatrix {
  using Details = typename Staging<Descriptor, Tensor>::Load;
  using Visitor =
      fusion::Sm90AuxLoad<Details::Stages, typename Details::EpilogueTile,
                          Element<Tensor>, typename Details::Stride,
                          typename Details::SmemLayoutAtom,
                          typename Details::CopyOpS2R, alignment<Tensor>,
                          /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               Sizes sizes) {
    return {pointer<Tensor>(buffers, sizes), Element<Tensor>(0),
            make_stride<typename Details::Stride, Tensor>(sizes)};
  }
};

template <int B, class E, int64_t L, int64_t S, int64_t O, class Descriptor>
struct Load<RowMajor<B, E, L, S, O>, false, Descriptor>
    : LoadMatrix<RowMajor<B, E, L, S, O>, Descriptor> {};

template <int B, class E, int64_t L, int64_t S, int64_t O, class Descriptor>
struct Load<ColumnMajor<B, E, L, S, O>, false, Descriptor>
    : LoadMatrix<ColumnMajor<B, E, L, S, O>, Descriptor> {};

template <int B, class E, int64_t S, int64_t O, class Descriptor>
struct Load<RowVector<B, E, S, O>, false, Descriptor> {
  using Tensor = RowVector<B, E, S, O>;
  using Visitor =
      fusion::Sm90RowBroadcast<0, typename Descriptor::TileShape,
                               Element<Tensor>, Computed<Element<Tensor>>,
                               cute::Stride<cute::_0, cute::_1, int64_t>,
                               alignment<Tensor>,
                               /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               Sizes sizes) {
    return {pointer<Tensor>(buffers, sizes),
            Element<Tensor>(0),
            {{}, {}, sizes(S)}};
  }
};

template <int B, class E, int64_t S, int64_t O, class Descriptor>
struct Load<ColumnVector<B, E, S, O>, false, Descriptor> {
  using Tensor = ColumnVector<B, E, S, O>;
  // Alignment 1: a thread's rows need not be neighbors.
  using Visitor =
      fusion::Sm90ColBroadcast<0, typename Descriptor::TileShape,
                               Element<Tensor>, Computed<Element<Tensor>>,
                               cute::Stride<cute::_1, cute::_0, int64_t>, 1,
                               /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               Sizes sizes) {
    return {pointer<Tensor>(buffers, sizes),
            Element<Tensor>(0),
            {{}, {}, sizes(S)}};
  }
};

template <int B, class E, int64_t O, class Descriptor>
struct Load<Scalar<B, E, O>, false, Descriptor> {
  using Tensor = Scalar<B, E, O>;
  using Visitor = fusion::Sm90ScalarBroadcast<Element<Tensor>>;
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               Sizes sizes) {
    return {{Element<Tensor>(0)}, {pointer<Tensor>(buffers, sizes)}, {}};
  }
};

/// Where the value of a functor goes that is not D: into a further result.
template <class Result, class Descriptor> struct Store {
  using Functor = typename Result::Functor;
  using Tensor = typename Result::Tensor;
  using Details = typename Staging<Descriptor, Tensor>::Store;
  using Visitor = fusion::Sm90AuxStore<
      Details::Stages, typename Details::EpilogueTile, Element<Tensor>, nearest,
      typename Details::Stride, typename Details::SmemLayoutAtom,
      typename Details::CopyOpR2S, alignment<Tensor>, /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               Sizes sizes, float *) {
    return {pointer<Tensor>(buffers, sizes),
            make_stride<typename Details::Stride, Tensor>(sizes)};
  }
};

/// Or into reductions of the rows or columns of each tile, of which `Partials`
/// says where they lie. Where all tiles are whole, no element asks where it is.
template <class Reduction, class Descriptor, Direction Along, bool IsWhole,
          int64_t Offset>
struct Reduce {
  using Functor = typename Reduction::Functor;
  using Kind = typename Reduction::Kind;
  // CUTLASS names the vector that is left: a column has an element a row.
  template <template <class> class Combine>
  using OfRows = fusion::Sm90ColReduction<
      Combine, Combine, Combine, 0, typename Descriptor::TileShape, float,
      float, nearest, cute::Stride<cute::_1, cute::_0, cute::_0>, 4,
      /*EnableNullptr=*/false, /*FinalReduction=*/false,
      /*VisitCheckOOB=*/!IsWhole>;
  template <template <class> class Combine>
  using OfColumns = fusion::Sm90RowReduction<
      Combine, Combine, Combine, 0, typename Descriptor::TileShape, float,
      float, nearest, cute::Stride<cute::_0, cute::_1, cute::_0>, 4,
      /*EnableNullptr=*/false, /*FinalReduction=*/false,
      /*VisitCheckOOB=*/!IsWhole>;
  using Visitor = std::conditional_t<Along == Direction::Rows,
                                     OfRows<Kind::template Combine>,
                                     OfColumns<Kind::template Combine>>;
  static typename Visitor::Arguments arguments(void *const *, Sizes,
                                               float *partials) {
    return {partials + Offset, Kind::identity, {}};
  }
};

/// In place of D where nothing of the product's size is stored.
struct Unstored {
  template <class... Values>
  FACT_DEVICE float apply(float accumulator, Values...) {
    return accumulator;
  }
};
struct Nowhere {
  using Element = void;
  static constexpr int buffer = -1;
};
using NoResult = Result<Unstored, Nowhere>;
template <> inline constexpr int alignment<Nowhere> = 8;

/// Its visitor names what is staged in D's stead, for CUTLASS to find.
template <class Visitor, class Staged> struct Unstoring : Visitor {
  using Visitor::Visitor;
  using ElementAux = Staged;
};

/// The first matrix of floats among the operands, or a stand-in with element
/// void: C and D share shared memory.
struct NoSource {
  using Element = void;
};
template <class... Tensors> struct FindSource {
  using type = NoSource;
};
template <class First, class... Rest> struct FindSource<First, Rest...> {
  static constexpr bool is_source =
      is_matrix<First>::value && !std::is_integral_v<typename First::Element>;
  using type =
      std::conditional_t<is_source, First, typename FindSource<Rest...>::type>;
};

template <class... List> struct Sinks {};

/// `First` gives D, and the sinks take what other functors give. D comes as
/// `Output`: Hopper's epilogue rounds it, Blackwell's stores it as it comes.
template <class Descriptor, class Source, class OperandList, class First,
          class SinkList, class Output = float>
struct EpilogueTree;

template <class Descriptor, class Source, class... Tensors, class First,
          class... Further, class Output>
struct EpilogueTree<Descriptor, Source, Operands<Tensors...>, First,
                    Sinks<Further...>, Output> {
  using Last = Compute<typename First::Functor, Output>;

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
      cute::tuple<Last>{}))>::type;

  /// One result needs no graph: its functor is the root of a tree.
  using Tree = fusion::Sm90EVT<Last, fusion::Sm90AccFetch,
                               typename LoadOf<Tensors>::Visitor...>;
  using Visitor = std::conditional_t<sizeof...(Further) == 0, Tree, Graph>;

  /// In both cases the arguments of all nodes, in topological order.
  static typename Visitor::Arguments arguments(void *const *buffers,
                                               Sizes sizes, float *partials) {
    auto nodes = cute::tuple_cat(
        cute::make_tuple(fusion::Sm90AccFetch::Arguments{},
                         LoadOf<Tensors>::arguments(buffers, sizes)...),
        cute::make_tuple(
            typename Compute<typename Further::Functor>::Arguments{},
            Further::arguments(buffers, sizes, partials))...,
        cute::make_tuple(typename Last::Arguments{}));
    return cute::apply(nodes, [](auto const &...arguments) {
      return typename Visitor::Arguments{arguments...};
    });
  }
};

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_GEMMEPILOGUE_CUH
