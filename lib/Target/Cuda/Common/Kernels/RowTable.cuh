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
// or coordinates of points, read in vectors of all three: the last number is
// that of the buffer's elements.
//
//   // y[n, m, 3] of the rows [n, t] and the columns [m]
//   RowTable<1, bf16, Extents<8, 2048>, Strides<4608, 0>,
//                     Extents<1536>, Strides<3>, 1, 36864>
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_ROWTABLE_CUH
#define FACT_CUTLASS_ROWTABLE_CUH

#include "Pointwise.cuh"
#include "Row.cuh"

namespace fact {

template <int Buffer, class Element, class RowExtents, class RowStrides,
          class ColumnExtents, class ColumnStrides, int64_t Offset = 0,
          int64_t Elements = 0>
struct RowTable : View<Buffer, Element, Offset> {};

namespace row {

template <int B, class E, class RowExtents, class RowStrides,
          class ColumnExtents, class ColumnStrides, int64_t O, int64_t Elements>
struct Access<RowTable<B, E, RowExtents, RowStrides, ColumnExtents,
                       ColumnStrides, O, Elements>> {
  static constexpr int last = ColumnExtents::rank - 1;
  static constexpr int64_t inner = ColumnExtents::sizes[last];
  static constexpr int64_t stride = ColumnStrides::values[last];

  /// Any vector: one that is not contiguous is read element by element.
  template <int Count> static constexpr bool can_use_vector() { return true; }

  /// Whether vectors of `Count` columns begin at multiples of `unit` elements,
  /// `from` elements before the first.
  template <int Count>
  static constexpr bool begins_at_multiples(int64_t unit, int64_t from) {
    bool aligned = inner % Count == 0 && (O - from) % unit == 0 &&
                   Count * stride % unit == 0;
    for (int i = 0; i < RowStrides::rank; ++i)
      aligned &= RowStrides::values[i] % unit == 0;
    for (int i = 0; i < last; ++i)
      aligned &= ColumnStrides::values[i] % unit == 0;
    return aligned;
  }
  template <int Count> static constexpr bool moves_in_vectors() {
    return stride == 1 && begins_at_multiples<Count>(Count, 0);
  }

  /// Whether vectors are read with all elements between theirs, in accesses of
  /// 16 bytes, each of which has one of theirs: so none is outside of the
  /// buffer. Tables of the other elements read the same, which the compiler
  /// then reads once.
  static constexpr int unit = 16 / sizeof(E);
  static constexpr int phase = stride > 1 ? O % stride : 0;
  template <int Count> static constexpr bool reads_between() {
    return Count > 1 && stride > 1 && stride <= 4 && stride <= unit &&
           Elements > 0 && Elements % unit == 0 && O >= 0 &&
           begins_at_multiples<Count>(unit, phase);
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
    } else if constexpr (reads_between<Count>()) {
      constexpr int spread = int(Count * stride);
      E elements[spread];
      load_elements<spread>(
          source + (Columns::offset_of(unsigned(column)) - phase), elements);
#pragma unroll
      for (int i = 0; i < Count; ++i)
        values[i] = widen(elements[i * stride + phase]);
    } else if constexpr (inner % Count == 0 && stride == 0) {
      load_vector<1>(source + Columns::offset_of(unsigned(column)), values);
#pragma unroll
      for (int i = 1; i < Count; ++i)
        values[i] = values[0];
    } else {
#pragma unroll
      for (int i = 0; i < Count; ++i)
        load_vector<1>(source + Columns::offset_of(unsigned(column + i)),
                       values + i);
    }
  }
};

} // namespace row

} // namespace fact

#endif // FACT_CUTLASS_ROWTABLE_CUH
