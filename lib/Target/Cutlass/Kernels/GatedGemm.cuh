//===- GatedGemm.cuh - Two GEMMs of one operand, combined -------*- CUDA -*-===//
//
// D = combine(A * Gate, A * Up), the first half of a gated MLP (SwiGLU, GeGLU),
// with fp32 accumulation and any pointwise combine. Neither product reaches
// memory, and A is read once:
//
//   // silu(x @ Gate^T) * (x @ Up^T)
//   #include "fact/cutlass/GatedGemm.cuh"
//
//   namespace fact::gated_gemm_0 {
//
//   struct Combine {
//     FACT_DEVICE float apply(float gate, float up) {
//       return fast_silu(gate) * up;
//     }
//   };
//
//   using Kernel = GatedGemm<
//       Problem<32768, 9728, 4096>,                  // M, N, K
//       RowMajor<0, bf16, 4096>,                     // A[M, K]
//       ColumnMajor<1, bf16, 4096>,                  // Gate[K, N], stored [N, K]
//       ColumnMajor<2, bf16, 4096>,                  // Up[K, N], stored [N, K]
//       Combine,
//       RowMajor<3, bf16, 9728>,                     // D[M, N]
//       GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative>>;
//
//   FACT_KERNEL(gated_gemm_0, Kernel)
//
//   } // namespace fact::gated_gemm_0
//
// It is one GEMM of twice the width. Its weight has columns of Gate and of Up in
// turns of eight, and wgmma's accumulator gives a thread 2x2 elements of each
// eight columns, so both products of an element of D lie in one thread. The
// schedule's tile is that of the wide GEMM.
//
// Interleaving is the kernel's `pack`: weights are interleaved once at load, and
// other operands before each launch, which takes as long as reading and writing
// them once (70 us at an H200's bandwidth, beside 7 ms, for the sizes above).
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GATEDGEMM_CUH
#define FACT_CUTLASS_GATEDGEMM_CUH

#include "Gemm.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Interleaving the weights
//===----------------------------------------------------------------------===//

/// Columns of one weight before the other's turn: wgmma's unit.
inline constexpr int gate_group = 8;

struct InterleaveParams {
  uint4 const *gate, *up;
  uint4 *interleaved;
};

/// Threads of a block, which copies one row of the stored [N, K] weights.
inline constexpr int interleave_threads = 128;

template <class Problem, class Gate, class Up>
__global__ void __launch_bounds__(interleave_threads)
    interleave_weights(InterleaveParams params) {
  constexpr int elements = sizeof(uint4) / sizeof(typename Gate::Element);
  constexpr int vectors = Problem::k / elements;
  int group = blockIdx.x / (2 * gate_group);
  int turn = blockIdx.x % (2 * gate_group);
  int64_t row = int64_t(group) * gate_group + turn % gate_group;
  uint4 const *from =
      turn < gate_group
          ? params.gate + row * (Gate::leading_dimension / elements)
          : params.up + row * (Up::leading_dimension / elements);
  uint4 *to = params.interleaved + int64_t(blockIdx.x) * vectors;
#pragma unroll 4
  for (int i = threadIdx.x; i < vectors; i += interleave_threads)
    to[i] = __ldg(from + i);
}

//===----------------------------------------------------------------------===//
// The store that halves the width
//===----------------------------------------------------------------------===//

namespace sm90 {

/// The root of the epilogue's visitor tree: combines the accumulators of both
/// products and stores the result by TMA, in CUTLASS's protocol for visitors
/// that store (Sm90AuxStore). Its tiles are half as wide as the GEMM's.
template <class Descriptor, class Combine, class Tensor> struct GatedStore {
  using Element = sm90::Element<Tensor>;
  /// Tells the collective builder which element stands for the missing D.
  using ElementAux = Element;
  using Stride = cutlass::detail::TagToStrideC_t<cutlass::layout::RowMajor>;

  static constexpr int stages = Descriptor::StagesD;
  using WideTile = typename Descriptor::EpilogueTile;
  using Tile = decltype(cute::make_shape(
      cute::get<0>(WideTile{}), cute::get<1>(WideTile{}) / cute::_2{}));

  // One tile in shared memory, and one for each stage.
  using TileLayout = decltype(cute::tile_to_shape(
      collective::detail::sm90_get_epilogue_smem_swizzle_layout_atom<
          Stride, Element, Tile>(),
      Tile{}, cute::Step<cute::_1, cute::_2>{}));
  using SharedLayout = decltype(cute::tile_to_shape(
      TileLayout{},
      cute::make_shape(cute::get<0>(Tile{}), cute::get<1>(Tile{}),
                       cute::Int<stages>{}),
      cute::Step<cute::_1, cute::_2, cute::_3>{}));
  using CopyToShared = cute::Copy_Atom<
      decltype(collective::detail::sm90_get_smem_store_op_for_accumulator<
               Stride, Element, Tile>()),
      Element>;

  struct SharedStorage {
    alignas(cutlass::detail::alignment_for_swizzle(SharedLayout{}))
        cute::array_aligned<Element, cute::size(SharedLayout{})> tiles;
  };

  struct Arguments {
    Element *pointer = nullptr;
    Stride stride = {};
  };

  struct Params {
    using CopyToGlobal = decltype(cute::make_tma_copy(
        cute::SM90_TMA_STORE{},
        cute::make_tensor(static_cast<Element *>(nullptr),
                          cute::repeat_like(Stride{}, int32_t(0)), Stride{}),
        TileLayout{}));
    CopyToGlobal copy;
  };

  template <class Shape>
  static Params to_underlying_arguments(Shape const &shape,
                                        Arguments const &arguments, void *) {
    auto [m, n, k, l] = cute::append<4>(shape, 1);
    auto layout = cute::make_layout(cute::make_shape(m, n / 2, l),
                                    arguments.stride);
    return {cute::make_tma_copy(cute::SM90_TMA_STORE{},
                                cute::make_tensor(arguments.pointer, layout),
                                TileLayout{})};
  }

  template <class Shape>
  static bool can_implement(Shape const &shape, Arguments const &) {
    return cute::get<1>(shape) % (2 * gate_group) == 0;
  }
  template <class Shape>
  static size_t get_workspace_size(Shape const &, Arguments const &) {
    return 0;
  }
  template <class Shape>
  static cutlass::Status
  initialize_workspace(Shape const &, Arguments const &, void *, cudaStream_t,
                       cutlass::CudaHostAdapter * = nullptr) {
    return cutlass::Status::kSuccess;
  }

  CUTLASS_HOST_DEVICE GatedStore() {}
  CUTLASS_HOST_DEVICE GatedStore(Params const &params,
                                 SharedStorage const &storage)
      : params(&params), shared(const_cast<Element *>(storage.tiles.data())) {}

  CUTLASS_DEVICE bool is_producer_load_needed() const { return false; }
  CUTLASS_DEVICE bool is_C_load_needed() const { return false; }

  template <class... Args>
  CUTLASS_DEVICE auto
  get_producer_load_callbacks(fusion::ProducerLoadArgs<Args...> const &) {
    return fusion::EmptyProducerLoadCallbacks{};
  }

  /// What happens to one tile: each thread combines its accumulators in
  /// registers, all write them to shared memory, one thread starts TMA.
  template <class Registers, class Copy, class Shared, class TmaShared,
            class TmaGlobal>
  struct Callbacks : fusion::EmptyConsumerStoreCallbacks {
    CUTLASS_DEVICE Callbacks(Registers registers, Copy copy, Shared shared,
                             TmaShared tma_shared, TmaGlobal tma_global,
                             Params const *params)
        : registers(registers), copy(copy), shared(shared),
          tma_shared(tma_shared), tma_global(tma_global), params(params) {}

    Registers registers;
    Copy copy;
    Shared shared;
    TmaShared tma_shared;
    TmaGlobal tma_global;
    Params const *params;

    template <class Accumulator, class Value, int Size>
    CUTLASS_DEVICE auto visit(cutlass::Array<Accumulator, Size> const &,
                              int fragment, int, int,
                              cutlass::Array<Value, Size> const &wide) {
      static_assert(Size % 8 == 0, "a fragment has whole pairs of groups");
      // Four elements of eight gate columns, four of eight up columns, ...
      cutlass::Array<Value, Size / 2> combined;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < Size / 2; ++i) {
        int gate = i / 4 * 8 + i % 4;
        combined[i] = Combine::apply(wide[gate], wide[gate + 4]);
      }
      cutlass::NumericArrayConverter<Element, Value, Size / 2, nearest> convert;
      cute::recast<cutlass::Array<Element, Size / 2>>(
          cute::coalesce(registers))(fragment) = convert(combined);
      return wide;
    }

    CUTLASS_DEVICE void postreduce(int, int, int iteration, bool issue) {
      using Layout =
          decltype(cute::layout(Copy{}.get_slice(0).retile_S(Registers{})));
      if (issue)
        cute::copy(copy, cute::make_tensor(registers.data(), Layout{}),
                   shared(cute::_, cute::_, cute::_, iteration % stages));
    }

    CUTLASS_DEVICE void tma_store(int m, int n, int iteration, bool issue) {
      if (issue)
        cute::copy(params->copy,
                   tma_shared(cute::_, cute::_, cute::_, iteration % stages),
                   tma_global(cute::_, cute::_, cute::_, m, n));
    }
  };

  template <bool ReferenceSource, class... Args>
  CUTLASS_DEVICE auto
  get_consumer_store_callbacks(fusion::ConsumerStoreArgs<Args...> const &args) {
    auto [M, N, K, L] = args.problem_shape_mnkl;
    auto [m, n, k, l] = args.tile_coord_mnkl;
    auto block = cute::make_shape(cute::get<0>(args.tile_shape_mnk),
                                  cute::get<1>(args.tile_shape_mnk) / cute::_2{});
    auto global = cute::local_tile(
        params->copy.get_tma_tensor(cute::make_shape(M, N / 2, L)), block,
        cute::make_coord(m, n, l));
    auto part = fusion::sm90_partition_for_epilogue<ReferenceSource>(
        global, Tile{}, args.tiled_copy, args.thread_idx);
    auto registers =
        cute::make_tensor<Element>(cute::take<0, 3>(cute::shape(part)));

    auto tiles = cute::as_position_independent_swizzle_tensor(
        cute::make_tensor(cute::make_smem_ptr(shared), SharedLayout{}));
    auto copy = cute::make_tiled_copy_S(CopyToShared{}, args.tiled_copy);
    auto to_shared = copy.get_slice(args.thread_idx).partition_D(tiles);

    auto tma = params->copy.get_slice(cute::_0{});
    auto tma_shared = tma.partition_S(tiles);
    auto tma_global = tma.partition_D(cute::flat_divide(global, Tile{}));
    return Callbacks<decltype(registers), decltype(copy), decltype(to_shared),
                     decltype(tma_shared), decltype(tma_global)>(
        registers, copy, to_shared, tma_shared, tma_global, params);
  }

  Params const *params;
  Element *shared;
};

} // namespace sm90

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class Gate, class Up, class Combine, class D,
          class Schedule>
class GatedGemm {
  using Tile = typename Schedule::Tile;
  using Cluster = typename Schedule::Cluster;
  using Kind = typename Schedule::Kernel;

  /// The interleaved weight, as the wide GEMM's B; it takes Gate's place.
  using B = ColumnMajor<Gate::buffer, typename Gate::Element, Problem::k>;
  static constexpr int wide_n = 2 * Problem::n;

  static_assert(std::is_same_v<typename A::Element, typename Gate::Element> &&
                    std::is_same_v<typename A::Element, typename Up::Element>,
                "A and both weights must have the same element type");
  static_assert(sizeof(typename A::Element) == 2 &&
                    sizeof(typename D::Element) == 2,
                "operands and result must be f16 or bf16");
  static_assert(!is_row_major<Gate>::value && !is_row_major<Up>::value,
                "the weights must be column-major: stored [N, K]");
  static_assert(is_row_major<D>::value, "the result must be row-major");
  static_assert(Problem::batches == 1, "batches must be folded into M");
  static_assert(Problem::n % gate_group == 0, "N must be a multiple of 8");
  static_assert(Problem::k % 8 == 0, "K must be a multiple of 8");
  static_assert(Tile::k % 16 == 0, "tile K must be a multiple of 16");
  static_assert(Tile::n % 32 == 0,
                "tile N, which is that of both products together, must be a "
                "multiple of 32");
  static_assert(!Kind::splits_k, "a gated GEMM does not split K");
  static_assert(tma_can_address<A>(), "A's strides must be 16-byte multiples");
  static_assert(tma_can_address<Gate>() && tma_can_address<Up>(),
                "the strides of the weights must be 16-byte multiples");
  static_assert(tma_can_address<D>(),
                "the result's strides must be 16-byte multiples");

  using TileShape = cute::Shape<cute::Int<Tile::m>, cute::Int<Tile::n>,
                                cute::Int<Tile::k>>;
  using ClusterShape =
      cute::Shape<cute::Int<Cluster::m>, cute::Int<Cluster::n>, cute::_1>;

  // The visitor stores the result, so there is neither C nor D.
  using Descriptor = cutlass::epilogue::collective::detail::EpilogueDescriptor<
      TileShape, cutlass::epilogue::collective::EpilogueTileAuto, void, void,
      typename Kind::Epilogue>;
  using Store = sm90::GatedStore<Descriptor, Combine, D>;
  using Visitor = sm90::fusion::Sm90EVT<Store, sm90::fusion::Sm90AccFetch>;

  using Epilogue =
      typename cutlass::epilogue::collective::CollectiveBuilder<
          cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape,
          ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float,
          float, void, cutlass::layout::RowMajor, sm90::alignment<D>, void,
          cutlass::layout::RowMajor, sm90::alignment<D>,
          typename Kind::Epilogue, Visitor>::CollectiveOp;

  // As many stages as fit beside the epilogue.
  using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, sm90::Element<A>,
      sm90::Layout<A>, sm90::alignment<A>, sm90::Element<B>, sm90::Layout<B>,
      sm90::alignment<B>, float, TileShape, ClusterShape,
      cutlass::gemm::collective::StageCountAutoCarveout<
          static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
      typename Kind::Mainloop>::CollectiveOp;
  static_assert(Mainloop::DispatchPolicy::Stages >= 2,
                "the tile leaves shared memory for fewer than two stages: use "
                "a smaller one");

  using Kernel =
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>,
                                           Mainloop, Epilogue,
                                           typename Kind::Scheduler>;
  static_assert(Kernel::SharedStorageSize <= 232448,
                "the tile exceeds shared memory");

public:
  /// The same device code, which visits tiles in another order.
  template <int Size>
  using WithSwizzle = GatedGemm<Problem, A, Gate, Up, Combine, D,
                                typename Schedule::template WithSwizzle<Size>>;

  static constexpr int buffer_count = count_buffers<A, Gate, Up, D>();
  static constexpr uint64_t workspace_bytes = 0;

  static constexpr int packed_operand = Gate::buffer;
  static constexpr uint32_t packed_with = 1u << Up::buffer;
  static constexpr uint64_t packed_bytes =
      uint64_t(wide_n) * Problem::k * sizeof(typename Gate::Element);

  static int pack(void *const *buffers, void *packed, cudaStream_t stream) {
    for (void const *pointer :
         {static_cast<void const *>(Gate::pointer(buffers)),
          static_cast<void const *>(Up::pointer(buffers)),
          static_cast<void const *>(packed)})
      if (!is_aligned(pointer, 16))
        return cudaErrorMisalignedAddress;
    InterleaveParams params{
        reinterpret_cast<uint4 const *>(Gate::pointer(buffers)),
        reinterpret_cast<uint4 const *>(Up::pointer(buffers)),
        static_cast<uint4 *>(packed)};
    return launch_kernel(&interleave_weights<Problem, Gate, Up>, dim3(wide_n),
                         dim3(1, 1, 1), dim3(interleave_threads), 0, params,
                         stream);
  }

  struct State {
    typename Kernel::Params params;
    dim3 grid;
  };

  static int bind(State &state, void *const *buffers, void *) {
    for (void const *pointer :
         {static_cast<void const *>(A::pointer(buffers)),
          static_cast<void const *>(B::pointer(buffers)),
          static_cast<void const *>(D::pointer(buffers))})
      if (!is_aligned(pointer, 16))
        return cudaErrorMisalignedAddress;

    int device;
    if (cudaError_t error = cudaGetDevice(&device))
      return error;
    if (int error = allow_shared_memory(cutlass::device_kernel<Kernel>,
                                        Kernel::SharedStorageSize))
      return error;

    typename Kernel::Arguments arguments{};
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape =
        cute::make_shape(int(Problem::m), int(wide_n), int(Problem::k), 1);
    arguments.mainloop = {
        sm90::pointer<A>(buffers),
        sm90::make_stride<typename Kernel::StrideA, A>(),
        sm90::pointer<B>(buffers),
        sm90::make_stride<typename Kernel::StrideB, B>()};
    arguments.epilogue.thread = {
        {}, // the accumulator
        {sm90::pointer<D>(buffers),
         sm90::make_stride<typename Store::Stride, D>()}};
    arguments.hw_info =
        cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>(device);
    arguments.scheduler.max_swizzle_size = Schedule::Swizzle::size;
    arguments.scheduler.raster_order = Schedule::Raster::order;

    if (!Kernel::can_implement(arguments))
      return cudaErrorInvalidValue;
    if (Kernel::get_workspace_size(arguments) > workspace_bytes)
      return cudaErrorMemoryAllocation;
    state.params = Kernel::to_underlying_arguments(arguments, nullptr);
    state.grid = Kernel::get_grid_shape(state.params);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    return launch_kernel(&cutlass::device_kernel<Kernel>, state.grid,
                         dim3(Cluster::m, Cluster::n, 1),
                         Kernel::get_block_shape(), Kernel::SharedStorageSize,
                         state.params, stream);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_GATEDGEMM_CUH
