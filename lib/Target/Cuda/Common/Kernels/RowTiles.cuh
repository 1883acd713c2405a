//===- RowTiles.cuh - Rows of a block in shared memory ---------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short rows that lie together, but whose size 16 bytes do not divide, move
// between memory and a block as one run of 16-byte accesses. The threads of a
// row find its elements in shared memory, and leave results there.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_ROWTILES_CUH
#define FACT_CUTLASS_ROWTILES_CUH

#include "RowOperations.cuh"

namespace fact::row {

/// `Rows` rows of each matrix among `Tensors`, by the tensor's number.
template <class Extent, int Rows, int Threads, class... Tensors> class Tiles {
  using Numbers = std::index_sequence_for<Tensors...>;
  static constexpr int elements = Rows * Extent::columns;

  /// Bytes of the tensors before `Number`.
  template <size_t Number, size_t... I>
  static constexpr int find(std::index_sequence<I...>) {
    int bytes = 0;
    ((bytes += I < Number && is_row_major<Tensors>::value
                   ? elements * int(sizeof(typename Tensors::Element))
                   : 0),
     ...);
    return bytes;
  }

public:
  static constexpr int bytes = find<sizeof...(Tensors)>(Numbers{});

  /// An element of the block's row `threadIdx.y`.
  template <size_t Number, class Tensor>
  FACT_DEVICE typename Tensor::Element *address(char *memory, int column) {
    using Element = typename Tensor::Element;
    return reinterpret_cast<Element *>(memory + find<Number>(Numbers{})) +
           (int(threadIdx.y) * Extent::columns + column);
  }

  /// Moves the block's rows of a matrix here, or back.
  template <bool Stores, size_t Number, class Tensor>
  FACT_DEVICE void copy(char *memory, void *const *buffers) {
    if constexpr (is_row_major<Tensor>::value) {
      using Element = typename Tensor::Element;
      constexpr int vector = 16 / sizeof(Element);
      static_assert(Tensor::leading_dimension == Extent::columns &&
                        Tensor::offset % vector == 0 && Rows % vector == 0,
                    "the rows of a block are whole vectors that lie together");
      int64_t const first = int64_t(blockIdx.x) * elements;
      int64_t const left = Extent::rows * Extent::columns - first;
      Element *outside = static_cast<Element *>(buffers[Tensor::buffer]) +
                         (Tensor::offset + first);
      auto *inside =
          reinterpret_cast<Element *>(memory + find<Number>(Numbers{}));
      int const thread = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll 4
      for (int i = thread * vector; i < elements; i += Threads * vector) {
        if (Extent::rows % Rows == 0 || i + vector <= left)
          copy_vector<Stores, Tensor>(outside + i, inside + i);
        else
          for (int j = i; j < left; ++j)
            (Stores ? outside[j] : inside[j]) = Stores ? inside[j] : outside[j];
      }
    }
  }

private:
  template <bool Stores, class Tensor, class Element>
  FACT_DEVICE void copy_vector(Element *outside, Element *inside) {
    constexpr int vector = 16 / sizeof(Element);
    if constexpr (Stores) {
      store_access(reinterpret_cast<uint4 *>(outside),
                   *reinterpret_cast<uint4 const *>(inside));
    } else {
      Element loaded[vector];
      load_elements<vector, Tensor::is_streamed>(outside, loaded);
      uint4 word;
      memcpy(&word, loaded, sizeof(word));
      *reinterpret_cast<uint4 *>(inside) = word;
    }
  }
};

} // namespace fact::row

#endif // FACT_CUTLASS_ROWTILES_CUH
