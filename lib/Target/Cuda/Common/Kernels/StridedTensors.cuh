//===- StridedTensors.cuh - Tensors in an index space ----------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels over an index space read and store: tensors with a stride for
// each dimension, moved by indices, guarded by bounds.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_STRIDEDTENSORS_CUH
#define FACT_CUTLASS_STRIDEDTENSORS_CUH

#include "Kernel.cuh"

#include <cmath>

namespace fact {

/// Sizes of the index space, innermost last.
template <int64_t... Sizes> struct Extents {
  static constexpr int rank = sizeof...(Sizes);
  static constexpr int64_t sizes[] = {Sizes...};
  static constexpr int64_t total = (Sizes * ...);
  static_assert(rank >= 1 && rank <= 8, "collapse the index space to rank 8");
};

template <int64_t... Values> struct Strides {
  static constexpr int rank = sizeof...(Values);
  static constexpr int64_t values[] = {Values...};
};

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
  template <int Dimension> FACT_DEVICE unsigned coordinate_of(unsigned index) {
    constexpr int64_t size = Extents<Sizes...>::sizes[Dimension];
    return index / inner<Dimension> % unsigned(size);
  }
};

/// A tensor with a stride for each dimension of the index space.
template <int Buffer, class Element, class Strides_, int64_t Offset = 0>
struct Strided : View<Buffer, Element, Offset> {
  using Strides = Strides_;
  static constexpr int64_t inner_stride = Strides::values[Strides::rank - 1];

  /// True if vectors of `Count` are contiguous and aligned.
  template <int Count> static constexpr bool moves_in_vectors() {
    bool aligned = inner_stride == 1 && Offset % Count == 0;
    for (int i = 0; i < Strides::rank - 1; ++i)
      aligned &= Strides::values[i] % Count == 0;
    return aligned;
  }
};

/// A tensor whose innermost stride is a few elements, such as one half of
/// interleaved pairs: a vector is picked from all elements that it spans, which
/// move in accesses of `Width`. Tensors that are picked from the same elements
/// share these accesses. All spanned elements must be inside of the buffer.
template <class Tensor, int Width> struct Picked;
template <int Buffer, class Element, class Strides_, int64_t Offset, int Width>
struct Picked<Strided<Buffer, Element, Strides_, Offset>, Width>
    : Strided<Buffer, Element, Strides_, Offset> {
  static constexpr int step =
      int(Strided<Buffer, Element, Strides_, Offset>::inner_stride);
  static constexpr int width = Width, place = int(Offset % step);
  /// The tensor of the first elements of each step: the same for all that share
  /// their accesses, so that the compiler sees one load.
  using First = Strided<Buffer, Element, Strides_, Offset - place>;
  static_assert(step > 1 && Width > 1, "use a plain tensor");
};

template <class Tensor> inline constexpr bool is_picked_v = false;
template <class Tensor, int Width>
inline constexpr bool is_picked_v<Picked<Tensor, Width>> = true;

/// An index that moves a read by `Stride` elements for each 1: a functor of all
/// operands. `Shared` if neighbors along the innermost dimension have the same,
/// `Chained` if it depends on operands that are gathered themselves.
template <class Functor_, int64_t Stride, int64_t Size, bool Shared,
          bool Chained = false>
struct IndexOf {
  using Functor = Functor_;
  static constexpr int64_t stride = Stride, size = Size;
  static constexpr bool is_shared = Shared, is_chained = Chained;
};

/// Points where `Lower <= coordinate < Upper`.
template <class Strides_, int64_t Offset, int64_t Lower, int64_t Upper>
struct Bound {
  using Strides = Strides_;
  static constexpr int64_t offset = Offset, lower = Lower, upper = Upper;
  static constexpr int64_t inner_stride = Strides::values[Strides::rank - 1];

  /// True if a vector of `Count` is inside or outside as a whole.
  template <int Count> static constexpr bool is_shared() {
    bool shared = inner_stride == 0;
    if (inner_stride == 1) {
      shared = Offset % Count == 0 && Lower % Count == 0 && Upper % Count == 0;
      for (int i = 0; i < Strides::rank - 1; ++i)
        shared &= Strides::values[i] % Count == 0;
    }
    return shared;
  }
};

/// Moves a read by `Distance` elements where the coordinate is less than
/// `Before`.
template <class Strides_, int64_t Before, int64_t Distance> struct Shift {
  using Strides = Strides_;
  static constexpr int64_t offset = 0, before = Before, distance = Distance;
  static constexpr int64_t inner_stride = Strides::values[Strides::rank - 1];

  /// True if a vector of `Count` moves as a whole, and stays aligned.
  template <int Count> static constexpr bool keeps_vectors() {
    return Distance % Count == 0 &&
           Bound<Strides, 0, 0, Before>::template is_shared<Count>();
  }
};

template <class...> struct Pack {};

/// How tensors are read: by which indices, within which bounds, shifted where.
template <class Tensor> struct Reads {
  using Indices = Pack<>;
  using Bounds = Pack<>;
  using Shifts = Pack<>;
};

/// A tensor that indices choose elements of. An index outside of the source
/// gives NaN, and 0 where there is none.
template <class Tensor, class... List> struct Gathered : Tensor {
  template <int Count> static constexpr bool moves_in_vectors() {
    return Tensor::template moves_in_vectors<Count>() &&
           ((List::is_shared && List::stride % Count == 0) && ...);
  }
};
template <class Tensor, class... List> struct Reads<Gathered<Tensor, List...>> {
  using Indices = Pack<List...>;
  using Bounds = Pack<>;
  using Shifts = Pack<>;
};

/// A tensor whose elements lie elsewhere for some of the points, as in one that
/// is rolled: its end is read where the coordinate is low.
template <class Tensor, class... List> struct Shifted : Tensor {
  template <int Count> static constexpr bool moves_in_vectors() {
    return Tensor::template moves_in_vectors<Count>() &&
           (List::template keeps_vectors<Count>() && ...);
  }
};
template <class Tensor, class... List> struct Reads<Shifted<Tensor, List...>> {
  using Indices = typename Reads<Tensor>::Indices;
  using Bounds = Pack<>;
  using Shifts = Pack<List...>;
};

/// An operand that is zero outside of any of its bounds, or a result that is
/// not stored there.
template <class Tensor, class... List> struct Guarded : Tensor {
  template <int Count> static constexpr bool moves_in_vectors() {
    return Tensor::template moves_in_vectors<Count>() &&
           (List::template is_shared<Count>() && ...);
  }
};
template <class Tensor, class... List> struct Reads<Guarded<Tensor, List...>> {
  using Indices = typename Reads<Tensor>::Indices;
  using Bounds = Pack<List...>;
  using Shifts = typename Reads<Tensor>::Shifts;
};

/// A position in the index space, as an operand.
template <class Strides_, int64_t Offset> struct Coordinate {
  using Element = i32;
  using Strides = Strides_;
  static constexpr int buffer = -1;
  static constexpr int64_t offset = Offset;
  static constexpr int64_t inner_stride = Strides::values[Strides::rank - 1];
};

template <class Bound> FACT_DEVICE bool contains(int32_t coordinate) {
  return uint32_t(coordinate - int32_t(Bound::lower)) <
         uint32_t(Bound::upper - Bound::lower);
}

template <class Tensor>
inline constexpr bool is_indexed_v =
    !std::is_same_v<typename Reads<Tensor>::Indices, Pack<>>;
template <class Tensor>
inline constexpr bool is_guarded_v =
    !std::is_same_v<typename Reads<Tensor>::Bounds, Pack<>>;

template <class Tensor>
inline constexpr bool is_shifted_v =
    !std::is_same_v<typename Reads<Tensor>::Shifts, Pack<>>;

/// What an index outside of a source gives.
template <class Value> FACT_DEVICE Value missing_value() {
  if constexpr (std::is_floating_point_v<Value>)
    return static_cast<Value>(NAN);
  else
    return Value(0);
}

} // namespace fact

#endif // FACT_CUTLASS_STRIDEDTENSORS_CUH
