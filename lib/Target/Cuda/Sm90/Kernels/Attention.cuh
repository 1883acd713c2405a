//===- Attention.cuh - Fused attention on Hopper ---------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// O = softmax(scale * Q K^T [+ causal mask]) V for each batch and head, on the
// Hopper FMHA collectives that CUTLASS ships as example 88. Compile with
// -I<cutlass>/examples and --use_fast_math (exponentials are a quarter of it).
//
//   // MiniGPT: packed QKV [batch, time, 3 * 768], 8 heads of 96, causal
//   #include "fact/cutlass/Attention.cuh"
//
//   namespace fact::attention_0 {
//
//   struct Scale { static constexpr float value = 0.1020620726f; };
//
//   using Kernel = Attention<
//       AttentionProblem<128, 8, 8, 512, 512, 96>,
//       Heads<0, bf16, 2304, 96, 512 * 2304, 0>,
//       Heads<0, bf16, 2304, 96, 512 * 2304, 768>,
//       Heads<0, bf16, 2304, 96, 512 * 2304, 1536>,
//       Heads<1, bf16, 768, 96, 512 * 768>,
//       Causal, Scale, AttentionSchedule<128, 128, Cooperative, 4>>;
//
//   FACT_KERNEL(attention_0, Kernel)
//
//   } // namespace fact::attention_0
//
// A mask that is added to the scores follows the schedule:
//
//   ... AttentionSchedule<128, 128, Cooperative, 4>,
//       Mask<4, bf16, 0, 512 * 512, 512, 1>>;  // the same for all batches
//
// What is ours: masks that touch only the tiles that need them, grouped heads,
// the scale, and the order of tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_ATTENTION_CUH
#define FACT_CUTLASS_ATTENTION_CUH

#include "AttentionTiles.cuh"

#include "cutlass/device_kernel.h"
#include "cutlass/kernel_hardware_info.h"
#include "88_hopper_fmha/collective/fmha_epilogue.hpp"
#include "88_hopper_fmha/kernel/fmha_options.hpp"

namespace fact {

//===----------------------------------------------------------------------===//
// The problem and its schedule
//===----------------------------------------------------------------------===//

/// `Heads` is a multiple of `KeyHeads`; neighboring query heads share a key
/// head.
template <int Batches, int Heads, int KeyHeads, int QueryLength, int KeyLength,
          int HeadSize>
struct AttentionProblem {
  static constexpr int batches = Batches, heads = Heads, key_heads = KeyHeads,
                       query_length = QueryLength, key_length = KeyLength,
                       head_size = HeadSize;
  static_assert(Heads % KeyHeads == 0,
                "the number of heads must be a multiple of the key heads");
  static_assert(KeyLength > 0, "there must be at least one key");
};

/// Q, K, V or O as [batch, head, time, head size], the last contiguous.
template <int Buffer, class Element, int64_t RowStride, int64_t HeadStride,
          int64_t BatchStride, int64_t Offset = 0>
struct Heads : View<Buffer, Element, Offset> {
  static_assert(is_aligned<Element>(RowStride, 16) &&
                    is_aligned<Element>(HeadStride, 16) &&
                    is_aligned<Element>(BatchStride, 16) &&
                    is_aligned<Element>(Offset, 16),
                "TMA needs strides that are multiples of 16 bytes");
  static_assert(RowStride < INT32_MAX && HeadStride < INT32_MAX &&
                    BatchStride < INT32_MAX,
                "the collectives keep strides in 32 bits");

  using Stride = cute::tuple<int, cute::_1, cute::tuple<int, int>>;
  static Stride stride() {
    return {int(RowStride), {}, {int(BatchStride), int(HeadStride)}};
  }
};

/// Query t sees keys 0..t, as in PyTorch's is_causal.
struct Causal {
  static constexpr bool causal = true;
};
struct Full {
  static constexpr bool causal = false;
};

/// What is added to the scores, [batch, head, query, key]; strides of 0 repeat.
template <int Buffer, class Element, int64_t BatchStride, int64_t HeadStride,
          int64_t QueryStride, int64_t KeyStride, int64_t Offset = 0>
struct Mask : View<Buffer, Element, Offset> {
  static constexpr bool is_present = true;
  static constexpr int64_t batch_stride = BatchStride, head_stride = HeadStride,
                           query_stride = QueryStride, key_stride = KeyStride;
  struct Pair {
    Element element[2];
  };

  /// Whether two neighboring keys are one word.
  template <int Keys>
  static constexpr bool has_pairs =
      KeyStride == 1 && QueryStride % 2 == 0 && HeadStride % 2 == 0 &&
      BatchStride % 2 == 0 && Offset % 2 == 0 && Keys % 2 == 0;

  /// The masks of an even key and the next one, or the last there is.
  template <int Keys> FACT_DEVICE Pair load(Element const *row, int key) {
    if constexpr (has_pairs<Keys>) {
      using Word = std::conditional_t<sizeof(Element) == 4, uint2, uint32_t>;
      Word word =
          __ldg(reinterpret_cast<Word const *>(row + cute::min(key, Keys - 2)));
      return reinterpret_cast<Pair const &>(word);
    } else {
      return {__ldg(row + cute::min(key, Keys - 1) * KeyStride),
              __ldg(row + cute::min(key + 1, Keys - 1) * KeyStride)};
    }
  }
};
struct NoMask {
  using Element = void;
  static constexpr bool is_present = false;
  static constexpr int buffer = -1;
};

// The words of GEMM schedules; here:
struct Cooperative; // one block for each tile of queries
struct Pingpong;    // persistent blocks, queries loaded ahead by their own warp

template <int QueryTile, int KeyTile, class Kernel_, int Stages>
struct AttentionSchedule {
  using Kernel = Kernel_;
  static constexpr int query_tile = QueryTile, key_tile = KeyTile,
                       stages = Stages;
  static constexpr int warpgroups = QueryTile / 64;

  static_assert(QueryTile == 128 || QueryTile == 192,
                "the query tile must be 128 or 192: 64 rows a warpgroup");
  // Otherwise the probabilities are permuted against the values.
  static_assert(KeyTile == 32 || KeyTile == 64 || KeyTile == 96 ||
                    KeyTile == 128 || KeyTile == 192 || KeyTile == 256,
                "the key tile must be one wgmma wide: 32, 64, 96, 128, 192 or "
                "256");
  // The next key tile is loaded before this value tile is free: two stages wait
  // for each other forever.
  static_assert(Stages >= 3, "keys and values need at least three stages");
};

namespace fmha {

//===----------------------------------------------------------------------===//
// The main loop
//===----------------------------------------------------------------------===//

/// The packaged main loop with the scale as an argument, with `Group` query
/// heads for each key head, and with a mask that is added.
template <int Group, class Added, class... Parameters>
struct Mainloop : collective::FmhaMainloopTmaWarpSpecialized<Parameters...> {
  using Base = collective::FmhaMainloopTmaWarpSpecialized<Parameters...>;
  using MaskElement = typename Added::Element;

  struct Arguments : Base::Arguments {
    float scale;
    MaskElement const *mask;
  };
  struct Params : Base::Params {
    float scale;
    MaskElement const *mask;
  };

  template <class Size>
  static Params to_underlying_arguments(Size const &size,
                                        Arguments const &arguments,
                                        void *workspace) {
    Params params{Base::to_underlying_arguments(size, arguments, workspace),
                  arguments.scale * log2_e, arguments.mask};
    // Scores that a mask was added to are scaled already.
    params.scale_softmax = Added::is_present ? 1 / log2_e : arguments.scale;
    params.scale_softmax_log2 = Added::is_present ? 1 : params.scale;
    return params;
  }

  template <class Coordinate, class Size, class... Rest>
  CUTLASS_DEVICE auto compute(Coordinate const &block,
                              Coordinate const &warpgroup, Params const &params,
                              Size const &size, Rest &...rest) {
    if constexpr (Added::is_present) {
      auto [batch, head] = cute::get<2>(block);
      MaskedSize<Size, MaskElement> masked(
          size,
          params.mask + batch * Added::batch_stride + head * Added::head_stride,
          params.scale);
      return Base::compute(block, warpgroup, params, masked, rest...);
    } else {
      return Base::compute(block, warpgroup, params, size, rest...);
    }
  }

  /// As in the base class, where one coordinate serves queries and keys.
  template <bool LoadsQueries, class Coordinate, class Size, class Barrier>
  CUTLASS_DEVICE void
  load_kv_maybe_q(int rank, Coordinate const &block, Params const &params,
                  Size const &size, typename Base::MainloopPipeline &pipeline,
                  typename Base::PipelineState &write,
                  typename Base::MainloopPipelineQ &query_pipeline,
                  typename Base::PipelineStateQ &query_write,
                  typename Base::SharedStorage &storage, Barrier &barrier,
                  bool waits) {
    if constexpr (Group == 1) {
      Base::template load_kv_maybe_q<LoadsQueries>(
          rank, block, params, size, pipeline, write, query_pipeline,
          query_write, storage, barrier, waits);
    } else {
      auto [query_block, key_block, batch_and_head] = block;
      auto [batch, head] = batch_and_head;
      auto key_coordinate = cute::make_coord(
          query_block, key_block, cute::make_coord(batch, head / Group));
      int tiles = FusionOf<Base>{}.get_trip_count(
          block, typename Base::TileShape{}, size);
      int elected = cute::elect_one_sync();

      typename Base::LoadQ queries{params.tma_load_q, query_pipeline,
                                   storage.smem_q};
      typename Base::LoadK keys{params.tma_load_k, pipeline, storage.smem_k};
      typename Base::LoadV values{params.tma_load_v, pipeline, storage.smem_v};
      auto query_tensors =
          queries.init_state(cute::_0{}, size, typename Base::TileShapeQK{},
                             block, Base::NumMmaWarpGroups);
      auto key_tensors = keys.init_state(
          rank, size, typename Base::TileShapeQK{}, key_coordinate, tiles);
      auto value_tensors = values.init_state(
          rank, size, typename Base::TileShapePV{}, key_coordinate, tiles);

      auto query_tile =
          cute::make_coord_iterator(cute::Int<Base::NumMmaWarpGroups>{});
      auto key_tile = cute::make_coord_iterator(tiles);
      int query_count = Base::NumMmaWarpGroups;
      int key_count = 2 * tiles;

      // The first warpgroup can start with one tile of queries and keys.
      if constexpr (LoadsQueries)
        queries.step(query_tile, query_tensors, query_write, elected,
                     query_count);
      keys.template step<false>(key_tile, key_tensors, write, elected,
                                key_count);
      if constexpr (LoadsQueries) {
        while (query_count > 0)
          queries.step(query_tile, query_tensors, query_write, elected,
                       query_count);
      } else if (waits) {
        barrier.arrive();
        barrier.wait(/*phase=*/0);
      }
      values.template step<true>(key_tile, value_tensors, write, elected,
                                 key_count);
      CUTLASS_PRAGMA_NO_UNROLL
      while (key_count > 0) {
        keys.template step<false>(key_tile, key_tensors, write, elected,
                                  key_count);
        values.template step<true>(key_tile, value_tensors, write, elected,
                                   key_count);
      }
    }
  }

private:
  template <class> struct FusionOfBase;
  template <class Element, class AccQK, class AccPV, class Tile, class Q,
            class K, class V, class Fusion, class... Options>
  struct FusionOfBase<collective::FmhaMainloopTmaWarpSpecialized<
      Element, AccQK, AccPV, Tile, Q, K, V, Fusion, Options...>> {
    using type = Fusion;
  };
  template <class M> using FusionOf = typename FusionOfBase<M>::type;
};

template <class Element> struct NumericType;
template <> struct NumericType<bf16> {
  using type = cutlass::bfloat16_t;
};
template <> struct NumericType<f16> {
  using type = cutlass::half_t;
};

} // namespace fmha

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class Q, class K, class V, class O, class MaskKind,
          class Scale, class Schedule, class Added = NoMask>
class Attention {
  static_assert(std::is_same_v<typename Q::Element, typename K::Element> &&
                    std::is_same_v<typename Q::Element, typename V::Element> &&
                    std::is_same_v<typename Q::Element, typename O::Element>,
                "Q, K, V and the result must have the same element type");
  static_assert(Problem::head_size % 8 == 0 && Problem::head_size <= 256,
                "the head size must be a multiple of 8, at most 256");
  static_assert(int64_t(Problem::batches) * Problem::heads *
                        Problem::query_length <
                    INT32_MAX,
                "the collectives index rows in 32 bits");

  using Element = typename fmha::NumericType<typename Q::Element>::type;
  using Stride = typename Q::Stride;
  static constexpr bool persistent =
      std::is_same_v<typename Schedule::Kernel, Pingpong>;

  // TMA fills the rest of a wider head with zeros, and does not store it.
  static constexpr int head_tile = Problem::head_size <= 128
                                       ? (Problem::head_size + 31) / 32 * 32
                                       : (Problem::head_size + 63) / 64 * 64;
  using TileShape =
      cute::Shape<cute::Int<Schedule::query_tile>,
                  cute::Int<Schedule::key_tile>, cute::Int<head_tile>>;

  template <auto Tag, class Value>
  using Option = cutlass::fmha::kernel::Option<Tag, Value>;
  using Tag = cutlass::fmha::kernel::Tag;
  using IsPersistent =
      Option<Tag::kIsPersistent, cute::bool_constant<persistent>>;
  using LoadsQueriesApart =
      Option<Tag::kLoadsQSeparately, cute::bool_constant<persistent>>;
  using Warpgroups =
      Option<Tag::kNumMmaWarpGroups, cute::Int<Schedule::warpgroups>>;
  using Stages = Option<Tag::kStagesKV, cute::Int<Schedule::stages>>;

  using Mainloop =
      fmha::Mainloop<Problem::heads / Problem::key_heads, Added, Element, float,
                     float, TileShape, Stride, Stride, Stride,
                     fmha::Masking<Problem, MaskKind::causal, Added>,
                     IsPersistent, LoadsQueriesApart, Warpgroups, Stages>;
  using Epilogue = cutlass::fmha::collective::FmhaFwdEpilogue<
      Element, float, typename Mainloop::TileShapePV>;
  using Scheduler =
      std::conditional_t<persistent, fmha::Persistent<MaskKind::causal>,
                         fmha::BlockPerTile<MaskKind::causal>>;
  using Kernel = cutlass::fmha::kernel::FmhaKernelTmaWarpSpecialized<
      Mainloop, Epilogue, Scheduler, IsPersistent, LoadsQueriesApart,
      Warpgroups, Stages>;
  static_assert(Kernel::SharedStorageSize <= 232448,
                "tiles and stages exceed shared memory: use fewer stages");

public:
  static constexpr int buffer_count = count_buffers<Q, K, V, O, Added>();
  // The collective always writes the log-sum-exp of each row.
  static constexpr uint64_t workspace_bytes =
      uint64_t(Problem::batches) * Problem::heads * Problem::query_length *
      sizeof(float);

  struct State {
    typename Kernel::Params params;
    dim3 grid;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    if (!(is_aligned(Q::pointer(buffers), 16) &&
          is_aligned(K::pointer(buffers), 16) &&
          is_aligned(V::pointer(buffers), 16) &&
          is_aligned(O::pointer(buffers), 16)))
      return cudaErrorMisalignedAddress;
    if constexpr (Added::is_present)
      if (!is_aligned(Added::pointer(buffers),
                      Added::template has_pairs<Problem::key_length>
                          ? sizeof(typename Added::Pair)
                          : sizeof(typename Added::Element)))
        return cudaErrorMisalignedAddress;

    int device;
    if (cudaError_t error = cudaGetDevice(&device))
      return error;
    if (int error = allow_shared_memory(cutlass::device_kernel<Kernel>,
                                        Kernel::SharedStorageSize))
      return error;

    typename Kernel::Arguments arguments;
    arguments.problem_size = cute::make_tuple(
        int(Problem::batches), int(Problem::heads), int(Problem::query_length),
        int(Problem::key_length), int(Problem::head_size));
    arguments.mainloop.ptr_Q = pointer<Q>(buffers);
    arguments.mainloop.dQ = Q::stride();
    arguments.mainloop.ptr_K = pointer<K>(buffers);
    arguments.mainloop.dK = K::stride();
    arguments.mainloop.ptr_V = pointer<V>(buffers);
    arguments.mainloop.dV = V::stride();
    arguments.mainloop.scale = Scale::value;
    if constexpr (Added::is_present)
      arguments.mainloop.mask = Added::pointer(buffers);
    arguments.epilogue.ptr_O = pointer<O>(buffers);
    arguments.epilogue.dO = O::stride();
    arguments.epilogue.ptr_LSE = static_cast<float *>(workspace);
    arguments.epilogue.dLSE = cute::make_stride(
        cute::_1{},
        cute::make_stride(int(Problem::heads * Problem::query_length),
                          int(Problem::query_length)));
    arguments.hw_info.device_id = device;
    arguments.hw_info.sm_count =
        cutlass::KernelHardwareInfo::query_device_multiprocessor_count(device);

    state.params = Kernel::to_underlying_arguments(arguments, nullptr);
    state.grid = Kernel::get_grid_shape(state.params);
    return cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    return launch_kernel(&cutlass::device_kernel<Kernel>, state.grid, dim3(1),
                         Kernel::get_block_shape(), Kernel::SharedStorageSize,
                         state.params, stream);
  }

private:
  template <class Tensor> static Element *pointer(void *const *buffers) {
    return reinterpret_cast<Element *>(Tensor::pointer(buffers));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_ATTENTION_CUH
