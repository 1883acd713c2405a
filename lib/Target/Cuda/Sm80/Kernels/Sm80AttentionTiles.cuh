//===- Sm80AttentionTiles.cuh - Attention's tensors, factors ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_CUTLASS_SM80ATTENTIONTILES_CUH
#define FACT_CUTLASS_SM80ATTENTIONTILES_CUH

#include "Instructions.cuh"
#include "Math.cuh"
#include "Vector.cuh"

#include <cfloat>

namespace fact {
namespace sm80 {

/// Exponentials are powers of two.
inline constexpr float log2_e = 1.4426950408889634f;

/// Unlike fmaxf, keeps NaN: a query with a NaN gives NaN.
FACT_DEVICE float nan_maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

//===----------------------------------------------------------------------===//
// The problem and its schedule
//===----------------------------------------------------------------------===//

/// `Heads` is a multiple of `KeyHeads`; neighboring query heads share a key
/// head.
template <int Batches, int Heads, int KeyHeads, int Queries, int Keys,
          int HeadSize, int ValueSize>
struct AttentionProblem {
  static constexpr int batches = Batches, heads = Heads, key_heads = KeyHeads,
                       queries = Queries, keys = Keys, head_size = HeadSize,
                       value_size = ValueSize;
  static constexpr int group = Heads / KeyHeads;
  /// The queries that read one head of keys, of one head after another.
  static constexpr int rows = group * Queries;
  static_assert(Heads % KeyHeads == 0,
                "the number of heads must be a multiple of the key heads");
};

/// Query t sees keys 0..t, as in PyTorch's is_causal.
struct Causal {
  static constexpr bool causal = true;
};
struct Full {
  static constexpr bool causal = false;
};

/// Whether factors of f32 may be rounded to TF32.
struct Strict {
  static constexpr bool allows_tf32 = false;
};
struct AllowTf32 {
  static constexpr bool allows_tf32 = true;
};

template <int QueryTile, int KeyTile, int Warps, int Stages, int Splits>
struct AttentionSchedule {
  static constexpr int query_tile = QueryTile, key_tile = KeyTile,
                       stages = Stages, splits = Splits;
  static constexpr int threads = 32 * Warps;
  /// Bands of 16 rows per warp. Two read keys and values once.
  static constexpr int bands = QueryTile / (16 * Warps);
  static_assert(QueryTile == bands * 16 * Warps && (bands == 1 || bands == 2),
                "a warp has 16 or 32 queries");
  static_assert(KeyTile % 16 == 0, "the key tile must be a multiple of 16");
};

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Q, K, V or O as [batch, head, row, column]. The strides of dimensions of one
/// element are 0, that of one column 1.
template <int Buffer, class Element, int64_t BatchStride, int64_t HeadStride,
          int64_t RowStride, int64_t ColumnStride, int64_t Offset = 0>
struct Heads : View<Buffer, Element, Offset> {
  static constexpr int64_t batch_stride = BatchStride, head_stride = HeadStride,
                           row_stride = RowStride, column_stride = ColumnStride;

  /// Whether `bytes` of a row can be accessed at once.
  static constexpr bool has_accesses_of(int bytes) {
    return ColumnStride == 1 && is_aligned<Element>(BatchStride, bytes) &&
           is_aligned<Element>(HeadStride, bytes) &&
           is_aligned<Element>(RowStride, bytes) &&
           is_aligned<Element>(Offset, bytes);
  }
  static constexpr int access_bytes = has_accesses_of(16)  ? 16
                                      : has_accesses_of(8) ? 8
                                      : has_accesses_of(4) ? 4
                                                           : sizeof(Element);
};

/// What is added to the scores, [batch, head, query, key]; strides of 0 repeat.
template <int Buffer, class Element, int64_t BatchStride, int64_t HeadStride,
          int64_t RowStride, int64_t KeyStride, int64_t Offset = 0>
struct Mask : View<Buffer, Element, Offset> {
  static constexpr bool is_present = true;
  static constexpr int64_t batch_stride = BatchStride, head_stride = HeadStride,
                           row_stride = RowStride;
  struct Pair {
    Element element[2];
  };

  /// Whether two neighboring keys are one word.
  template <int Keys>
  static constexpr bool has_pairs =
      KeyStride == 1 && RowStride % 2 == 0 && HeadStride % 2 == 0 &&
      BatchStride % 2 == 0 && Offset % 2 == 0 && Keys % 2 == 0;

  template <int Keys>
  static constexpr int alignment =
      (has_pairs<Keys> ? 2 : 1) * int(sizeof(Element));

  /// The masks of an even key and the next one; beyond the end, of the last.
  template <int Keys> FACT_DEVICE Pair load(Element const *row, int key) {
    if constexpr (has_pairs<Keys>) {
      using Word = typename AccessType<2 * sizeof(Element)>::type;
      Word word =
          __ldg(reinterpret_cast<Word const *>(row + min(key, Keys - 2)));
      Pair pair;
      memcpy(&pair, &word, sizeof(pair));
      return pair;
    } else {
      return {__ldg(row + min(key, Keys - 1) * KeyStride),
              __ldg(row + min(key + 1, Keys - 1) * KeyStride)};
    }
  }
};
struct NoMask {
  using Element = void;
  static constexpr bool is_present = false;
  static constexpr int buffer = -1;
};

/// Bytes from row to row in shared memory: whole steps of mma.sync, which are
/// 32 bytes, and 16 more, so that eight rows are in different banks.
template <class Element> constexpr int row_pitch(int columns) {
  return (columns * int(sizeof(Element)) + 31) / 32 * 32 + 16;
}

/// Copies rows to shared memory, `offset` elements from `source`. What lies
/// beyond `count` rows and `Columns` columns becomes 0.
template <class Tensor, int Rows, int Columns, int Threads, class Offset>
FACT_DEVICE void copy_rows(char *shared, typename Tensor::Element const *source,
                           int count, Offset offset) {
  using Element = typename Tensor::Element;
  constexpr int size = sizeof(Element), access = Tensor::access_bytes;
  constexpr int pitch = row_pitch<Element>(Columns);
  constexpr int accesses = (pitch - 16) / access;
  // Threads follow the dimension that is contiguous.
  constexpr bool down = Tensor::column_stride != 1 && Tensor::row_stride == 1;
#pragma unroll 8
  for (int first = 0; first < Rows * accesses; first += Threads) {
    int index = first + threadIdx.x;
    if (Rows * accesses % Threads && index >= Rows * accesses)
      break;
    int row = down ? index % Rows : index / accesses;
    int place = (down ? index / Rows : index % accesses) * access;
    int given = row < count ? min(Columns * size - place, access) : 0;
    Element const *from = source;
    if (given > 0)
      from += offset(row) + place / size * Tensor::column_stride;
    char *to = shared + row * pitch + place;
    if constexpr (access >= 4)
      copy_async<access>(shared_address(to), from, max(given, 0));
    else
      *reinterpret_cast<Element *>(to) = given > 0 ? *from : Element(0.0f);
  }
}

/// Stores what a lane has of a row: `get(tile, i)` is column 2 * (lane % 4) + i
/// of 8 columns.
template <class Tensor, int Columns, class Get>
FACT_DEVICE void store_row(typename Tensor::Element *row, int lane, Get get) {
  using Element = typename Tensor::Element;
  constexpr bool in_pairs =
      Columns % 2 == 0 && Tensor::has_accesses_of(2 * sizeof(Element));
#pragma unroll
  for (int tile = 0; tile < (Columns + 7) / 8; ++tile) {
    int column = tile * 8 + lane % 4 * 2;
    if constexpr (in_pairs) {
      float pair[2] = {get(tile, 0), get(tile, 1)};
      if (column < Columns)
        store_vector<2>(row + column, pair);
    } else {
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (column + i < Columns)
          row[(column + i) * Tensor::column_stride] =
              narrow<Element>(get(tile, i));
    }
  }
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// How elements become factors of mma.sync, whose fragments Instructions.cuh
/// describes. A factor of a strict product has two parts.
template <class Element, bool AllowsTf32> struct Factors {
  static constexpr int parts = 1;
  static constexpr bool promotes = false;
  /// Keys of one product of probabilities and values, and products side by side
  /// whose columns are 32 bytes.
  static constexpr int depth = 16, tiles_per_group = 2;

  template <int Count>
  FACT_DEVICE void split(uint32_t const (&words)[Count],
                         uint32_t (&factors)[1][Count]) {
#pragma unroll
    for (int i = 0; i < Count; ++i)
      factors[0][i] = words[i];
  }

  FACT_DEVICE void multiply(float (&sums)[4], uint32_t const (&a)[1][4],
                            uint32_t const (&b)[1][2]) {
    fact::multiply<Element>(sums, a[0], b[0][0], b[0][1]);
  }

  /// The probabilities of 16 keys: sums of one product are factors of the next.
  template <int Tiles>
  FACT_DEVICE void convert(float const (&p)[Tiles][4], int step,
                           uint32_t (&factors)[1][4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      factors[0][i] = narrow_pair<Element>(p[2 * step + i / 2][i % 2 * 2],
                                           p[2 * step + i / 2][i % 2 * 2 + 1]);
  }

  /// The values of 16 keys, 16 columns of them.
  template <int Pitch>
  FACT_DEVICE void load_values(char const *values, int lane, int step,
                               int group, uint32_t (&factors)[2][1][2]) {
    uint32_t start =
        shared_address(values) + lane % 16 * Pitch + lane / 16 * 16;
    uint32_t words[4];
    load_matrices_transposed(words, start + step * 16 * Pitch + group * 32);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      factors[i / 2][0][i % 2] = words[i];
  }
};

template <bool AllowsTf32> struct Factors<float, AllowsTf32> {
  static constexpr int parts = AllowsTf32 ? 1 : 2;
  /// mma.sync truncates its sums, so those of strict products are short and are
  /// added to registers.
  static constexpr bool promotes = !AllowsTf32;
  static constexpr int depth = 8, tiles_per_group = 1;

  template <int Count>
  FACT_DEVICE void split(uint32_t const (&words)[Count],
                         uint32_t (&factors)[parts][Count]) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      float x = __uint_as_float(words[i]);
      if constexpr (AllowsTf32) {
        factors[0][i] = round_to_tf32(x);
      } else {
        factors[0][i] = words[i] & ~0x1fffu;
        factors[1][i] = __float_as_uint(small_part(x));
      }
    }
  }

  FACT_DEVICE void multiply(float (&sums)[4], uint32_t const (&a)[parts][4],
                            uint32_t const (&b)[parts][2]) {
    if constexpr (!AllowsTf32) {
      fact::multiply<Tf32>(sums, a[1], b[0][0], b[0][1]);
      fact::multiply<Tf32>(sums, a[0], b[1][0], b[1][1]);
    }
    fact::multiply<Tf32>(sums, a[0], b[0][0], b[0][1]);
  }

  /// The probabilities of 8 keys. A lane has those of keys 2 t and 2 t + 1
  /// (t = lane % 4), where factors are of keys t and t + 4. The keys of a
  /// product may come in any order, so `load_values` takes them in this one.
  template <int Tiles>
  FACT_DEVICE void convert(float const (&p)[Tiles][4], int step,
                           uint32_t (&factors)[parts][4]) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i] = __float_as_uint(p[step][i % 2 * 2 + i / 2]);
    split(words, factors);
  }

  /// The values of 8 keys, 8 columns of them.
  template <int Pitch>
  FACT_DEVICE void load_values(char const *values, int lane, int step,
                               int group, uint32_t (&factors)[1][parts][2]) {
    char const *start = values + lane % 4 * 2 * Pitch + lane / 4 * 4;
    char const *place = start + step * 8 * Pitch + group * 32;
    uint32_t words[2] = {*reinterpret_cast<uint32_t const *>(place),
                         *reinterpret_cast<uint32_t const *>(place + Pitch)};
    split(words, factors[0]);
  }
};

/// The largest divisor up to 4: steps along the head whose products are summed
/// up before they are added.
constexpr int chunk_of(int steps) {
  return steps % 4 == 0 ? 4 : steps % 3 == 0 ? 3 : steps % 2 == 0 ? 2 : 1;
}

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80ATTENTIONTILES_CUH
