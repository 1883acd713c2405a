//===- SortKeys.cuh - Elements and places as integers ----------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element and its place are one integer, so no two are equal and every sort
// is stable: the high bits order elements as the comparison does, with NaN
// above all else, and the low bits are the place. Elements of up to 16 bits in
// rows of less than 2^16 take 32 bits, other elements of up to 32 bits take 64.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SORTKEYS_CUH
#define FACT_CUTLASS_SORTKEYS_CUH

#include "Scan.cuh"

namespace fact {

/// Keys of the elements of rows of `Length`.
template <class Element, int64_t Length, bool Descending> struct SortKeys {
  static_assert(Length < (int64_t(1) << 32), "places have 32 bits");
  static constexpr int order_bits = 8 * int(sizeof(Element));
  using Order = std::conditional_t<sizeof(Element) == 8, uint64_t, uint32_t>;
  /// No place has only ones, so that no key is `last`.
  static constexpr int place_bits =
      order_bits <= 16 && Length < (1 << 16) ? 16 : 32;
  static constexpr int bits = order_bits + place_bits;
  using Key = std::conditional_t<
      bits <= 32, uint32_t,
      std::conditional_t<bits <= 64, uint64_t, unsigned __int128>>;
  /// After all elements.
  static constexpr Key last = ~Key(0);

  /// An unsigned integer that is smaller if and only if the element comes
  /// before. Both zeros are equal.
  FACT_DEVICE Order get_order(Element element) {
    constexpr Order sign = Order(1) << (order_bits - 1);
    constexpr Order ones = sign | (sign - 1);
    using Value = Compute<Element>;
    Order order;
    if constexpr (std::is_floating_point_v<Value>) {
      Value const value = widen(element);
      std::conditional_t<
          sizeof(Element) == 2, uint16_t,
          std::conditional_t<sizeof(Element) == 4, uint32_t, uint64_t>>
          raw;
      memcpy(&raw, &element, sizeof(raw));
      order = value == Value(0) ? Order(0) : Order(raw);
      order = order & sign ? ~order & ones : order | sign;
      if (value != value)
        order = ones;
    } else if constexpr (sizeof(Element) == 8) {
      order = Order(element) ^ sign;
    } else {
      order = (Order(int32_t(element)) & ones) ^ sign;
    }
    return Descending ? ~order & ones : order;
  }

  FACT_DEVICE Key make(Order order, int64_t place) {
    return Key(order) << place_bits | Key(uint32_t(place));
  }

  FACT_DEVICE int64_t get_place(Key key) {
    return int64_t(uint32_t(key) & uint32_t((uint64_t(1) << place_bits) - 1));
  }
};

} // namespace fact

#endif // FACT_CUTLASS_SORTKEYS_CUH
