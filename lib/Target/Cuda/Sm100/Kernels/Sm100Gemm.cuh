//===- Sm100Gemm.cuh - GEMM with an epilogue on Blackwell ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each result r:  D_r = f_r(A * B, operands...), with batches, fp32
// accumulation and any pointwise f_r. One CUTLASS kernel: TMA loads, tcgen05
// with its accumulators in tensor memory, and the epilogue visitor tree of
// Hopper's GEMMs (Gemm.cuh), where the tensors and functors are explained.
//
//   using Kernel = Sm100Gemm<
//       Problem<4096, 3072, 768>,                    // M, N, K, batches = 1
//       RowMajor<0, bf16, 768>,                      // A[M, K]
//       ColumnMajor<1, bf16, 768>,                   // B[K, N], stored [N, K]
//       Operands<RowVector<2, bf16>>,
//       Results<Result<Epilogue, RowMajor<3, bf16, 3072>>>,
//       Sm100Schedule<Tile<128, 256, 64>, TwoSm, /*cluster=*/2, 1,
//                     /*swizzle=*/1>>;
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM100GEMM_CUH
#define FACT_CUTLASS_SM100GEMM_CUH

// The Blackwell parts of the collective builders' umbrella headers.
#include "GemmEpilogue.cuh"
#include "cutlass/gemm/collective/collective_builder_decl.hpp"
#include "cutlass/gemm/collective/collective_mma_decl.hpp"
#include "cutlass/gemm/collective/sm100_mma_warpspecialized.hpp"
#include "cutlass/gemm/collective/builders/sm100_umma_builder.inl"
#include "cutlass/gemm/kernel/gemm_universal_decl.h"
#include "cutlass/gemm/kernel/tile_scheduler.hpp"
#include "cutlass/gemm/kernel/sm100_gemm_tma_warpspecialized.hpp"

namespace fact {

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Each multiprocessor multiplies tiles of its own.
struct OneSm {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecialized1SmSm100;
  using Epilogue = cutlass::epilogue::TmaWarpSpecialized1Sm;
  static constexpr int blocks = 1;
};

/// Two multiprocessors multiply two tiles together, and share B.
struct TwoSm {
  using Mainloop = cutlass::gemm::KernelTmaWarpSpecialized2SmSm100;
  using Epilogue = cutlass::epilogue::TmaWarpSpecialized2Sm;
  static constexpr int blocks = 2;
};

/// `SwizzleSize`: how many tiles of the slower direction share a band, for L2
/// reuse.
template <class Tile_, class Kernel_, int ClusterM, int ClusterN,
          int SwizzleSize>
struct Sm100Schedule {
  using Tile = Tile_;
  using Kernel = Kernel_;
  static constexpr int cluster_m = ClusterM, cluster_n = ClusterN;
  static constexpr int swizzle = SwizzleSize;
  template <int Size>
  using WithSwizzle = Sm100Schedule<Tile, Kernel, ClusterM, ClusterN, Size>;

  static_assert(Tile::m == 128 || (Tile::m == 64 && Kernel::blocks == 1),
                "tile M must be 128, or 64 for one multiprocessor");
  static_assert(Tile::n % 32 == 0 && Tile::n <= 256,
                "tile N must be a multiple of 32 up to 256");
  static_assert(ClusterM % Kernel::blocks == 0,
                "two multiprocessors need an even cluster M");
};

namespace sm90 {

/// Matrices beside C and D on Blackwell.
template <class Class, class Tile, class EpilogueTile, class Accumulator,
          class C, class D, class Schedule, class StrideC, class StrideD,
          bool PerColumn, bool BlockScaled, class Tensor>
struct Staging<collective::detail::Sm100EpilogueDescriptor<
                   Class, Tile, EpilogueTile, Accumulator, C, D, Schedule,
                   StrideC, StrideD, PerColumn, BlockScaled>,
               Tensor> {
  using Descriptor = collective::detail::Sm100EpilogueDescriptor<
      Class, Tile, EpilogueTile, Accumulator, C, D, Schedule, StrideC, StrideD,
      PerColumn, BlockScaled>;
  using Load =
      collective::detail::Sm100AuxLoadDescriptor<Descriptor, Layout<Tensor>,
                                                 Element<Tensor>>;
  using Store =
      collective::detail::Sm100AuxStoreDescriptor<Descriptor, Layout<Tensor>,
                                                  Element<Tensor>>;
};

} // namespace sm90

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule>
class Sm100Gemm;

template <class Problem, class A, class B, class... Tensors, class First,
          class... Further, class Schedule>
class Sm100Gemm<Problem, A, B, Operands<Tensors...>, Results<First, Further...>,
                Schedule> {
  using D = typename First::Tensor;
  using Source = typename sm90::FindSource<Tensors...>::type;
  using Tile = typename Schedule::Tile;
  using Kind = typename Schedule::Kernel;

  template <class Tensor> static constexpr bool is_readable() {
    if constexpr (is_row_major<Tensor>::value)
      return tma_can_address<Tensor>();
    return true;
  }

  static_assert(std::is_same_v<typename A::Element, typename B::Element> &&
                    sizeof(typename A::Element) == 2,
                "A and B must both be bf16, or both f16");
  static_assert(tma_can_address<A>(), "A's strides must be 16-byte multiples");
  static_assert(tma_can_address<B>(), "B's strides must be 16-byte multiples");
  static_assert(tma_can_address<D>() &&
                    (tma_can_address<typename Further::Tensor>() && ...),
                "the strides of results must be 16-byte multiples");
  static_assert((is_readable<Tensors>() && ...),
                "the strides of matrix operands must be 16-byte multiples");

  /// What one instruction of one or two multiprocessors multiplies.
  using TileShape = cute::Shape<cute::Int<Tile::m * Kind::blocks>,
                                cute::Int<Tile::n>, cute::Int<Tile::k>>;
  using ClusterShape = cute::Shape<cute::Int<Schedule::cluster_m>,
                                   cute::Int<Schedule::cluster_n>, cute::_1>;

  using ElementC = typename sm90::NumericType<typename Source::Element>::type;
  using Stride = cutlass::detail::TagToStrideC_t<cutlass::layout::RowMajor>;
  using Descriptor =
      cutlass::epilogue::collective::detail::Sm100EpilogueDescriptor<
          cutlass::arch::OpClassTensorOp, TileShape,
          cutlass::epilogue::collective::EpilogueTileAuto, float, ElementC,
          sm90::Element<D>, typename Kind::Epilogue, Stride, Stride,
          /*IsPerColScaleSupported=*/false, /*IsBlockScaleSupported=*/false>;
  using Tree =
      sm90::EpilogueTree<Descriptor, Source, Operands<Tensors...>, First,
                         sm90::Sinks<sm90::Store<Further, Descriptor>...>,
                         sm90::Element<D>>;

  static constexpr int source_alignment = [] {
    if constexpr (std::is_void_v<ElementC>)
      return sm90::alignment<D>;
    else
      return sm90::alignment<Source>;
  }();

  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, TileShape,
      ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float,
      float, ElementC, cutlass::layout::RowMajor, source_alignment,
      sm90::Element<D>, cutlass::layout::RowMajor, sm90::alignment<D>,
      typename Kind::Epilogue, typename Tree::Visitor>::CollectiveOp;

  /// With as many stages as fit beside the epilogue.
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm100, cutlass::arch::OpClassTensorOp, sm90::Element<A>,
      sm90::Layout<A>, sm90::alignment<A>, sm90::Element<B>, sm90::Layout<B>,
      sm90::alignment<B>, float, TileShape, ClusterShape,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
          sizeof(typename Epilogue::SharedStorage))>,
      typename Kind::Mainloop>::CollectiveOp;
  static_assert(Mainloop::DispatchPolicy::Stages >= 2,
                "tile and epilogue leave shared memory for fewer than two "
                "stages: use a smaller tile or fewer matrix operands");

  using Kernel =
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>,
                                           Mainloop, Epilogue,
                                           cutlass::gemm::PersistentScheduler>;

public:
  /// The same device code, which visits tiles in another order.
  template <int Size>
  using WithSwizzle =
      Sm100Gemm<Problem, A, B, Operands<Tensors...>, Results<First, Further...>,
                typename Schedule::template WithSwizzle<Size>>;

  static constexpr int buffer_count =
      count_buffers<A, B, Tensors..., D, typename Further::Tensor...>();
  static constexpr uint64_t workspace_bytes = 0;

  struct State {
    typename Kernel::Params params;
    dim3 grid;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    if (!(is_tma_aligned<A>(buffers) && is_tma_aligned<B>(buffers) &&
          is_tma_aligned<D>(buffers) &&
          (is_tma_aligned<Tensors>(buffers) && ...) &&
          (is_tma_aligned<typename Further::Tensor>(buffers) && ...)))
      return cudaErrorMisalignedAddress;
    if (int error = allow_shared_memory(cutlass::device_kernel<Kernel>,
                                        Kernel::SharedStorageSize))
      return error;

    typename Kernel::Arguments arguments;
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape =
        cute::make_shape(int(Problem::m), int(Problem::n), int(Problem::k),
                         int(Problem::batches));
    arguments.mainloop = {sm90::pointer<A>(buffers),
                          sm90::make_stride<typename Kernel::StrideA, A>(),
                          sm90::pointer<B>(buffers),
                          sm90::make_stride<typename Kernel::StrideB, B>()};
    arguments.epilogue.thread =
        Tree::arguments(buffers, {}, /*partials=*/nullptr);
    if constexpr (!std::is_void_v<ElementC>) {
      arguments.epilogue.ptr_C = sm90::pointer<Source>(buffers);
      arguments.epilogue.dC =
          sm90::make_stride<typename Kernel::StrideC, Source>();
    }
    arguments.epilogue.ptr_D = sm90::pointer<D>(buffers);
    arguments.epilogue.dD = sm90::make_stride<typename Kernel::StrideD, D>();
    arguments.scheduler.max_swizzle_size = Schedule::swizzle;

    if (!Kernel::can_implement(sm90::round_extents(arguments)))
      return cudaErrorInvalidValue;
    if (Kernel::get_workspace_size(arguments) > workspace_bytes)
      return cudaErrorMemoryAllocation;
    state.params = Kernel::to_underlying_arguments(arguments, workspace);
    state.grid = Kernel::get_grid_shape(state.params);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    return launch_kernel(&cutlass::device_kernel<Kernel>, state.grid,
                         dim3(Schedule::cluster_m, Schedule::cluster_n, 1),
                         Kernel::get_block_shape(), Kernel::SharedStorageSize,
                         state.params, stream);
  }

private:
  template <class Tensor> static bool is_tma_aligned(void *const *buffers) {
    if constexpr (is_row_major<Tensor>::value || std::is_same_v<Tensor, A> ||
                  std::is_same_v<Tensor, B>)
      return is_aligned(Tensor::pointer(buffers), 16);
    return true;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SM100GEMM_CUH
