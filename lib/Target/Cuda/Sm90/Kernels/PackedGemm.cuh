//===- PackedGemm.cuh - One GEMM for several products ----------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels share that run several products of one A as a single wide GEMM:
// their weights are packed into one B at load, and a visitor of their own turns
// tiles of the wide product into results (GatedGemm.cuh, GroupedGemm.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_PACKEDGEMM_CUH
#define FACT_CUTLASS_PACKEDGEMM_CUH

#include "Float32.cuh"
#include "Vector.cuh"

namespace fact {

namespace sm90 {

//===----------------------------------------------------------------------===//
// Operands that a store reads itself, an element at a time
//===----------------------------------------------------------------------===//

/// Where an operand lies, by the row and the column of a result.
template <class Tensor> struct Place;
template <int B, class E, int64_t L, int64_t S, int64_t O>
struct Place<RowMajor<B, E, L, S, O>> {
  static int64_t get_stride(Sizes sizes) { return sizes(L); }
  FACT_DEVICE int64_t at(int row, int column, int64_t stride) {
    return row * stride + column;
  }
};
template <int B, class E, int64_t S, int64_t O>
struct Place<RowVector<B, E, S, O>> {
  static int64_t get_stride(Sizes) { return 0; }
  FACT_DEVICE int64_t at(int, int column, int64_t) { return column; }
};
template <int B, class E, int64_t S, int64_t O>
struct Place<ColumnVector<B, E, S, O>> {
  static int64_t get_stride(Sizes) { return 0; }
  FACT_DEVICE int64_t at(int row, int, int64_t) { return row; }
};
template <int B, class E, int64_t O> struct Place<Scalar<B, E, O>> {
  static int64_t get_stride(Sizes) { return 0; }
  FACT_DEVICE int64_t at(int, int, int64_t) { return 0; }
};

/// The addresses of operands, and the strides of their rows.
template <class List> struct Pointers;
template <class... Tensors> struct Pointers<Operands<Tensors...>> {
  static constexpr int count = sizeof...(Tensors);
  void const *pointers[count + 1];
  int64_t strides[count + 1];

  static Pointers get(void *const *buffers, Sizes sizes) {
    return {{Tensors::pointer(buffers, sizes)..., nullptr},
            {Place<Tensors>::get_stride(sizes)..., 0}};
  }

  /// The functor at an element of a result. Rows and columns that fill up the
  /// last tiles are not read.
  template <class Functor, class... Products>
  __device__ __forceinline__ float apply(int row, int column, bool inside,
                                         Products... products) const {
    return call<Functor>(row, column, inside,
                         std::index_sequence_for<Tensors...>{}, products...);
  }

private:
  template <class Functor, size_t... I, class... Products>
  __device__ __forceinline__ float call(int row, int column, bool inside,
                                        std::index_sequence<I...>,
                                        Products... products) const {
    return Functor::apply(products...,
                          read<Tensors, I>(row, column, inside)...);
  }
  template <class Tensor, size_t I>
  __device__ __forceinline__ auto read(int row, int column, bool inside) const {
    using Element = typename Tensor::Element;
    fact::Compute<Element> value(0);
    if (inside)
      load_vector<1>(static_cast<Element const *>(pointers[I]) +
                         Place<Tensor>::at(row, column, strides[I]),
                     &value);
    return value;
  }
};

/// Where the elements of one thread are in the wide product.
template <class Relative> struct Coordinates {
  Relative relative;
  int row, column, rows;

  template <class Args>
  static CUTLASS_DEVICE Coordinates get(Args const &args) {
    auto [M, N, K, L] = args.problem_shape_mnkl;
    return {args.tCcD, int(M) - int(cute::get<0>(args.residue_tCcD)),
            int(N) - int(cute::get<1>(args.residue_tCcD)), int(M)};
  }
  /// (row, column) of element `i` of subtile (m, n).
  CUTLASS_DEVICE auto at(int i, int m, int n) const {
    auto offset = relative(cute::_, cute::_, cute::_, m, n)(i);
    return cute::make_tuple(row + int(cute::get<0>(offset)),
                            column + int(cute::get<1>(offset)));
  }
};

template <class Args>
using CoordinatesOf =
    Coordinates<std::remove_cv_t<decltype(std::declval<Args>().tCcD)>>;

//===----------------------------------------------------------------------===//
// Tiles that go to memory by TMA
//===----------------------------------------------------------------------===//

/// The base of a visitor that stores results itself, in CUTLASS's protocol for
/// visitors that store (Sm90AuxStore): each thread computes elements in
/// registers, all write them to shared memory, one thread starts TMA.
template <class Element_, class Tile_, int Stages> struct StagedTiles {
  using Element = Element_;
  using Tile = Tile_;
  /// Tells the collective builder which element stands for the missing D.
  using ElementAux = Element;
  using Stride = cutlass::detail::TagToStrideC_t<cutlass::layout::RowMajor>;
  static constexpr int stages = Stages;

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

  using CopyToGlobal = decltype(cute::make_tma_copy(
      cute::SM90_TMA_STORE{},
      cute::make_tensor(static_cast<Element *>(nullptr),
                        cute::repeat_like(Stride{}, int32_t(0)), Stride{}),
      TileLayout{}));

  /// What TMA needs to store into a matrix.
  static CopyToGlobal make_copy(Element *pointer, Stride stride, int m, int n) {
    auto layout = cute::make_layout(cute::make_shape(m, n, 1), stride);
    return cute::make_tma_copy(cute::SM90_TMA_STORE{},
                               cute::make_tensor(pointer, layout),
                               TileLayout{});
  }

  template <class Shape, class Arguments>
  static bool can_implement(Shape const &, Arguments const &) {
    return true;
  }
  template <class Shape, class Arguments>
  static size_t get_workspace_size(Shape const &, Arguments const &) {
    return 0;
  }
  template <class Shape, class Arguments>
  static cutlass::Status
  initialize_workspace(Shape const &, Arguments const &, void *, cudaStream_t,
                       cutlass::CudaHostAdapter * = nullptr) {
    return cutlass::Status::kSuccess;
  }

  CUTLASS_HOST_DEVICE StagedTiles() {}
  CUTLASS_HOST_DEVICE StagedTiles(SharedStorage const &storage)
      : shared(const_cast<Element *>(storage.tiles.data())) {}

  CUTLASS_DEVICE bool is_producer_load_needed() const { return false; }
  CUTLASS_DEVICE bool is_C_load_needed() const { return false; }

  template <class... Args>
  CUTLASS_DEVICE auto
  get_producer_load_callbacks(fusion::ProducerLoadArgs<Args...> const &) {
    return fusion::EmptyProducerLoadCallbacks{};
  }

  CUTLASS_DEVICE auto get_tiles() const {
    return cute::as_position_independent_swizzle_tensor(
        cute::make_tensor(cute::make_smem_ptr(shared), SharedLayout{}));
  }

  /// One thread's elements on their way to shared memory.
  template <class Registers, class Copy, class Shared>
  struct Part : fusion::EmptyConsumerStoreCallbacks {
    CUTLASS_DEVICE Part(Registers registers, Copy copy, Shared shared)
        : registers(registers), copy(copy), shared(shared) {}

    Registers registers;
    Copy copy;
    Shared shared;

    template <class Value, int Size>
    CUTLASS_DEVICE void set(int fragment,
                            cutlass::Array<Value, Size> const &values) {
      cutlass::NumericArrayConverter<Element, Value, Size, nearest> convert;
      cute::recast<cutlass::Array<Element, Size>>(cute::coalesce(registers))(
          fragment) = convert(values);
    }

    CUTLASS_DEVICE void postreduce(int, int, int iteration, bool issue) {
      using Layout =
          decltype(cute::layout(Copy{}.get_slice(0).retile_S(Registers{})));
      if (issue)
        cute::copy(copy, cute::make_tensor(registers.data(), Layout{}),
                   shared(cute::_, cute::_, cute::_, iteration % stages));
    }
  };

  /// The part of a thread; `block` is the shape of a block's results.
  template <bool ReferenceSource, class Block, class... Args>
  CUTLASS_DEVICE auto
  make_part(Block block, fusion::ConsumerStoreArgs<Args...> const &args) {
    auto part = fusion::sm90_partition_for_epilogue<ReferenceSource>(
        cute::make_tensor(cute::make_gmem_ptr(static_cast<Element *>(nullptr)),
                          block),
        Tile{}, args.tiled_copy, args.thread_idx);
    auto registers =
        cute::make_tensor<Element>(cute::take<0, 3>(cute::shape(part)));
    auto copy = cute::make_tiled_copy_S(CopyToShared{}, args.tiled_copy);
    auto to_shared = copy.get_slice(args.thread_idx).partition_D(get_tiles());
    return Part<decltype(registers), decltype(copy), decltype(to_shared)>(
        registers, copy, to_shared);
  }

  Element *shared;
};

//===----------------------------------------------------------------------===//
// The wide GEMM
//===----------------------------------------------------------------------===//

/// Stores a vector of packed weights; its small parts lie `offset` behind it.
template <bool Splits>
FACT_DEVICE void store_packed(uint4 *to, uint4 vector, int64_t offset) {
  *to = vector;
  if constexpr (Splits)
    *reinterpret_cast<float4 *>(to + offset) =
        get_small_parts(reinterpret_cast<float4 const &>(vector));
}

/// D is what `Store`, a visitor, makes of A[M, K] * B[K, N]; B is packed,
/// stored [N, K], and followed by its small parts if the kernel reads them.
template <class Problem, class A, class Store, class Schedule>
class PackedGemm {
  using Tile = typename Schedule::Tile;
  using Cluster = typename Schedule::Cluster;
  using Kind = typename Schedule::Kernel;
  static constexpr auto K = Problem::k;
  using B = ColumnMajor<0, typename A::Element, K>;

  static constexpr bool is_f32 = std::is_same_v<typename A::Element, f32>;
  static constexpr bool converts = is_copied<A>;
  static_assert(is_f32 || !converts, "only operands of f32 are copied");
  using ConversionA = Conversion<A, is_row_major<A>::value>;
  static constexpr ConvertParams measure_a(Sizes sizes) {
    return ConversionA::measure(sizes, Problem::m, K, 1);
  }
  using InnerA = std::conditional_t<converts, RowMajor<0, f32, K>, A>;

  static_assert(is_f32 || sizeof(typename A::Element) == 2,
                "operands must be f16, bf16 or f32");
  static_assert(is_size(K) || K % 8 == 0, "K must be a multiple of 8");
  static_assert(Tile::k * sizeof(typename A::Element) % 32 == 0,
                "tile K must be a multiple of 32 bytes");
  static_assert(!Kind::splits_k, "several products do not split K");
  static_assert(converts || tma_can_address<A>(),
                "A's strides must be 16-byte multiples");

public:
  using TileShape =
      cute::Shape<cute::Int<Tile::m>, cute::Int<Tile::n>, cute::Int<Tile::k>>;
  using ClusterShape =
      cute::Shape<cute::Int<Cluster::m>, cute::Int<Cluster::n>, cute::_1>;

private:
  using Visitor = fusion::Sm90EVT<Store, fusion::Sm90AccFetch>;

  // The visitor stores results, so there is neither C nor D.
  static constexpr int store_alignment = 16 / sizeof(typename Store::Element);
  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, TileShape,
      ClusterShape, cutlass::epilogue::collective::EpilogueTileAuto, float,
      float, void, cutlass::layout::RowMajor, store_alignment, void,
      cutlass::layout::RowMajor, store_alignment, typename Kind::Epilogue,
      Visitor>::CollectiveOp;

  using Mainloop = sm90::Mainloop<Schedule, InnerA, B, Epilogue>;
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
  /// For the copy of A.
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    return converts ? ConversionA::count_bytes(measure_a(sizes)) : 0;
  }
  /// For the packed weights, `n` of them.
  static constexpr uint64_t packed_bytes(Sizes sizes, int n) {
    return uint64_t(n) * sizes(K) * sizeof(typename A::Element) *
           (splits_ahead<Schedule> ? 2 : 1);
  }

  struct State {
    typename Kernel::Params params;
    dim3 grid;
    ConvertParams conversion;
  };

  /// `n` is the width of all products.
  static int bind(State &state, Sizes sizes, int n, void *const *buffers,
                  void *packed, void *workspace,
                  typename Store::Arguments const &store) {
    void *a = converts ? workspace : A::pointer(buffers, sizes);
    if (!is_aligned(a, 16) || !is_aligned(packed, 16) ||
        (!converts && !tma_can_address<A>(sizes)))
      return cudaErrorMisalignedAddress;
    if constexpr (converts) {
      state.conversion = measure_a(sizes);
      state.conversion.from = A::pointer(buffers, sizes);
      state.conversion.to = static_cast<float *>(workspace);
    }
    int device;
    if (cudaError_t error = cudaGetDevice(&device))
      return error;
    if (int error = allow_shared_memory(cutlass::device_kernel<Kernel>,
                                        Kernel::SharedStorageSize))
      return error;

    typename Kernel::Arguments arguments{};
    arguments.mode = cutlass::gemm::GemmUniversalMode::kGemm;
    arguments.problem_shape =
        cute::make_shape(int(sizes(Problem::m)), n, int(sizes(K)), 1);
    arguments.mainloop = {static_cast<Element<A> *>(a),
                          make_stride<typename Kernel::StrideA, InnerA>(sizes),
                          static_cast<Element<A> *>(packed),
                          make_stride<typename Kernel::StrideB, B>(sizes)};
    arguments.epilogue.thread = {{}, store}; // the accumulator, the store
    arguments.hw_info =
        cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>(device);
    arguments.scheduler.max_swizzle_size = int(sizes(Schedule::Swizzle::size));
    arguments.scheduler.raster_order = Schedule::Raster::order;

    if (!Kernel::can_implement(arguments))
      return cudaErrorInvalidValue;
    if (Kernel::get_workspace_size(arguments) > 0)
      return cudaErrorMemoryAllocation;
    state.params = Kernel::to_underlying_arguments(arguments, nullptr);
    state.grid = Kernel::get_grid_shape(state.params);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    if constexpr (converts)
      if (int error = ConversionA::launch(state.conversion, stream))
        return error;
    return launch_kernel(&cutlass::device_kernel<Kernel>, state.grid,
                         dim3(Cluster::m, Cluster::n, 1),
                         Kernel::get_block_shape(), Kernel::SharedStorageSize,
                         state.params, stream);
  }
};

/// The shape of the subtiles that an epilogue without C and D works on.
template <class Schedule>
using EpilogueOf = collective::detail::EpilogueDescriptor<
    cute::Shape<cute::Int<Schedule::Tile::m>, cute::Int<Schedule::Tile::n>,
                cute::Int<Schedule::Tile::k>>,
    collective::EpilogueTileAuto, void, void,
    typename Schedule::Kernel::Epilogue>;

} // namespace sm90

} // namespace fact

#endif // FACT_CUTLASS_PACKEDGEMM_CUH
