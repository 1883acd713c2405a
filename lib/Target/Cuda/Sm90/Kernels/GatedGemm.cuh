//===- GatedGemm.cuh - Two GEMMs of one operand, combined ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D = combine(A * Gate, A * Up, operands...), the first half of a gated MLP
// (SwiGLU, GeGLU), with fp32 accumulation and any pointwise combine. Neither
// product reaches memory, and A is read once:
//
//   // silu(x @ Gate^T + bias) * (x @ Up^T)
//   #include "fact/cutlass/GatedGemm.cuh"
//
//   namespace fact::gated_gemm_0 {
//
//   struct Combine {
//     FACT_DEVICE float apply(float gate, float up, float bias) {
//       return fast_silu(gate + bias) * up;
//     }
//   };
//
//   using Kernel = GatedGemm<
//       Problem<32768, 9728, 4096>,                  // M, N, K
//       RowMajor<0, bf16, 4096>,                     // A[M, K]
//       ColumnMajor<1, bf16, 4096>,                  // Gate[K, N], stored [N,
//       K] ColumnMajor<2, bf16, 4096>,                  // Up[K, N], stored [N,
//       K] Operands<RowVector<3, bf16>>,                // of combine Combine,
//       RowMajor<4, bf16, 9728>,                     // D[M, N]
//       GemmSchedule<Tile<128, 256, 64>, Cluster<2, 1>, Cooperative>>;
//
//   FACT_KERNEL(gated_gemm_0, Kernel)
//
//   } // namespace fact::gated_gemm_0
//
// It is one GEMM of twice the width. Its weight has columns of Gate and of Up
// in turns of eight, and wgmma's accumulator gives a thread 2x2 elements of
// each eight columns, so both products of an element of D lie in one thread.
// The schedule's tile is that of the wide GEMM.
//
// Interleaving is the kernel's `pack`: weights are interleaved once at load,
// and other operands before each launch, which takes as long as reading and
// writing them once (70 us at an H200's bandwidth, beside 7 ms, for the sizes
// above).
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_GATEDGEMM_CUH
#define FACT_CUTLASS_GATEDGEMM_CUH

#include "PackedGemm.cuh"

namespace fact {

//===----------------------------------------------------------------------===//
// Interleaving the weights
//===----------------------------------------------------------------------===//

/// Columns of one weight before the other's turn: wgmma's unit.
inline constexpr int gate_group = 8;

struct InterleaveParams {
  uint4 const *gate, *up;
  uint4 *interleaved;
  /// Of a row, counted in vectors.
  int64_t gate_stride, up_stride;
  int vectors;
};

/// Threads of a block, which copies one row of the stored [N, K] weights.
inline constexpr int interleave_threads = 128;

template <bool Splits>
__global__ void __launch_bounds__(interleave_threads)
    interleave_weights(InterleaveParams params) {
  int group = blockIdx.x / (2 * gate_group);
  int turn = blockIdx.x % (2 * gate_group);
  int64_t row = int64_t(group) * gate_group + turn % gate_group;
  uint4 const *from = turn < gate_group ? params.gate + row * params.gate_stride
                                        : params.up + row * params.up_stride;
  uint4 *to = params.interleaved + int64_t(blockIdx.x) * params.vectors;
#pragma unroll 4
  for (int i = threadIdx.x; i < params.vectors; i += interleave_threads)
    sm90::store_packed<Splits>(to + i, __ldg(from + i),
                               int64_t(gridDim.x) * params.vectors);
}

//===----------------------------------------------------------------------===//
// The store that halves the width
//===----------------------------------------------------------------------===//

namespace sm90 {

/// Half of an epilogue's subtile.
template <class Descriptor>
using HalfTile = decltype(cute::make_shape(
    cute::get<0>(typename Descriptor::EpilogueTile{}),
    cute::get<1>(typename Descriptor::EpilogueTile{}) / cute::_2{}));

/// The root of the epilogue's visitor tree: combines the accumulators of both
/// products and stores the result. Its tiles are half as wide as the GEMM's.
template <class Descriptor, class OperandList, class Combine, class Tensor>
struct GatedStore
    : StagedTiles<Element<Tensor>, HalfTile<Descriptor>, Descriptor::StagesD> {
  using Base = StagedTiles<sm90::Element<Tensor>, HalfTile<Descriptor>,
                           Descriptor::StagesD>;
  using typename Base::Element;
  using typename Base::SharedStorage;
  using typename Base::Tile;
  static constexpr int stages = Base::stages;

  struct Arguments {
    Element *pointer = nullptr;
    typename Base::Stride stride = {};
    Pointers<OperandList> operands = {};
  };
  struct Params {
    typename Base::CopyToGlobal copy;
    Pointers<OperandList> operands;
    /// Of the result.
    int rows, columns;
  };

  template <class Shape>
  static Params to_underlying_arguments(Shape const &wide,
                                        Arguments const &arguments, void *) {
    int rows = cute::get<0>(wide), columns = cute::get<1>(wide) / 2;
    return {Base::make_copy(arguments.pointer, arguments.stride, rows, columns),
            arguments.operands, rows, columns};
  }

  CUTLASS_HOST_DEVICE GatedStore() {}
  CUTLASS_HOST_DEVICE GatedStore(Params const &params,
                                 SharedStorage const &storage)
      : Base(storage), params(&params) {}

  template <class Part, class Where, class TmaShared, class TmaGlobal>
  struct Callbacks : Part {
    CUTLASS_DEVICE Callbacks(Part part, Where where, TmaShared tma_shared,
                             TmaGlobal tma_global, Params const *params)
        : Part(part), where(where), tma_shared(tma_shared),
          tma_global(tma_global), params(params) {}

    Where where;
    TmaShared tma_shared;
    TmaGlobal tma_global;
    Params const *params;

    template <class Accumulator, class Value, int Size>
    CUTLASS_DEVICE auto visit(cutlass::Array<Accumulator, Size> const &,
                              int fragment, int m, int n,
                              cutlass::Array<Value, Size> const &wide) {
      static_assert(Size % 8 == 0, "a fragment has whole pairs of groups");
      // Four elements of eight gate columns, four of eight up columns, ...
      cutlass::Array<Value, Size / 2> combined;
      CUTLASS_PRAGMA_UNROLL
      for (int i = 0; i < Size / 2; ++i) {
        int gate = i / 4 * 8 + i % 4;
        if constexpr (Pointers<OperandList>::count == 0) {
          combined[i] = Combine::apply(wide[gate], wide[gate + 4]);
        } else {
          auto [row, wide_column] = where.at(fragment * Size + gate, m, n);
          int column = wide_column / (2 * gate_group) * gate_group +
                       wide_column % gate_group;
          bool inside = row < params->rows && column < params->columns;
          combined[i] = params->operands.template apply<Combine>(
              row, column, inside, wide[gate], wide[gate + 4]);
        }
      }
      Part::set(fragment, combined);
      return wide;
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
    auto [m, n, k, l] = args.tile_coord_mnkl;
    auto block =
        cute::make_shape(cute::get<0>(args.tile_shape_mnk),
                         cute::get<1>(args.tile_shape_mnk) / cute::_2{});
    auto part = this->template make_part<ReferenceSource>(block, args);
    auto global = cute::local_tile(params->copy.get_tma_tensor(cute::make_shape(
                                       params->rows, params->columns, 1)),
                                   block, cute::make_coord(m, n, l));
    auto tma = params->copy.get_slice(cute::_0{});
    auto tma_shared = tma.partition_S(this->get_tiles());
    auto tma_global = tma.partition_D(cute::flat_divide(global, Tile{}));
    using Where = CoordinatesOf<fusion::ConsumerStoreArgs<Args...>>;
    return Callbacks<decltype(part), Where, decltype(tma_shared),
                     decltype(tma_global)>(part, Where::get(args), tma_shared,
                                           tma_global, params);
  }

  Params const *params;
};

} // namespace sm90

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class A, class Gate, class Up, class OperandList,
          class Combine, class D, class Schedule>
class GatedGemm;

template <class Problem, class A, class Gate, class Up, class... Tensors,
          class Combine, class D, class Schedule>
class GatedGemm<Problem, A, Gate, Up, Operands<Tensors...>, Combine, D,
                Schedule> {
  static_assert(std::is_same_v<typename A::Element, typename Gate::Element> &&
                    std::is_same_v<typename A::Element, typename Up::Element>,
                "A and both weights must have the same element type");
  static_assert(!is_row_major<Gate>::value && !is_row_major<Up>::value,
                "the weights must be column-major: stored [N, K]");
  static_assert(is_row_major<D>::value, "the result must be row-major");
  static_assert(Problem::batches == 1, "batches must be folded into M");
  static_assert(is_size(Problem::n) || Problem::n % gate_group == 0,
                "N must be a multiple of 8");
  static_assert(Schedule::Tile::n % 32 == 0,
                "tile N, which is that of both products together, must be a "
                "multiple of 32");
  static_assert(tma_can_address<Gate>() && tma_can_address<Up>(),
                "the strides of the weights must be 16-byte multiples");
  static_assert(tma_can_address<D>(),
                "the result's strides must be 16-byte multiples");

  using Store = sm90::GatedStore<sm90::EpilogueOf<Schedule>,
                                 Operands<Tensors...>, Combine, D>;
  using Wide = sm90::PackedGemm<Problem, A, Store, Schedule>;

  static constexpr int get_width(Sizes sizes) {
    return 2 * int(sizes(Problem::n));
  }

public:
  static constexpr bool takes_sizes = true;
  static constexpr int buffer_count =
      count_buffers<A, Gate, Up, Tensors..., D>();
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    return Wide::workspace_bytes(sizes);
  }

  /// The interleaved weight takes Gate's place.
  static constexpr int packed_operand = Gate::buffer;
  static constexpr uint32_t packed_with = 1u << Up::buffer;
  static constexpr uint64_t packed_bytes(Sizes sizes) {
    return Wide::packed_bytes(sizes, get_width(sizes));
  }

  static int pack(Sizes sizes, void *const *buffers, void *packed,
                  cudaStream_t stream) {
    constexpr int elements = sizeof(uint4) / sizeof(typename Gate::Element);
    InterleaveParams params{
        reinterpret_cast<uint4 const *>(Gate::pointer(buffers, sizes)),
        reinterpret_cast<uint4 const *>(Up::pointer(buffers, sizes)),
        static_cast<uint4 *>(packed),
        sizes(Gate::leading_dimension) / elements,
        sizes(Up::leading_dimension) / elements,
        int(sizes(Problem::k)) / elements};
    for (void const *pointer : {static_cast<void const *>(params.gate),
                                static_cast<void const *>(params.up),
                                static_cast<void const *>(packed)})
      if (!is_aligned(pointer, 16))
        return cudaErrorMisalignedAddress;
    if (!tma_can_address<Gate>(sizes) || !tma_can_address<Up>(sizes))
      return cudaErrorMisalignedAddress;
    return launch_kernel(&interleave_weights<sm90::splits_ahead<Schedule>>,
                         dim3(get_width(sizes)), dim3(1, 1, 1),
                         dim3(interleave_threads), 0, params, stream);
  }

  using State = typename Wide::State;

  static int bind(State &state, Sizes sizes, void *const *buffers,
                  void *workspace) {
    if (!is_aligned(D::pointer(buffers, sizes), 16) ||
        !tma_can_address<D>(sizes))
      return cudaErrorMisalignedAddress;
    return Wide::bind(
        state, sizes, get_width(sizes), buffers, buffers[packed_operand],
        workspace,
        {sm90::pointer<D>(buffers, sizes),
         sm90::make_stride<typename Store::Stride, D>(sizes),
         sm90::Pointers<Operands<Tensors...>>::get(buffers, sizes)});
  }

  static int launch(State &state, cudaStream_t stream) {
    return Wide::launch(state, stream);
  }
};

} // namespace fact

#endif // FACT_CUTLASS_GATEDGEMM_CUH
