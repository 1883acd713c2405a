//===- StrictAttention.cuh - Attention of strict f32 on Hopper -*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `sm80::Attention` of f32 by wgmma, as exact as IEEE f32: each factor is the
// sum of a big and a small part of TF32, and of the four products of parts the
// one of small parts is left out.
//
//   // Llama: 32 heads of 128 that share 8 heads of keys
//   using Kernel = sm90::StrictAttention<
//       sm80::AttentionProblem<16, 32, 8, 2048, 2048, 128, 128>,
//       sm80::Heads<0, f32, 2048 * 4096, 128, 4096, 1>,
//       sm80::Heads<1, f32, 2048 * 1024, 128, 1024, 1>,
//       sm80::Heads<2, f32, 2048 * 1024, 128, 1024, 1>,
//       sm80::Heads<3, f32, 2048 * 4096, 128, 4096, 1>,
//       sm80::Full, Scale, sm80::AttentionSchedule<128, 64, 8, 1, 1>>;
//
// A first kernel splits keys and values, once for all queries, and writes them
// to workspace tile by tile, as wgmma reads them. wgmma reads 32-bit factors
// along K only, so values are transposed there. The keys of a tile are one
// panel, a bulk copy, and its values another; those of heads of more than 128
// elements are several, because two whole ones do not fit into shared memory.
//
// In the second kernel one thread copies and each warpgroup has 64 queries.
// Their scores, probabilities and results lie in registers as they do in warps
// of sm80::AttentionBlock, from which all but the products comes.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_STRICTATTENTION_CUH
#define FACT_CUTLASS_STRICTATTENTION_CUH

#include "Sm80Attention.cuh"
#include "WarpgroupInstructions.cuh"

namespace fact {
namespace sm90 {

/// B of a product, [K / 4, N, 4]: its big parts, then its small ones. Four
/// elements along K are a unit.
template <int N, int K> struct SplitTile {
  static constexpr int units = N * K / 4;
  static constexpr int part_bytes = N * K * 4, bytes = 2 * part_bytes;

  FACT_DEVICE int get_column(int unit) { return unit % N; }
  FACT_DEVICE int get_depth(int unit) { return unit / N * 4; }

  FACT_DEVICE void store(float *tile, int unit, float const (&x)[4]) {
    uint32_t words[4], parts[2][4];
    memcpy(words, x, sizeof(words));
    sm80::Factors<float, false>::split(words, parts);
#pragma unroll
    for (int part = 0; part < 2; ++part)
      reinterpret_cast<uint4 *>(tile)[part * units + unit] = {
          parts[part][0], parts[part][1], parts[part][2], parts[part][3]};
  }

  /// Describes eight elements along K of one part.
  FACT_DEVICE uint64_t describe(uint32_t tile, int part, int step) {
    return describe_tile(tile + part * part_bytes + step * (N * 32),
                         /*column_step=*/128, /*depth_step=*/N * 16);
  }
};

/// sums = A B, where A is fragments of parts and B is steps of a tile from
/// `first` on. Products of small parts come first: their sums lose less to
/// truncation.
template <int Steps, class Tile, int Tiles, class Factors>
FACT_DEVICE void multiply_parts(float (&sums)[Tiles][4],
                                Factors const (&a)[Steps], uint32_t tile,
                                int first) {
#pragma unroll
  for (int step = 0; step < Steps; ++step) {
    multiply_tile(sums, a[step][1], Tile::describe(tile, 0, first + step),
                  /*adds=*/step > 0);
    multiply_tile(sums, a[step][0], Tile::describe(tile, 1, first + step),
                  /*adds=*/true);
  }
#pragma unroll
  for (int step = 0; step < Steps; ++step)
    multiply_tile(sums, a[step][0], Tile::describe(tile, 0, first + step),
                  /*adds=*/true);
}

/// Columns of keys or values in panels of `width`.
struct Panels {
  int width, count;

  constexpr int columns() const { return width * count; }

  /// `columns` in one panel that is a multiple of `unit`. More than 128 are in
  /// panels of 64 or 32: their sums leave registers to the result.
  static constexpr Panels of(int columns, int unit) {
    auto align = [&](int unit) { return (columns + unit - 1) / unit * unit; };
    if (columns <= 128)
      return {align(unit), 1};
    int width = align(32) % 64 == 0 ? 64 : 32;
    return {width, align(32) / width};
  }
};

template <class Problem, class Q, class K, class V, class O, class MaskKind,
          class Scale, class Schedule, class Added>
struct StrictAttentionBlock
    : sm80::AttentionBlock<Problem, Q, K, V, O, MaskKind, sm80::Strict, Scale,
                           Schedule, Added> {
  using Base = sm80::AttentionBlock<Problem, Q, K, V, O, MaskKind, sm80::Strict,
                                    Scale, Schedule, Added>;
  using Product = typename Base::Product;
  using Base::key_steps, Base::parts;
  static constexpr int stages = Schedule::stages, key_tile = Schedule::key_tile;
  static_assert(Schedule::bands == 1, "each warp of a warpgroup has 16 rows");
  static_assert(Problem::head_size <= 256 && Problem::value_size <= 256,
                "a head has at most 256 elements");

  /// Threads that multiply. One thread of one more warpgroup copies; the others
  /// leave their registers to those that multiply.
  static constexpr int consumers = Schedule::threads, threads = consumers + 128;
  static_assert(consumers == 128 || consumers == 256,
                "a warpgroup has 64 queries, and a block one or two of them");

  /// A step of wgmma has 8 elements of a head, and a product 32, 64, 96 or 128
  /// values; those beyond the head are 0.
  static constexpr Panels keys = Panels::of(Problem::head_size, 8),
                          values = Panels::of(Problem::value_size, 32);
  static constexpr int panels = keys.count + values.count;
  static constexpr int head_steps = keys.columns() / 8;
  static_assert(panels == 2 || key_tile == 32,
                "heads of more than 128 elements leave registers to the scores "
                "of 32 keys");
  /// Steps whose products are summed up before they are added to the scores.
  static constexpr int chunk = keys.count > 1 ? 2 : sm80::chunk_of(head_steps);

  /// What the first kernel writes per tile of keys: panels of keys, then of
  /// values.
  using KeyPanel = SplitTile<key_tile, keys.width>;
  using ValuePanel = SplitTile<values.width, key_tile>;
  static constexpr int key_bytes = keys.count * KeyPanel::bytes,
                       tile_bytes =
                           key_bytes + values.count * ValuePanel::bytes;
  static constexpr int key_tiles = (Problem::keys + key_tile - 1) / key_tile;
  static constexpr int64_t split_blocks =
      int64_t(key_tiles) * Problem::key_heads * Problem::batches;
  static_assert(split_blocks < INT32_MAX,
                "the grid has at most 2^31 - 1 blocks");
  static constexpr int64_t split_bytes = split_blocks * tile_bytes;

  /// Places of panels, the fragments of queries, then barriers: one per place
  /// that copies fill and one that all warps have left. A stage has two places,
  /// one for all keys of a tile and one for its values where these are one
  /// panel each.
  static constexpr int places = 2 * stages,
                       largest_panel = KeyPanel::bytes > ValuePanel::bytes
                                           ? KeyPanel::bytes
                                           : ValuePanel::bytes,
                       even_bytes =
                           panels == 2 ? KeyPanel::bytes : largest_panel,
                       odd_bytes =
                           panels == 2 ? ValuePanel::bytes : largest_panel,
                       query_bytes = head_steps * consumers * 16,
                       query_place = stages * (even_bytes + odd_bytes),
                       barrier_place = query_place + query_bytes,
                       shared_bytes = barrier_place + 2 * places * 8;

  struct Params : Base::Params {
    float *split;
  };

  //===--------------------------------------------------------------------===//
  // The first kernel
  //===--------------------------------------------------------------------===//

  static constexpr int split_threads = 256;

  /// Four elements of a key, from `column` on.
  FACT_DEVICE void load_key(float const *head, int key, int column,
                            float (&x)[4]) {
    float const *from = head + key * K::row_stride + column * K::column_stride;
    constexpr bool in_vectors =
        K::access_bytes == 16 && Problem::head_size % 4 == 0;
    if (in_vectors && key < Problem::keys && column < Problem::head_size) {
      float4 vector = __ldg(reinterpret_cast<float4 const *>(from));
      x[0] = vector.x, x[1] = vector.y, x[2] = vector.z, x[3] = vector.w;
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      x[i] = key < Problem::keys && column + i < Problem::head_size
                 ? __ldg(from + i * K::column_stride)
                 : 0.0f;
  }

  /// Four values of a column. A lane has the probabilities of keys 2 t and
  /// 2 t + 1 of eight, where a factor of wgmma is of keys t and t + 4: values
  /// come in that order.
  FACT_DEVICE void load_values(float const *head, int first, int depth,
                               int column, float (&x)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int key = first + depth / 8 * 8 + 2 * i + depth / 4 % 2;
      x[i] = key < Problem::keys && column < Problem::value_size
                 ? __ldg(head + key * V::row_stride + column * V::column_stride)
                 : 0.0f;
    }
  }

  /// Splits the keys and values of one tile.
  FACT_DEVICE void split(Params const &params) {
    int64_t block = blockIdx.x;
    int first = int(block % key_tiles) * key_tile;
    int64_t head = block / key_tiles % Problem::key_heads,
            batch = block / key_tiles / Problem::key_heads;
    float const *key =
        params.key + batch * K::batch_stride + head * K::head_stride;
    float const *value =
        params.value + batch * V::batch_stride + head * V::head_stride;
    float *parts = params.split + block * (tile_bytes / 4);
    for (int panel = 0; panel < keys.count; ++panel) {
      for (int unit = threadIdx.x; unit < KeyPanel::units;
           unit += split_threads) {
        float x[4];
        load_key(key, first + KeyPanel::get_column(unit),
                 panel * keys.width + KeyPanel::get_depth(unit), x);
        KeyPanel::store(parts, unit, x);
      }
      parts += KeyPanel::bytes / 4;
    }
    for (int panel = 0; panel < values.count; ++panel) {
      for (int unit = threadIdx.x; unit < ValuePanel::units;
           unit += split_threads) {
        float x[4];
        load_values(value, first, ValuePanel::get_depth(unit),
                    panel * values.width + ValuePanel::get_column(unit), x);
        ValuePanel::store(parts, unit, x);
      }
      parts += ValuePanel::bytes / 4;
    }
  }

  //===--------------------------------------------------------------------===//
  // Copies
  //===--------------------------------------------------------------------===//

  /// A panel among all that a block reads, from 0 on.
  struct Turn {
    int place, round;
    __device__ __forceinline__ explicit Turn(int index)
        : place(index % places), round(index / places) {}

    /// Where the panel lies.
    __device__ __forceinline__ uint32_t get_panel(uint32_t shared) const {
      return shared + place / 2 * (even_bytes + odd_bytes) +
             place % 2 * even_bytes;
    }
    /// Barrier of its copy, and of the warps that read it.
    __device__ __forceinline__ uint32_t get_full(uint32_t shared) const {
      return shared + barrier_place + place * 8;
    }
    __device__ __forceinline__ uint32_t get_empty(uint32_t shared) const {
      return shared + barrier_place + (places + place) * 8;
    }
  };

  /// One thread copies the keys and values of all tiles, each panel when the
  /// one that was in its place is used up.
  __device__ __forceinline__ void copy_tiles(Params const &params,
                                             uint32_t shared) const {
    int64_t head = int64_t(this->batch) * Problem::key_heads + this->key_head;
    char const *from =
        reinterpret_cast<char const *>(params.split) +
        (head * key_tiles + this->first_tile) * int64_t(tile_bytes);
    int count = (this->last_tile - this->first_tile) * panels;
    for (int index = 0; index < count; ++index) {
      Turn turn(index);
      int bytes =
          index % panels < keys.count ? KeyPanel::bytes : ValuePanel::bytes;
      if (turn.round > 0)
        wait_for_barrier(turn.get_empty(shared), (turn.round - 1) % 2);
      arrive_with_bytes(turn.get_full(shared), bytes);
      copy_bulk(turn.get_panel(shared), from, bytes, turn.get_full(shared));
      from += bytes;
    }
  }

  /// Waits for a panel; returns where it lies.
  FACT_DEVICE uint32_t wait_for_panel(uint32_t shared, int index) {
    Turn turn(index);
    wait_for_barrier(turn.get_full(shared), turn.round % 2);
    return turn.get_panel(shared);
  }

  /// Tells that a warp has left a panel.
  __device__ __forceinline__ void leave(uint32_t shared, int index) const {
    __syncwarp();
    if (this->lane == 0)
      arrive(Turn(index).get_empty(shared));
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  using Fragment = uint32_t[parts][4];

  /// Keeps the fragments of a thread's queries in shared memory, where only the
  /// thread itself reads them: there are too many for registers.
  __device__ __forceinline__ void store_queries(Params const &params,
                                                float4 *queries) const {
    float const *rows[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      // Rows beyond the end repeat the last one, and store nothing.
      int row = min(this->get_row(0, half), Problem::rows - 1);
      rows[half] = params.query + this->template get_offset<Q>(row);
    }
    for (int step = 0; step < head_steps; ++step) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int column = step * 8 + i / 2 * 4 + this->lane % 4;
        x[i] = column < Problem::head_size
                   ? __ldg(rows[i % 2] + column * Q::column_stride)
                   : 0.0f;
      }
      queries[step * consumers + threadIdx.x] = {x[0], x[1], x[2], x[3]};
    }
  }

  __device__ __forceinline__ void
  load_queries(float4 const *queries, int first,
               Fragment (&factors)[chunk]) const {
#pragma unroll
    for (int step = 0; step < chunk; ++step) {
      float4 x = queries[(first + step) * consumers + threadIdx.x];
      uint32_t words[4] = {__float_as_uint(x.x), __float_as_uint(x.y),
                           __float_as_uint(x.z), __float_as_uint(x.w)};
      Product::split(words, factors[step]);
    }
  }

  /// Scores of the warpgroup's queries with a tile of keys, whose first panel
  /// has this index. The next factors are split while products run.
  __device__ __forceinline__ void
  multiply_keys(float4 const *queries, uint32_t shared, int index,
                typename Base::Scores &scores) const {
    constexpr int panel_steps = keys.width / 8;
    static_assert(panel_steps % chunk == 0, "a chunk is of one panel");
    Fragment factors[2][chunk];
    load_queries(queries, 0, factors[0]);
    uint32_t panel;
#pragma unroll
    for (int first = 0; first < head_steps; first += chunk) {
      int place = first % panel_steps;
      if (place == 0)
        panel = wait_for_panel(shared, index + first / panel_steps);
      auto &current = factors[first / chunk % 2];
      float sums[key_tile / 8][4];
      keep(current);
      begin_products();
      multiply_parts<chunk, KeyPanel>(sums, current, panel, place);
      commit_products();
      if (first + chunk < head_steps)
        load_queries(queries, first + chunk, factors[(first / chunk + 1) % 2]);
      wait_for_products();
      keep(sums);
      keep(current);
      if (place + chunk == panel_steps)
        leave(shared, index + first / panel_steps);
#pragma unroll
      for (int i = 0; i < key_tile / 2; ++i)
        scores[0][i / 4][i % 4] =
            first == 0 ? sums[i / 4][i % 4]
                       : scores[0][i / 4][i % 4] + sums[i / 4][i % 4];
    }
  }

  /// result = decay * result + probabilities * values, whose first panel has
  /// this index.
  __device__ __forceinline__ void multiply_values(
      uint32_t shared, int index, typename Base::Scores const &probabilities,
      float const (&decay)[1][2], typename Base::Result &result) const {
    Fragment weights[key_steps];
#pragma unroll
    for (int step = 0; step < key_steps; ++step)
      Product::template convert<key_tile / 8>(probabilities[0], step,
                                              weights[step]);
#pragma unroll
    for (int panel = 0; panel < values.count; ++panel) {
      uint32_t tile = wait_for_panel(shared, index + panel);
      float sums[values.width / 8][4];
      keep(weights);
      begin_products();
      multiply_parts<key_steps, ValuePanel>(sums, weights, tile, 0);
      commit_products();
      wait_for_products();
      keep(sums);
      keep(weights);
      leave(shared, index + panel);
#pragma unroll
      for (int i = 0; i < values.width / 2; ++i) {
        int column = panel * (values.width / 8) + i / 4;
        if (column < Base::value_tiles) {
          float &sum = result[0][column][i % 4];
          sum = fmaf(sum, decay[0][i / 2 % 2], sums[i / 4][i % 4]);
        }
      }
    }
  }

  /// What a warpgroup does.
  __device__ __forceinline__ void multiply_tiles(Params const &params,
                                                 char *memory) const {
    auto *queries = reinterpret_cast<float4 *>(memory + query_place);
    uint32_t shared = shared_address(memory);
    store_queries(params, queries);
    typename Base::Rows rows;
    this->init(params, rows);
    typename Base::Result result = {};
    for (int tile = this->first_tile; tile < this->last_tile; ++tile) {
      int index = (tile - this->first_tile) * panels;
      typename Base::Scores scores;
      multiply_keys(queries, shared, index, scores);
      this->mask_scores(rows, tile, scores);
      float decay[1][2];
      this->exponentiate(scores, rows, decay);
      multiply_values(shared, index + keys.count, scores, decay, result);
    }
    this->store(params, rows, result);
  }

  __device__ __forceinline__ void run(Params const &params,
                                      char *memory) const {
    uint32_t shared = shared_address(memory);
    if (threadIdx.x == 0) {
      for (int i = 0; i < places; ++i) {
        init_barrier(Turn(i).get_full(shared), 1);
        init_barrier(Turn(i).get_empty(shared), consumers / 32);
      }
      publish_barriers();
    }
    __syncthreads();
    // Two warpgroups that multiply and one that copies share 512 registers.
    if (threadIdx.x < consumers) {
      if constexpr (consumers == 256)
        take_registers<240>();
      multiply_tiles(params, memory);
    } else {
      if constexpr (consumers == 256)
        give_registers<24>();
      if (threadIdx.x == consumers)
        copy_tiles(params, shared);
    }
  }
};

template <class Block>
__global__ void __launch_bounds__(Block::split_threads)
    split_tiles(typename Block::Params params) {
  Block::split(params);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class Q, class K, class V, class O, class MaskKind,
          class Scale, class Schedule, class Added = sm80::NoMask>
class StrictAttention {
  using Block = StrictAttentionBlock<Problem, Q, K, V, O, MaskKind, Scale,
                                     Schedule, Added>;
  static_assert(std::is_same_v<typename Q::Element, f32> &&
                    std::is_same_v<typename K::Element, f32> &&
                    std::is_same_v<typename V::Element, f32> &&
                    std::is_same_v<typename O::Element, f32>,
                "Q, K, V and the result must be f32");

public:
  static constexpr int buffer_count = count_buffers<Q, K, V, O, Added>();
  static constexpr uint64_t workspace_bytes =
      Block::split_bytes +
      (Schedule::splits == 1 ? 0 : Block::partial_elements * sizeof(float));

  struct State {
    typename Block::Params params;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    if (int error = Block::bind(state.params, buffers))
      return error;
    state.params.split = static_cast<float *>(workspace);
    state.params.partial = state.params.split + Block::split_bytes / 4;
    if (!is_aligned(workspace, 16))
      return cudaErrorMisalignedAddress;
    return allow_shared_memory(sm80::attend<Block>, Block::shared_bytes);
  }

  static int launch(State &state, cudaStream_t stream) {
    int error =
        launch_kernel(&split_tiles<Block>, dim3(Block::split_blocks), dim3(1),
                      dim3(Block::split_threads), 0, state.params, stream);
    if (!error)
      error = launch_kernel(&sm80::attend<Block>, dim3(Block::blocks), dim3(1),
                            dim3(Block::threads), Block::shared_bytes,
                            state.params, stream);
    if constexpr (Schedule::splits > 1)
      if (!error)
        error = sm80::launch_combine<Block>(state.params, stream);
    return error;
  }
};

} // namespace sm90
} // namespace fact

#endif // FACT_CUTLASS_STRICTATTENTION_CUH
