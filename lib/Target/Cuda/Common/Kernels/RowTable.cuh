//===- RowTable.cuh - Rows at several strides, shared tables ---*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand of Row.cuh with strides for parts of a row's number and of a
// column's, such as weights of channels in a group norm:
//
//   // weight[c] of images [n, c, h * w] in groups of 8 channels:
//   // rows are [n, group], columns [channel, h * w]
//   RowTable<1, bf16, Extents<64, 32>, Strides<0, 8>,
//                     Extents<8, 3136>, Strides<1, 0>>
//
// or rows that lie at several strides, such as those of permuted heads:
//
//   // x[n, t, head, d] as rows [n, head, t]
//   RowTable<0, bf16, Extents<8, 32, 4096>, Strides<16777216, 128, 4096>,
//                     Extents<128>, Strides<1>>
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_ROWTABLE_CUH
#define FACT_CUTLASS_ROWTABLE_CUH

#include "Pointwise.cuh"
#include "Row.cuh"

namespace fact {

template <int Buffer, class Element, class RowExtents, class RowStrides,
          class ColumnExtents, class ColumnStrides, int64_t Offset = 0>
struct RowTable : View<Buffer, Element, Offset> {};

namespace row {

/// Where an index of an index space lies.
template <class Extents_, class Strides_,
          class Numbers = std::make_index_sequence<Extents_::rank>>
struct Grid;
template <int64_t... Sizes, int64_t... Values, size_t... I>
struct Grid<Extents<Sizes...>, Strides<Values...>, std::index_sequence<I...>> {
  /// Elements of the dimensions after one.
  static constexpr unsigned after(int dimension) {
    int64_t count = 1;
    ((count *= int(I) > dimension ? Sizes : 1), ...);
    return unsigned(count);
  }
  template <size_t Dimension>
  static constexpr unsigned inner = after(int(Dimension));

  FACT_DEVICE int64_t offset_of(unsigned index) {
    return ((int64_t(index / inner<I> % unsigned(Sizes)) * Values) + ...);
  }
};

template <int B, class E, class RowExtents, class RowStrides,
          class ColumnExtents, class ColumnStrides, int64_t O>
struct Access<
    RowTable<B, E, RowExtents, RowStrides, ColumnExtents, ColumnStrides, O>> {
  static constexpr int last = ColumnExtents::rank - 1;
  static constexpr int64_t inner = ColumnExtents::sizes[last];
  static constexpr int64_t stride = ColumnStrides::values[last];

  /// Any vector: one that is not contiguous is read element by element.
  template <int Count> static constexpr bool can_use_vector() { return true; }
  template <int Count> static constexpr bool moves_in_vectors() {
    bool aligned = inner % Count == 0 && stride == 1 && O % Count == 0;
    for (int i = 0; i < RowStrides::rank; ++i)
      aligned &= RowStrides::values[i] % Count == 0;
    for (int i = 0; i < last; ++i)
      aligned &= ColumnStrides::values[i] % Count == 0;
    return aligned;
  }

  template <int Count>
  FACT_DEVICE void load(void *const *buffers, int64_t row, int column,
                        float *values) {
    using Rows = Grid<RowExtents, RowStrides>;
    using Columns = Grid<ColumnExtents, ColumnStrides>;
    E const *source = static_cast<E const *>(buffers[B]) +
                      (O + Rows::offset_of(unsigned(row)));
    if constexpr (moves_in_vectors<Count>()) {
      load_vector<Count>(source + Columns::offset_of(unsigned(column)), values);
    } else if constexpr (inner % Count == 0 && stride == 0) {
      float const value = widen(source[Columns::offset_of(unsigned(column))]);
#pragma unroll
      for (int i = 0; i < Count; ++i)
        values[i] = value;
    } else {
#pragma unroll
      for (int i = 0; i < Count; ++i)
        values[i] = widen(source[Columns::offset_of(unsigned(column + i))]);
    }
  }
};

} // namespace row

} // namespace fact

#endif // FACT_CUTLASS_ROWTABLE_CUH
