//===- Gemm.cuh - GEMM with a generated epilogue on Hopper ------*- CUDA -*-===//
//
// For each result r:  D_r = f_r(A * B, operands...), with batches, fp32
// accumulation and any pointwise f_r. One CUTLASS kernel: TMA loads, wgmma,
// and an epilogue visitor tree whose only compute node is the functor.
//
//   // relu(x @ W^T + bias) * scale + residual
//   #include "fact/cutlass/Gemm.cuh"
//
//   namespace fact::gemm_0 {
//
//   struct Epilogue {
//     FACT_DEVICE float apply(float accumulator, float bias, float scale,
//                             float residual) {
//       return fmaxf(accumulator + bias, 0.0f) * scale + residual;
//     }
//   };
//
//   using Kernel = Gemm<
//       Problem<4096, 3072, 768>,                    // M, N, K, batches = 1
//       RowMajor<0, bf16, 768>,                      // A[M, K]
//       ColumnMajor<1, bf16, 768>,                   // B[K, N], stored [N, K]
//       Operands<RowVector<2, bf16>, Scalar<3, f32>, RowMajor<4, bf16, 3072>>,
//       Results<Result<Epilogue, RowMajor<5, bf16, 3072>>>,
//       GemmSchedule<Tile<128, 128, 64>, Cluster<2, 1>, Pingpong, Swizzle<1>,
//                    AlongM>>;
//
//   FACT_KERNEL(gemm_0, Kernel)
//
//   } // namespace fact::gemm_0
//
// Without an epilogue, the functor is `Identity` and the operands `Operands<>`.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GEMM_CUH
#define FACT_CUTLASS_GEMM_CUH

#include "Kernel.cuh"
#include "Math.cuh"

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
// Schedules
//===----------------------------------------------------------------------===//

template <int M, int N, int K> struct Tile {
  static constexpr int m = M, n = N, k = K;
};

template <int M, int N> struct Cluster {
  static constexpr int m = M, n = N;
};

/// How many tiles of the slower direction share a band, for L2 reuse.
template <int Size> struct Swizzle {
  static constexpr int size = Size;
};

using RasterOrder = cutlass::gemm::kernel::detail::RasterOrderOptions;

struct AlongM {
  static constexpr RasterOrder order = RasterOrder::AlongM;
};
struct AlongN {
  static constexpr RasterOrder order = RasterOrder::AlongN;
};
struct Heuristic {
  static constexpr RasterOrder order = RasterOrder::Heuristic;
};

/// Two warpgroups share each tile.
struct Cooperative {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
  using Epilogue = cutlass::epilogue::TmaWarpSpecializedCooperative;
  using Scheduler = cutlass::gemm::PersistentScheduler;
  static constexpr int warpgroups_per_tile = 2;
  static constexpr bool splits_k = false;
};

/// Two warpgroups take tiles in turn: one's epilogue hides behind the other's
/// products.
struct Pingpong {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
  using Epilogue = cutlass::epilogue::TmaWarpSpecialized;
  using Scheduler = cutlass::gemm::PersistentScheduler;
  static constexpr int warpgroups_per_tile = 1;
  static constexpr bool splits_k = false;
};

/// Cooperative; the last partial wave is divided evenly along K.
struct StreamK : Cooperative {
  using Scheduler = cutlass::gemm::StreamKScheduler;
  static constexpr bool splits_k = true;
  static constexpr int splits = 1;
};

/// Cooperative; each tile is divided into `Splits` parts along K.
template <int Splits> struct SplitK : StreamK {
  static constexpr int splits = Splits;
};

template <class Tile_, class Cluster_, class Kernel_,
          class Swizzle_ = Swizzle<1>, class Raster_ = Heuristic>
struct GemmSchedule {
  using Tile = Tile_;
  using Cluster = Cluster_;
  using Kernel = Kernel_;
  using Swizzle = Swizzle_;
  using Raster = Raster_;
  template <int Size>
  using WithSwizzle =
      GemmSchedule<Tile, Cluster, Kernel, fact::Swizzle<Size>, Raster>;

  static_assert(Tile::m % 64 == 0, "tile M must be a multiple of 64");
  static_assert(Tile::n % 8 == 0 && Tile::n >= 16 && Tile::n <= 256,
                "tile N must be a multiple of 8 from 16 to 256");
  static_assert(Kernel::warpgroups_per_tile == 1 || Tile::m >= 128,
                "a cooperative kernel needs tile M of at least 128");
  static_assert(Tile::m * Tile::n / (128 * Kernel::warpgroups_per_tile) <= 128,
                "the accumulator needs more than 128 registers a thread and "
                "would spill: use a smaller tile, or a cooperative kernel");
  static_assert(Cluster::m * Cluster::n <= 4, "clusters hold at most 4 blocks");
  static_assert(Swizzle::size == 1 || Swizzle::size == 2 ||
                    Swizzle::size == 4 || Swizzle::size == 8,
                "swizzle must be 1, 2, 4 or 8");
};

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

/// The visitor that writes a further result, and its arguments.
template <class Tensor, class Descriptor> struct Store {
  using Details =
      collective::detail::AuxStoreDescriptor<Descriptor,
                                             cutlass::layout::RowMajor,
                                             Element<Tensor>>;
  using Visitor = fusion::Sm90AuxStore<
      Details::Stages, typename Details::EpilogueTile, Element<Tensor>, nearest,
      typename Details::Stride, typename Details::SmemLayoutAtom,
      typename Details::CopyOpR2S, alignment<Tensor>, /*EnableNullptr=*/false>;
  static typename Visitor::Arguments arguments(void *const *buffers) {
    return {pointer<Tensor>(buffers),
            make_stride<typename Details::Stride, Tensor>()};
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

template <class Descriptor, class Source, class OperandList, class ResultList>
struct EpilogueTree;

template <class Descriptor, class Source, class... Tensors, class First,
          class... Further>
struct EpilogueTree<Descriptor, Source, Operands<Tensors...>,
                    Results<First, Further...>> {
  template <class Tensor>
  using LoadOf = Load<Tensor, std::is_same_v<Tensor, Source>, Descriptor>;
  template <class Result> using StoreOf = Store<typename Result::Tensor, Descriptor>;

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
                  typename StoreOf<Further>::Visitor>{}...,
      cute::tuple<Compute<typename First::Functor>>{}))>::type;

  /// One result needs no graph: its functor is the root of a tree.
  using Tree =
      fusion::Sm90EVT<Compute<typename First::Functor>, fusion::Sm90AccFetch,
                      typename LoadOf<Tensors>::Visitor...>;
  using Visitor = std::conditional_t<sizeof...(Further) == 0, Tree, Graph>;

  /// In both cases the arguments of all nodes, in topological order.
  static typename Visitor::Arguments arguments(void *const *buffers) {
    auto nodes = cute::tuple_cat(
        cute::make_tuple(fusion::Sm90AccFetch::Arguments{},
                         LoadOf<Tensors>::arguments(buffers)...),
        cute::make_tuple(
            typename Compute<typename Further::Functor>::Arguments{},
            StoreOf<Further>::arguments(buffers))...,
        cute::make_tuple(typename Compute<typename First::Functor>::Arguments{}));
    return cute::apply(nodes, [](auto const &...arguments) {
      return typename Visitor::Arguments{arguments...};
    });
  }
};

} // namespace sm90

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule>
class Gemm;

template <class Problem, class A, class B, class... Tensors, class First,
          class... Further, class Schedule>
class Gemm<Problem, A, B, Operands<Tensors...>, Results<First, Further...>,
           Schedule> {
  using D = typename First::Tensor;
  using Source = typename sm90::FindSource<Tensors...>::type;
  using Tile = typename Schedule::Tile;
  using Cluster = typename Schedule::Cluster;
  using Kind = typename Schedule::Kernel;

  static_assert(std::is_same_v<typename A::Element, typename B::Element>,
                "A and B must have the same element type");
  static_assert(Tile::k * sizeof(typename A::Element) % 32 == 0,
                "tile K must be a multiple of 32 bytes");
  static_assert(sizeof(typename A::Element) == 2 ||
                    (is_row_major<A>::value && !is_row_major<B>::value),
                "wgmma reads 32-bit operands along K only: A row-major, B "
                "column-major");
  static_assert(tma_can_address<A>(), "A's strides must be 16-byte multiples");
  static_assert(tma_can_address<B>(), "B's strides must be 16-byte multiples");
  static_assert(tma_can_address<D>() &&
                    (tma_can_address<typename Further::Tensor>() && ...),
                "the strides of results must be 16-byte multiples");

  template <class Tensor> static constexpr bool is_readable() {
    if constexpr (is_row_major<Tensor>::value)
      return tma_can_address<Tensor>();
    return true;
  }
  static_assert((is_readable<Tensors>() && ...),
                "the strides of matrix operands must be 16-byte multiples");

  using TileShape = cute::Shape<cute::Int<Tile::m>, cute::Int<Tile::n>,
                                cute::Int<Tile::k>>;
  using ClusterShape =
      cute::Shape<cute::Int<Cluster::m>, cute::Int<Cluster::n>, cute::_1>;

  using ElementC = typename sm90::NumericType<typename Source::Element>::type;
  using Descriptor = cutlass::epilogue::collective::detail::EpilogueDescriptor<
      TileShape, cutlass::epilogue::collective::EpilogueTileAuto, ElementC,
      sm90::Element<D>, typename Kind::Epilogue>;
  using Tree = sm90::EpilogueTree<Descriptor, Source, Operands<Tensors...>,
                                  Results<First, Further...>>;

  static constexpr int source_alignment = [] {
    if constexpr (std::is_void_v<ElementC>)
      return sm90::alignment<D>;
    else
      return sm90::alignment<Source>;
  }();

  using Epilogue =
      typename cutlass::epilogue::collective::CollectiveBuilder<
          cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape,
          ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float,
          float, ElementC, cutlass::layout::RowMajor, source_alignment,
          sm90::Element<D>, cutlass::layout::RowMajor, sm90::alignment<D>,
          typename Kind::Epilogue, typename Tree::Visitor>::CollectiveOp;

  // As many stages as fit beside the epilogue.
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, sm90::Element<A>,
      sm90::Layout<A>, sm90::alignment<A>, sm90::Element<B>, sm90::Layout<B>,
      sm90::alignment<B>, float, TileShape, ClusterShape,
      cutlass::gemm::collective::StageCountAutoCarveout<
          static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
      typename Kind::Mainloop>::CollectiveOp;
  static_assert(Mainloop::DispatchPolicy::Stages >= 2,
                "tile and epilogue leave shared memory for fewer than two "
                "stages: use a smaller tile or fewer matrix operands");

  using Kernel =
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>,
                                           Mainloop, Epilogue,
                                           typename Kind::Scheduler>;
  static_assert(Kernel::SharedStorageSize <= 232448,
                "tile and epilogue exceed shared memory");

  //===--------------------------------------------------------------------===//
  // Splitting along K keeps partial sums and one barrier for each tile and
  // warpgroup in workspace.

  static constexpr int round_up(int value, int unit) {
    return (value + unit - 1) / unit * unit;
  }
  static constexpr uint64_t tiles =
      uint64_t(round_up((Problem::m + Tile::m - 1) / Tile::m,
                        Cluster::m * Schedule::Swizzle::size)) *
      round_up((Problem::n + Tile::n - 1) / Tile::n,
               Cluster::n * Schedule::Swizzle::size) *
      Problem::batches;

  static constexpr uint64_t split_workspace_bytes() {
    if constexpr (!Kind::splits_k) {
      return 0;
    } else {
      static_assert(Kind::splits == 1 || tiles * Kind::splits <= 132,
                    "all splits must run at once, for they wait for each "
                    "other: use fewer, or stream-K");
      // Stream-K splits less than two waves, and no Hopper has more than 144
      // multiprocessors.
      uint64_t split_tiles =
          Kind::splits > 1 || tiles < 2 * 144 ? tiles : 2 * 144;
      return split_tiles * Tile::m * Tile::n * sizeof(float) +
             round_up(split_tiles * 2 * sizeof(int), 128) + 256;
    }
  }

public:
  /// The same device code, which visits tiles in another order.
  template <int Size>
  using WithSwizzle =
      Gemm<Problem, A, B, Operands<Tensors...>, Results<First, Further...>,
           typename Schedule::template WithSwizzle<Size>>;

  static constexpr int buffer_count =
      count_buffers<A, B, Tensors..., D, typename Further::Tensor...>();
  static constexpr uint64_t workspace_bytes = split_workspace_bytes();

  struct State {
    typename Kernel::Params params;
    dim3 grid;
    // To clear the barriers before each launch; otherwise unused.
    typename Kernel::Arguments arguments;
    void *workspace;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    if (!(is_tma_aligned<A>(buffers) && is_tma_aligned<B>(buffers) &&
          is_tma_aligned<D>(buffers) &&
          (is_tma_aligned<Tensors>(buffers) && ...) &&
          (is_tma_aligned<typename Further::Tensor>(buffers) && ...)))
      return cudaErrorMisalignedAddress;

    int device;
    if (cudaError_t error = cudaGetDevice(&device))
      return error;
    if (int error = allow_shared_memory(cutlass::device_kernel<Kernel>,
                                        Kernel::SharedStorageSize))
      return error;

    auto &arguments = state.arguments;
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape = cute::make_shape(
        int(Problem::m), int(Problem::n), int(Problem::k), int(Problem::batches));
    arguments.mainloop = {
        sm90::pointer<A>(buffers),
        sm90::make_stride<typename Kernel::StrideA, A>(),
        sm90::pointer<B>(buffers),
        sm90::make_stride<typename Kernel::StrideB, B>()};
    arguments.epilogue.thread = Tree::arguments(buffers);
    if constexpr (!std::is_void_v<ElementC>) {
      arguments.epilogue.ptr_C = sm90::pointer<Source>(buffers);
      arguments.epilogue.dC =
          sm90::make_stride<typename Kernel::StrideC, Source>();
    }
    arguments.epilogue.ptr_D = sm90::pointer<D>(buffers);
    arguments.epilogue.dD = sm90::make_stride<typename Kernel::StrideD, D>();
    arguments.hw_info =
        cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>(device);
    arguments.scheduler.max_swizzle_size = Schedule::Swizzle::size;
    arguments.scheduler.raster_order = Schedule::Raster::order;
    if constexpr (Kind::splits_k) {
      using Mode = decltype(arguments.scheduler.decomposition_mode);
      arguments.scheduler.splits = Kind::splits;
      arguments.scheduler.decomposition_mode =
          Kind::splits > 1 ? Mode::SplitK : Mode::StreamK;
    }

    if (!Kernel::can_implement(arguments))
      return cudaErrorInvalidValue;
    if (Kernel::get_workspace_size(arguments) > workspace_bytes)
      return cudaErrorMemoryAllocation;
    state.workspace = workspace;
    state.params = Kernel::to_underlying_arguments(arguments, workspace);
    state.grid = Kernel::get_grid_shape(state.params);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    // Barriers count up and are never reset by the kernel.
    if constexpr (Kind::splits_k)
      if (Kernel::initialize_workspace(state.arguments, state.workspace,
                                       stream) != cutlass::Status::kSuccess)
        return cudaErrorUnknown;
    return launch_kernel(&cutlass::device_kernel<Kernel>, state.grid,
                         dim3(Cluster::m, Cluster::n, 1),
                         Kernel::get_block_shape(), Kernel::SharedStorageSize,
                         state.params, stream);
  }

private:
  template <class Tensor> static bool is_tma_aligned(void *const *buffers) {
    if constexpr (is_row_major<Tensor>::value ||
                  std::is_same_v<Tensor, A> || std::is_same_v<Tensor, B>)
      return is_aligned(Tensor::pointer(buffers), 16);
    return true;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_GEMM_CUH
