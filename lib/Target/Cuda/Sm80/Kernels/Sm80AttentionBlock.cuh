//===- Sm80AttentionBlock.cuh - One block of an attention ------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block has a tile of queries, of which each warp has bands of 16. For each
// tile of keys, warps compute the scores, turn them into exponentials, and add
// the products with the values to the result. All of these stay in registers,
// in the fragments of mma.sync that Instructions.cuh describes.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80ATTENTIONBLOCK_CUH
#define FACT_CUTLASS_SM80ATTENTIONBLOCK_CUH

#include "Sm80AttentionTiles.cuh"

namespace fact {
namespace sm80 {

/// Where a launch reads and writes; partial results only if keys are split.
template <class Element, class MaskElement> struct AttentionParams {
  Element const *query, *key, *value;
  MaskElement const *mask;
  Element *result;
  float *partial;
};

template <class Problem, class Q, class K, class V, class O, class MaskKind,
          class Precision, class Scale, class Schedule, class Added>
struct AttentionBlock {
  using Element = typename Q::Element;
  using Params = AttentionParams<Element, typename Added::Element>;
  using Product = Factors<Element, Precision::allows_tf32>;

  static constexpr int bands = Schedule::bands;
  static constexpr int parts = Product::parts;
  static constexpr int score_tiles = Schedule::key_tile / 8;
  /// 32 bytes of a row are one step of mma.sync along the head, or one group of
  /// the result's columns.
  static constexpr int head_pitch = row_pitch<Element>(Problem::head_size);
  static constexpr int value_pitch = row_pitch<Element>(Problem::value_size);
  static constexpr int head_steps = head_pitch / 32;
  static constexpr int value_groups = value_pitch / 32;
  static constexpr int value_tiles = value_groups * Product::tiles_per_group;
  static constexpr int key_steps = Schedule::key_tile / Product::depth;

  static constexpr int query_bytes = Schedule::query_tile * head_pitch,
                       key_bytes = Schedule::key_tile * head_pitch,
                       stage_bytes =
                           key_bytes + Schedule::key_tile * value_pitch,
                       shared_bytes =
                           query_bytes + Schedule::stages * stage_bytes;

  static constexpr int tiles =
      (Problem::rows + Schedule::query_tile - 1) / Schedule::query_tile;
  static constexpr int64_t blocks =
      int64_t(tiles) * Schedule::splits * Problem::key_heads * Problem::batches;
  static_assert(blocks < INT32_MAX, "the grid has at most 2^31 - 1 blocks");
  static constexpr int threads = Schedule::threads;

  /// Partial results: sums of values, [split, batch, head, query, column], then
  /// the largest scores and sums of exponentials, [split, batch, head, query].
  static constexpr int64_t all_rows =
      int64_t(Problem::batches) * Problem::heads * Problem::queries;
  static constexpr int64_t result_elements = all_rows * Problem::value_size;
  static constexpr int64_t partial_elements =
      Schedule::splits * all_rows * (Problem::value_size + 2);

  /// Exponentials are powers of two. Where nothing is added and the order of
  /// scores is kept, the scale is applied in their argument.
  static constexpr float scale = Scale::value * log2_e;
  static constexpr bool scales_later = !Added::is_present && scale > 0;
  static constexpr float later = scales_later ? scale : 1;

  /// Steps along the head between additions to the scores in f32: mma.sync
  /// truncates its sums, which shows in strict products.
  static constexpr int chunk = Product::promotes ? chunk_of(head_steps) : 1;
  /// Whether the factors of all queries fit into registers beside the rest.
  static constexpr bool keeps_queries =
      parts == 1 && bands * head_steps * 4 <= 32;

  using Scores = float[bands][score_tiles][4];
  using Result = float[bands][value_tiles][4];
  using QueryFactors =
      uint32_t[keeps_queries ? head_steps : chunk][bands][parts][4];

  /// What a thread knows of its rows, two of each band.
  struct Rows {
    float largest[bands][2];
    float sum[bands][2];
    int query[bands][2];
    typename Added::Element const *mask[bands][2];
  };

  /// Finds the tensors in the kernel's buffers.
  static int bind(Params &params, void *const *buffers) {
    params.query = Q::pointer(buffers);
    params.key = K::pointer(buffers);
    params.value = V::pointer(buffers);
    params.result = O::pointer(buffers);
    bool aligned = is_aligned(params.query, Q::access_bytes) &&
                   is_aligned(params.key, K::access_bytes) &&
                   is_aligned(params.value, V::access_bytes) &&
                   is_aligned(params.result, O::access_bytes);
    if constexpr (Added::is_present) {
      params.mask = Added::pointer(buffers);
      aligned &=
          is_aligned(params.mask, Added::template alignment<Problem::keys>);
    }
    return aligned ? cudaSuccess : cudaErrorMisalignedAddress;
  }

  //===--------------------------------------------------------------------===//
  // The tiles of a block
  //===--------------------------------------------------------------------===//

  int lane, batch, key_head, split, first_row, first_query, first_tile,
      last_tile;

  /// Finds the place of the block, and the key tiles that its queries see.
  /// Under a causal mask late queries see more keys: they go first.
  __device__ __forceinline__ AttentionBlock() {
    lane = threadIdx.x % 32;
    int index = blockIdx.x;
    int tile = index % tiles;
    index /= tiles;
    split = index % Schedule::splits;
    index /= Schedule::splits;
    key_head = index % Problem::key_heads;
    batch = index / Problem::key_heads;

    first_row =
        (MaskKind::causal ? tiles - 1 - tile : tile) * Schedule::query_tile;
    int last_row = min(first_row + Schedule::query_tile, Problem::rows) - 1;
    bool spans = first_row / Problem::queries != last_row / Problem::queries;
    first_query = spans ? 0 : first_row % Problem::queries;
    int last_query = spans ? Problem::queries - 1 : last_row % Problem::queries;
    int seen =
        MaskKind::causal ? min(Problem::keys, last_query + 1) : Problem::keys;
    int count = (seen + Schedule::key_tile - 1) / Schedule::key_tile;
    int share = (count + Schedule::splits - 1) / Schedule::splits;
    first_tile = min(split * share, count);
    last_tile = min(first_tile + share, count);
  }

  /// The row of a thread in a band; `half` 1 is 8 rows below `half` 0.
  __device__ __forceinline__ int get_row(int band, int half) const {
    int warp = threadIdx.x / 32;
    return first_row + (warp * bands + band) * 16 + half * 8 + lane / 4;
  }

  /// The offset of [batch, head, query] in a tensor of query heads.
  template <class Tensor>
  __device__ __forceinline__ int64_t get_offset(int row) const {
    int head = key_head * Problem::group + row / Problem::queries;
    return batch * Tensor::batch_stride + head * Tensor::head_stride +
           row % Problem::queries * Tensor::row_stride;
  }

  __device__ __forceinline__ void copy_queries(Params const &params,
                                               char *shared) const {
    copy_rows<Q, Schedule::query_tile, Problem::head_size, Schedule::threads>(
        shared, params.query, Problem::rows - first_row,
        [&](int row) { return get_offset<Q>(first_row + row); });
  }

  /// Copies the keys and values of a tile, if the block visits it.
  __device__ __forceinline__ void copy_tile(Params const &params, char *stage,
                                            int tile) const {
    if (tile < last_tile) {
      int first = tile * Schedule::key_tile, count = Problem::keys - first;
      copy_rows<K, Schedule::key_tile, Problem::head_size, Schedule::threads>(
          stage,
          params.key + batch * K::batch_stride + key_head * K::head_stride,
          count, [&](int row) { return (first + row) * K::row_stride; });
      copy_rows<V, Schedule::key_tile, Problem::value_size, Schedule::threads>(
          stage + key_bytes,
          params.value + batch * V::batch_stride + key_head * V::head_stride,
          count, [&](int row) { return (first + row) * V::row_stride; });
    }
    commit_copies();
  }

  __device__ __forceinline__ void init(Params const &params, Rows &rows) const {
#pragma unroll
    for (int i = 0; i < bands * 2; ++i) {
      int band = i / 2, half = i % 2;
      // Rows beyond the end repeat the last one, and store nothing.
      int row = min(get_row(band, half), Problem::rows - 1);
      rows.largest[band][half] = -INFINITY;
      rows.sum[band][half] = 0;
      rows.query[band][half] = row % Problem::queries;
      if constexpr (Added::is_present)
        rows.mask[band][half] = params.mask + get_offset<Added>(row);
    }
  }

  //===--------------------------------------------------------------------===//
  // Scores
  //===--------------------------------------------------------------------===//

  /// The factors of the warp's queries, from step `first` on.
  template <int Count>
  __device__ __forceinline__ void
  load_queries(uint32_t shared, int first,
               uint32_t (&factors)[Count][bands][parts][4]) const {
    int row = threadIdx.x / 32 * bands * 16 + lane % 16;
    uint32_t start = shared + row * head_pitch + lane / 16 * 16;
#pragma unroll
    for (int i = 0; i < Count * bands; ++i) {
      int step = i / bands, band = i % bands;
      uint32_t words[4];
      load_matrices(words,
                    start + band * 16 * head_pitch + (first + step) * 32);
      Product::split(words, factors[step][band]);
    }
  }

  /// Scores of the warp's queries with a tile of keys, both in shared memory.
  __device__ __forceinline__ void multiply_keys(uint32_t queries, uint32_t keys,
                                                QueryFactors &kept,
                                                Scores &scores) const {
    uint32_t start =
        keys + (lane / 16 * 8 + lane % 8) * head_pitch + lane / 8 % 2 * 16;
#pragma unroll
    for (int i = 0; i < bands * score_tiles * 4; ++i)
      scores[i / 4 / score_tiles][i / 4 % score_tiles][i % 4] = 0;
#pragma unroll(keeps_queries ? head_steps : 1)
    for (int first = 0; first < head_steps; first += chunk) {
      if constexpr (!keeps_queries)
        load_queries(queries, first, kept);
#pragma unroll
      for (int pair = 0; pair < score_tiles / 2; ++pair) {
        float sums[bands][2][4];
#pragma unroll
        for (int i = 0; i < bands * 8; ++i)
          sums[i / 8][i / 4 % 2][i % 4] =
              Product::promotes ? 0
                                : scores[i / 8][2 * pair + i / 4 % 2][i % 4];
#pragma unroll
        for (int step = 0; step < chunk; ++step) {
          uint32_t words[4], factors[2][parts][2];
          load_matrices(words,
                        start + pair * 16 * head_pitch + (first + step) * 32);
          Product::split({words[0], words[1]}, factors[0]);
          Product::split({words[2], words[3]}, factors[1]);
#pragma unroll
          for (int i = 0; i < bands * 2; ++i)
            Product::multiply(sums[i / 2][i % 2],
                              kept[keeps_queries ? first : step][i / 2],
                              factors[i % 2]);
        }
#pragma unroll
        for (int i = 0; i < bands * 8; ++i) {
          float &score = scores[i / 8][2 * pair + i / 4 % 2][i % 4];
          score =
              sums[i / 8][i / 4 % 2][i % 4] + (Product::promotes ? score : 0);
        }
      }
    }
  }

  /// Scales the scores of a key tile, adds the mask and hides what a query does
  /// not see.
  __device__ __forceinline__ void mask_scores(Rows const &rows, int tile,
                                              Scores &scores) const {
    int first = tile * Schedule::key_tile, end = first + Schedule::key_tile;
    bool hides =
        end > Problem::keys || (MaskKind::causal && end - 1 > first_query);
#pragma unroll
    for (int band = 0; band < bands; ++band) {
      if constexpr (Added::is_present)
        add_mask(rows.mask[band], first, scores[band]);
      else if constexpr (!scales_later) {
#pragma unroll
        for (int i = 0; i < score_tiles * 4; ++i)
          scores[band][i / 4][i % 4] *= scale;
      }
      if (hides) {
#pragma unroll
        for (int i = 0; i < score_tiles * 4; ++i) {
          int key = first + i / 4 * 8 + lane % 4 * 2 + i % 2;
          if (key >= Problem::keys ||
              (MaskKind::causal && key > rows.query[band][i / 2 % 2]))
            scores[band][i / 4][i % 4] = -INFINITY;
        }
      }
    }
  }

  /// scale * score + mask, in powers of two. A mask of the most negative number
  /// is no infinity: a query of which all keys have it sees all of them.
  __device__ __forceinline__ void
  add_mask(typename Added::Element const *const (&rows)[2], int first,
           float (&scores)[score_tiles][4]) const {
    // All loads are on their way before the first is needed.
    typename Added::Pair masks[score_tiles][2];
#pragma unroll
    for (int i = 0; i < score_tiles * 2; ++i)
      masks[i / 2][i % 2] = Added::template load<Problem::keys>(
          rows[i % 2], first + i / 2 * 8 + lane % 4 * 2);
#pragma unroll
    for (int i = 0; i < score_tiles * 4; ++i) {
      float mask = widen(masks[i / 4][i / 2 % 2].element[i % 2]);
      float least = mask == -INFINITY ? -INFINITY : -FLT_MAX;
      float &score = scores[i / 4][i % 4];
      score = nan_maximum(fmaf(score, scale, mask * log2_e), least);
    }
  }

  //===--------------------------------------------------------------------===//
  // Probabilities
  //===--------------------------------------------------------------------===//

  /// A largest score in powers of two; 0 for a query that has seen no key.
  FACT_DEVICE float get_base(float largest) {
    return largest == -INFINITY ? 0 : __fmul_rn(largest, later);
  }

  /// Turns scores into exponentials. `decay` is the factor of what was summed
  /// up before, by row.
  __device__ __forceinline__ void exponentiate(Scores &scores, Rows &rows,
                                               float (&decay)[bands][2]) const {
#pragma unroll
    for (int i = 0; i < bands * 2; ++i) {
      int band = i / 2, half = i % 2;
      float before = rows.largest[band][half], largest = before;
#pragma unroll
      for (int j = 0; j < score_tiles * 2; ++j)
        largest = nan_maximum(largest, scores[band][j / 2][2 * half + j % 2]);
      largest = nan_maximum(largest, __shfl_xor_sync(~0u, largest, 1));
      largest = nan_maximum(largest, __shfl_xor_sync(~0u, largest, 2));
      float base = get_base(largest), sum = 0;
#pragma unroll
      for (int j = 0; j < score_tiles * 2; ++j) {
        float &score = scores[band][j / 2][2 * half + j % 2];
        score = fast_exp2(fmaf(score, later, -base));
        sum += score;
      }
      decay[band][half] = fast_exp2(__fmul_rn(before, later) - base);
      rows.largest[band][half] = largest;
      rows.sum[band][half] = fmaf(rows.sum[band][half], decay[band][half], sum);
    }
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// result = decay * result + probabilities * values.
  __device__ __forceinline__ void
  multiply_values(char const *values, Scores const &probabilities,
                  float const (&decay)[bands][2], Result &result) const {
    constexpr int group_tiles = Product::tiles_per_group;
    uint32_t weights[key_steps][bands][parts][4];
#pragma unroll
    for (int i = 0; i < key_steps * bands; ++i)
      Product::template convert<score_tiles>(
          probabilities[i % bands], i / bands, weights[i / bands][i % bands]);
#pragma unroll
    for (int group = 0; group < value_groups; ++group) {
      float sums[bands][group_tiles][4];
#pragma unroll
      for (int i = 0; i < bands * group_tiles * 4; ++i) {
        int band = i / 4 / group_tiles, tile = i / 4 % group_tiles;
        float before = result[band][group * group_tiles + tile][i % 4];
        sums[band][tile][i % 4] =
            Product::promotes ? 0 : before * decay[band][i / 2 % 2];
      }
#pragma unroll
      for (int step = 0; step < key_steps; ++step) {
        uint32_t factors[group_tiles][parts][2];
        Product::template load_values<value_pitch>(values, lane, step, group,
                                                   factors);
#pragma unroll
        for (int i = 0; i < bands * group_tiles; ++i)
          Product::multiply(sums[i / group_tiles][i % group_tiles],
                            weights[step][i / group_tiles],
                            factors[i % group_tiles]);
      }
#pragma unroll
      for (int i = 0; i < bands * group_tiles * 4; ++i) {
        int band = i / 4 / group_tiles, tile = i / 4 % group_tiles;
        float &sum = result[band][group * group_tiles + tile][i % 4];
        float added = sums[band][tile][i % 4];
        sum = Product::promotes ? fmaf(sum, decay[band][i / 2 % 2], added)
                                : added;
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  /// The row of a split among the partial results.
  FACT_DEVICE int64_t get_place(int64_t split, int64_t row) {
    return split * all_rows + row;
  }
  FACT_DEVICE float *get_largest(Params const &params) {
    return params.partial + Schedule::splits * all_rows * Problem::value_size;
  }
  FACT_DEVICE float *get_sums(Params const &params) {
    return get_largest(params) + Schedule::splits * all_rows;
  }

  /// Stores the rows of a tile, or those of a split with what is needed to
  /// combine them.
  __device__ __forceinline__ void store(Params const &params, Rows const &rows,
                                        Result const &result) const {
#pragma unroll
    for (int i = 0; i < bands * 2; ++i) {
      int band = i / 2, half = i % 2;
      float sum = rows.sum[band][half];
      sum += __shfl_xor_sync(~0u, sum, 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      int row = get_row(band, half);
      if (row >= Problem::rows)
        continue;
      if constexpr (Schedule::splits == 1) {
        // A query that sees no key has a result of 0.
        float inverse = 1 / sum;
        store_row<O, Problem::value_size>(
            params.result + get_offset<O>(row), lane, [&](int tile, int j) {
              return sum == 0 ? 0 : result[band][tile][2 * half + j] * inverse;
            });
      } else {
        int64_t place =
            get_place(split, (int64_t(batch) * Problem::key_heads + key_head) *
                                     Problem::rows +
                                 row);
        using Partial = Heads<0, float, 0, 0, Problem::value_size, 1>;
        store_row<Partial, Problem::value_size>(
            params.partial + place * Problem::value_size, lane,
            [&](int tile, int j) { return result[band][tile][2 * half + j]; });
        if (lane % 4 == 0) {
          get_largest(params)[place] =
              __fmul_rn(rows.largest[band][half], later);
          get_sums(params)[place] = sum;
        }
      }
    }
  }

  /// Combines the splits of one element of the result.
  FACT_DEVICE void combine(Params const &params, int64_t element) {
    int64_t row = element / Problem::value_size;
    int column = element % Problem::value_size;
    if (row >= all_rows)
      return;
    float const *scores = get_largest(params), *sums = get_sums(params);
    float largest = -INFINITY, sum = 0, total = 0;
    for (int split = 0; split < Schedule::splits; ++split)
      largest = nan_maximum(largest, scores[get_place(split, row)]);
    float base = largest == -INFINITY ? 0 : largest;
    for (int split = 0; split < Schedule::splits; ++split) {
      int64_t place = get_place(split, row);
      float weight = fast_exp2(scores[place] - base);
      sum = fmaf(weight, sums[place], sum);
      total = fmaf(weight, params.partial[place * Problem::value_size + column],
                   total);
    }
    int query = row % Problem::queries;
    int64_t head = row / Problem::queries;
    params.result[head / Problem::heads * O::batch_stride +
                  head % Problem::heads * O::head_stride +
                  query * O::row_stride + column * O::column_stride] =
        narrow<Element>(sum == 0 ? 0 : total / sum);
  }

  __device__ __forceinline__ void run(Params const &params,
                                      char *shared) const {
    constexpr int stages = Schedule::stages;
    char *stage = shared + query_bytes;
    copy_queries(params, shared);
#pragma unroll
    for (int i = 0; i < stages - 1; ++i)
      copy_tile(params, stage + i * stage_bytes, first_tile + i);

    Rows rows;
    init(params, rows);
    Result result = {};
    QueryFactors queries;
    if constexpr (keeps_queries) {
      if constexpr (stages == 1)
        commit_copies();
      wait_for_copies<stages == 1 ? 0 : stages - 2>();
      __syncthreads();
      load_queries(shared_address(shared), 0, queries);
    }
    for (int tile = first_tile; tile < last_tile; ++tile) {
      char *current = stage + (tile - first_tile) % stages * stage_bytes;
      // All warps have left the stage that is filled next.
      if constexpr (stages > 1)
        wait_for_copies<stages - 2>();
      __syncthreads();
      int next = tile + stages - 1;
      copy_tile(params, stage + (next - first_tile) % stages * stage_bytes,
                next);
      if constexpr (stages == 1) {
        wait_for_copies<0>();
        __syncthreads();
      }
      Scores scores;
      multiply_keys(shared_address(shared), shared_address(current), queries,
                    scores);
      mask_scores(rows, tile, scores);
      float decay[bands][2];
      exponentiate(scores, rows, decay);
      multiply_values(current + key_bytes, scores, decay, result);
    }
    wait_for_copies<0>();
    store(params, rows, result);
  }
};

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80ATTENTIONBLOCK_CUH
