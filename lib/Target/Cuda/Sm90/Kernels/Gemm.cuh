//===- Gemm.cuh - GEMM with a generated epilogue on Hopper -----*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
// Results and matrix operands may be ColumnMajor, as images with their channels
// first are.
//
// `Banded<Cooperative, Bands<...>>` multiplies only what lies within the bands
// of triangular factors, or what is used of the product (TileBands.cuh).
//
// Reductions of rows and of columns follow the schedule, with results of one
// element a row or column. Each tile leaves partial results in workspace, and a
// second small kernel of the same launch combines them. The product itself need
// not be stored (`Results<>`):
//
//   // the largest element of each row, plus one value of each
//   struct Last {
//     FACT_DEVICE float apply(float reduced, float y) { return reduced + y; }
//   };
//   ... GemmSchedule<...>,
//       RowEpilogue<Reductions<Reduced<Epilogue, ReduceMax>>,
//                   Operands<ColumnVector<6, f32>>,
//                   Results<Result<Last, ColumnVector<7, bf16>>>>,
//       ColumnEpilogue<...>>;
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GEMM_CUH
#define FACT_CUTLASS_GEMM_CUH

// The collective builders' umbrella headers parse every architecture. These
// are the Hopper parts: a third less to parse.
#include "BandScheduler.cuh"
#include "GemmEpilogue.cuh"
#include "cutlass/gemm/collective/collective_builder_decl.hpp"
#include "cutlass/gemm/collective/collective_mma_decl.hpp"
#include "cutlass/gemm/collective/sm90_mma_tma_gmma_rs_warpspecialized.hpp"
#include "cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp"
#include "cutlass/gemm/collective/builders/sm90_gmma_builder.inl"
#include "cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_cooperative.hpp"
#include "cutlass/gemm/kernel/sm90_gemm_tma_warpspecialized_pingpong.hpp"

namespace fact {

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

template <int M, int N> struct Cluster {
  static constexpr int m = M, n = N;
};

/// How many tiles of the slower direction share a band, for L2 reuse.
template <int64_t Size> struct Swizzle {
  static constexpr int64_t size = Size;
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
  static constexpr bool promotes = false;
  static constexpr bool has_bands = false;
};

/// Two warpgroups take tiles in turn: one's epilogue hides behind the other's
/// products.
struct Pingpong {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
  using Epilogue = cutlass::epilogue::TmaWarpSpecialized;
  using Scheduler = cutlass::gemm::PersistentScheduler;
  static constexpr int warpgroups_per_tile = 1;
  static constexpr bool splits_k = false;
  static constexpr bool promotes = false;
  static constexpr bool has_bands = false;
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
  static_assert(Tile::m % 64 == 0, "tile M must be a multiple of 64");
  static_assert(Tile::n % 8 == 0 && Tile::n >= 16 && Tile::n <= 256,
                "tile N must be a multiple of 8 from 16 to 256");
  static_assert(Kernel::warpgroups_per_tile == 1 || Tile::m >= 128,
                "a cooperative kernel needs tile M of at least 128");
  static_assert(Tile::m * Tile::n * (Kernel::promotes ? 2 : 1) /
                        (128 * Kernel::warpgroups_per_tile) <=
                    128,
                "the accumulator needs more than 128 registers a thread and "
                "would spill: use a smaller tile, or a cooperative kernel");
  static_assert(Cluster::m * Cluster::n <= 4, "clusters hold at most 4 blocks");
  static_assert(is_size(Swizzle::size) || Swizzle::size == 1 ||
                    Swizzle::size == 2 || Swizzle::size == 4 ||
                    Swizzle::size == 8,
                "swizzle must be 1, 2, 4 or 8");
};

namespace sm90 {

/// The main loop of a schedule, given the one that CUTLASS's builder makes.
template <class Schedule, class Built> struct MainloopOf {
  using type = Built;
};

/// Whether a strict product reads small parts of B, which were computed before
/// (Float32.cuh); others compute them tile by tile.
template <class Schedule>
constexpr bool splits_ahead =
    Schedule::Kernel::promotes && Schedule::Kernel::warpgroups_per_tile == 2 &&
    Schedule::Tile::m == 128 && Schedule::Tile::k == 32;

/// Bytes that a kernel keeps beside its stages: small parts of two tiles.
template <class Schedule>
constexpr int spare_bytes =
    Schedule::Kernel::promotes && !splits_ahead<Schedule>
        ? 2 * (Schedule::Tile::m + Schedule::Tile::n) * Schedule::Tile::k * 4
        : 0;

/// As many stages as fit beside the epilogue.
template <class Schedule, class A, class B, class Epilogue>
constexpr int stages_of =
    cutlass::gemm::collective::detail::compute_stage_count_or_override<
        cutlass::gemm::collective::detail::sm90_smem_capacity_bytes, Element<A>,
        Element<B>,
        cute::Shape<
            cute::Int<Schedule::Tile::m>,
            cute::Int<Schedule::Tile::n *(splits_ahead<Schedule> ? 2 : 1)>,
            cute::Int<Schedule::Tile::k>>>(
        cutlass::gemm::collective::StageCountAutoCarveout<
            static_cast<int>(sizeof(typename Epilogue::SharedStorage)) +
            spare_bytes<Schedule>>{});

/// The builder of main loops with A in registers reads the count as `bytes`.
template <int Count>
struct StageCount : cutlass::gemm::collective::StageCount<Count> {
  static constexpr int bytes = Count;
};

template <class Schedule, class A, class B, class Epilogue>
using Mainloop = typename MainloopOf<
    Schedule,
    typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element<A>,
        Layout<A>, alignment<A>, Element<B>, Layout<B>, alignment<B>, float,
        cute::Shape<cute::Int<Schedule::Tile::m>, cute::Int<Schedule::Tile::n>,
                    cute::Int<Schedule::Tile::k>>,
        cute::Shape<cute::Int<Schedule::Cluster::m>,
                    cute::Int<Schedule::Cluster::n>, cute::_1>,
        StageCount<stages_of<Schedule, A, B, Epilogue>>,
        typename Schedule::Kernel::Mainloop>::CollectiveOp>::type;

/// How the main loop reads A and B, given one of matrices: these by their
/// strides.
template <class A, class B, class Built> struct Factors {
  using Mainloop = Built;
  static typename Mainloop::Arguments arguments(void *const *buffers,
                                                Sizes sizes) {
    return {pointer<A>(buffers, sizes),
            make_stride<typename Mainloop::StrideA, A>(sizes),
            pointer<B>(buffers, sizes),
            make_stride<typename Mainloop::StrideB, B>(sizes)};
  }
  /// An error of the main loop's parameters, or success.
  static int check(typename Mainloop::Params const &) { return cudaSuccess; }
};

} // namespace sm90

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule, class Rows = NoRowEpilogue,
          class Columns = NoColumnEpilogue>
class Gemm;

template <class Problem, class A, class B, class... Tensors, class First,
          class... Further, class Schedule, class... RowReductions,
          class... RowTensors, class... RowResults, class... ColumnReductions,
          class... ColumnTensors, class... ColumnResults>
class Gemm<
    Problem, A, B, Operands<Tensors...>, Results<First, Further...>, Schedule,
    RowEpilogue<Reductions<RowReductions...>, Operands<RowTensors...>,
                Results<RowResults...>>,
    ColumnEpilogue<Reductions<ColumnReductions...>, Operands<ColumnTensors...>,
                   Results<ColumnResults...>>> {
  using Rows = RowEpilogue<Reductions<RowReductions...>,
                           Operands<RowTensors...>, Results<RowResults...>>;
  using Columns =
      ColumnEpilogue<Reductions<ColumnReductions...>,
                     Operands<ColumnTensors...>, Results<ColumnResults...>>;
  static constexpr bool reduces_rows = sizeof...(RowReductions) > 0;
  static constexpr bool reduces_columns = sizeof...(ColumnReductions) > 0;
  static constexpr bool reduces = reduces_rows || reduces_columns;
  using D = typename First::Tensor;
  using Source = typename sm90::FindSource<Tensors...>::type;
  using Tile = typename Schedule::Tile;
  using Cluster = typename Schedule::Cluster;
  using Kind = typename Schedule::Kernel;

  template <class Tensor> static constexpr bool is_readable() {
    if constexpr (is_matrix<Tensor>::value)
      return tma_can_address<Tensor>();
    return true;
  }

  static_assert(std::is_same_v<typename A::Element, typename B::Element>,
                "A and B must have the same element type");
  static_assert(Tile::k * sizeof(typename A::Element) % 32 == 0,
                "tile K must be a multiple of 32 bytes");
  // wgmma reads 32-bit operands along K only, but A also from registers.
  static_assert(sizeof(typename A::Element) == 2 ||
                    (!is_row_major<B>::value &&
                     (is_row_major<A>::value || !Kind::promotes)),
                "B of 32 bits must be column-major, and A of a strict product "
                "row-major");
  static_assert(tma_can_address<A>(), "A's strides must be 16-byte multiples");
  static_assert(tma_can_address<B>(), "B's strides must be 16-byte multiples");
  static constexpr bool stores = !std::is_void_v<typename D::Element>;
  static_assert(is_readable<D>() &&
                    (tma_can_address<typename Further::Tensor>() && ...),
                "the strides of results must be 16-byte multiples");

  static_assert((is_readable<Tensors>() && ...),
                "the strides of matrix operands must be 16-byte multiples");

  using TileShape =
      cute::Shape<cute::Int<Tile::m>, cute::Int<Tile::n>, cute::Int<Tile::k>>;
  using ClusterShape =
      cute::Shape<cute::Int<Cluster::m>, cute::Int<Cluster::n>, cute::_1>;

  using ElementC = typename sm90::NumericType<typename Source::Element>::type;
  // What shared memory holds of D, or lends to reductions where there is none.
  using Staged = std::conditional_t<stores, sm90::Element<D>, sm90::Element<A>>;
  using Descriptor = cutlass::epilogue::collective::detail::EpilogueDescriptor<
      TileShape, cutlass::epilogue::collective::EpilogueTileAuto, ElementC,
      Staged, typename Kind::Epilogue>;
  static_assert(stores || reduces, "a GEMM without a result");
  static_assert(!reduces || !Kind::splits_k, "reductions take K in one part");

  static_assert(!reduces || !(is_size(Problem::m) || is_size(Problem::n) ||
                              is_size(Problem::batches)),
                "reductions are of one size");
  static constexpr bool is_whole =
      Problem::m % Tile::m == 0 && Problem::n % Tile::n == 0;

  // The partial results of rows come first in workspace.
  using Direction = sm90::Direction;
  using RowPartials = sm90::Partials<Problem, Tile, Direction::Rows>;
  using ColumnPartials = sm90::Partials<Problem, Tile, Direction::Columns>;
  using FinishRows =
      sm90::Finish<RowPartials, Reductions<RowReductions...>,
                   Operands<RowTensors...>, Results<RowResults...>>;
  using FinishColumns =
      sm90::Finish<ColumnPartials, Reductions<ColumnReductions...>,
                   Operands<ColumnTensors...>, Results<ColumnResults...>>;
  template <class RowIndices, class ColumnIndices> struct SinksOf;
  template <size_t... I, size_t... J>
  struct SinksOf<std::index_sequence<I...>, std::index_sequence<J...>> {
    using type = sm90::Sinks<
        sm90::Store<Further, Descriptor>...,
        sm90::Reduce<RowReductions, Descriptor, Direction::Rows, is_whole,
                     I * RowPartials::elements>...,
        sm90::Reduce<ColumnReductions, Descriptor, Direction::Columns, is_whole,
                     FinishRows::elements + J * ColumnPartials::elements>...>;
  };
  using Tree = sm90::EpilogueTree<
      Descriptor, Source, Operands<Tensors...>, First,
      typename SinksOf<std::index_sequence_for<RowReductions...>,
                       std::index_sequence_for<ColumnReductions...>>::type>;

  using Visitor =
      std::conditional_t<stores, typename Tree::Visitor,
                         sm90::Unstoring<typename Tree::Visitor, Staged>>;

  static constexpr int source_alignment = [] {
    if constexpr (std::is_void_v<ElementC>)
      return sm90::alignment<D>;
    else
      return sm90::alignment<Source>;
  }();

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape,
      ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float,
      float, ElementC, sm90::Layout<Source>, source_alignment, sm90::Element<D>,
      sm90::Layout<D>, sm90::alignment<D>, typename Kind::Epilogue,
      Visitor>::CollectiveOp;

  using Factors = sm90::Factors<A, B, sm90::Mainloop<Schedule, A, B, Epilogue>>;
  using Mainloop = typename Factors::Mainloop;
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

  static constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
  }
  static constexpr uint64_t count_tiles(Sizes sizes) {
    uint64_t swizzle = sizes(Schedule::Swizzle::size);
    return round_up((sizes(Problem::m) + Tile::m - 1) / Tile::m,
                    Cluster::m * swizzle) *
           round_up((sizes(Problem::n) + Tile::n - 1) / Tile::n,
                    Cluster::n * swizzle) *
           sizes(Problem::batches);
  }
  /// All splits must run at once, for they wait for each other.
  static constexpr bool can_split(Sizes sizes) {
    if constexpr (Kind::splits_k)
      return Kind::splits == 1 || count_tiles(sizes) * Kind::splits <= 132;
    return true;
  }

  static constexpr uint64_t split_workspace_bytes(Sizes sizes) {
    // Stream-K splits less than two waves, and no Hopper has more than 144
    // multiprocessors.
    uint64_t split_tiles = count_tiles(sizes);
    if (Kind::splits == 1 && split_tiles > 2 * 144)
      split_tiles = 2 * 144;
    return split_tiles * Tile::m * Tile::n * sizeof(float) +
           round_up(split_tiles * 2 * sizeof(int), 128) + 256;
  }

public:
  static constexpr bool takes_sizes = true;
  static constexpr int buffer_count =
      count_buffers<A, B, Tensors..., D, typename Further::Tensor...,
                    RowTensors..., typename RowResults::Tensor...,
                    ColumnTensors..., typename ColumnResults::Tensor...>();
  static_assert(!reduces || buffer_count <= 32,
                "reductions take at most 32 buffers");
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    if constexpr (reduces)
      return (FinishRows::elements + FinishColumns::elements) * sizeof(float);
    else if constexpr (Kind::splits_k)
      return split_workspace_bytes(sizes);
    return 0;
  }

  struct State {
    typename Kernel::Params params;
    dim3 grid;
    // To clear the barriers before each launch; otherwise unused.
    typename Kernel::Arguments arguments;
    void *workspace;
    // To combine what reductions left in workspace.
    sm90::FinishParams rows, columns;
  };

  static int bind(State &state, Sizes sizes, void *const *buffers,
                  void *workspace) {
    if (!(is_tma_aligned<A>(buffers, sizes) &&
          is_tma_aligned<B>(buffers, sizes) &&
          is_tma_aligned<D>(buffers, sizes) &&
          (is_tma_aligned<Tensors>(buffers, sizes) && ...) &&
          (is_tma_aligned<typename Further::Tensor>(buffers, sizes) && ...)))
      return cudaErrorMisalignedAddress;
    if (!can_split(sizes))
      return cudaErrorInvalidValue;

    int device;
    if (cudaError_t error = cudaGetDevice(&device))
      return error;
    if (int error = allow_shared_memory(cutlass::device_kernel<Kernel>,
                                        Kernel::SharedStorageSize))
      return error;

    auto &arguments = state.arguments;
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape =
        cute::make_shape(int(sizes(Problem::m)), int(sizes(Problem::n)),
                         int(sizes(Problem::k)), int(sizes(Problem::batches)));
    arguments.mainloop = Factors::arguments(buffers, sizes);
    arguments.epilogue.thread =
        Tree::arguments(buffers, sizes, static_cast<float *>(workspace));
    if constexpr (!std::is_void_v<ElementC>) {
      arguments.epilogue.ptr_C = sm90::pointer<Source>(buffers, sizes);
      arguments.epilogue.dC =
          sm90::make_stride<typename Kernel::StrideC, Source>(sizes);
    }
    if constexpr (stores) {
      arguments.epilogue.ptr_D = sm90::pointer<D>(buffers, sizes);
      arguments.epilogue.dD =
          sm90::make_stride<typename Kernel::StrideD, D>(sizes);
    }
    arguments.hw_info =
        cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>(device);
    arguments.scheduler.max_swizzle_size = int(sizes(Schedule::Swizzle::size));
    arguments.scheduler.raster_order = Schedule::Raster::order;
    if constexpr (Kind::has_bands)
      arguments.scheduler.bands = Kind::Bands::get(sizes);
    if constexpr (Kind::splits_k) {
      using Mode = decltype(arguments.scheduler.decomposition_mode);
      arguments.scheduler.splits = Kind::splits;
      arguments.scheduler.decomposition_mode =
          Kind::splits > 1 ? Mode::SplitK : Mode::StreamK;
    }

    if (!Kernel::can_implement(sm90::round_extents(arguments)))
      return cudaErrorInvalidValue;
    if (Kernel::get_workspace_size(arguments) >
        (reduces ? 0 : workspace_bytes(sizes)))
      return cudaErrorMemoryAllocation;
    state.workspace = workspace;
    if constexpr (reduces) {
      state.rows.partials = static_cast<float const *>(workspace);
      for (int i = 0; i < buffer_count; ++i)
        state.rows.buffers[i] = buffers[i];
      state.columns = state.rows;
      state.columns.partials += FinishRows::elements;
    }
    state.params = Kernel::to_underlying_arguments(arguments, workspace);
    if (int error = Factors::check(state.params.mainloop))
      return error;
    state.grid = Kernel::get_grid_shape(state.params);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    // Barriers count up and are never reset by the kernel.
    if constexpr (Kind::splits_k)
      if (Kernel::initialize_workspace(state.arguments, state.workspace,
                                       stream) != cutlass::Status::kSuccess)
        return cudaErrorUnknown;
    int error = launch_kernel(&cutlass::device_kernel<Kernel>, state.grid,
                              dim3(Cluster::m, Cluster::n, 1),
                              Kernel::get_block_shape(),
                              Kernel::SharedStorageSize, state.params, stream);
    if constexpr (reduces_rows)
      if (!error)
        error = finish<FinishRows>(state.rows, stream);
    if constexpr (reduces_columns)
      if (!error)
        error = finish<FinishColumns>(state.columns, stream);
    return error;
  }

private:
  template <class Finish>
  static int finish(sm90::FinishParams &params, cudaStream_t stream) {
    return launch_kernel(&sm90::finish_reductions<Finish>,
                         Finish::grid(Problem::batches), dim3(1, 1, 1),
                         dim3(Finish::threads), 0, params, stream);
  }

  template <class Tensor>
  static bool is_tma_aligned(void *const *buffers, Sizes sizes) {
    if constexpr (is_matrix<Tensor>::value || std::is_same_v<Tensor, A> ||
                  std::is_same_v<Tensor, B>)
      return is_aligned(Tensor::pointer(buffers, sizes), 16) &&
             tma_can_address<Tensor>(sizes);
    return true;
  }
};

/// Nothing but reductions is stored.
template <class Problem, class A, class B, class OperandList, class Schedule,
          class Rows, class Columns>
class Gemm<Problem, A, B, OperandList, Results<>, Schedule, Rows, Columns>
    : public Gemm<Problem, A, B, OperandList, Results<sm90::NoResult>, Schedule,
                  Rows, Columns> {};

} // namespace fact

#endif // FACT_CUTLASS_GEMM_CUH
