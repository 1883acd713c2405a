//===- KeptTensors.cuh - Operands in shared memory -------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread of StagedReduction.cuh that reads its elements in several passes may
// keep them in shared memory after the first. Each thread has places of its
// own, so that none waits for others.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_KEPTTENSORS_CUH
#define FACT_CUTLASS_KEPTTENSORS_CUH

#include "ReductionStages.cuh"

namespace fact::reduction {

/// The elements of a block's threads: [steps, threads, vector] of each tensor
/// that is kept.
template <class Shape, bool Shared, int64_t Steps, int Threads, int Vector,
          class... Tensors>
class KeptTensors {
  using Numbers = std::index_sequence_for<Tensors...>;

  /// Tensors that columns share are in the cache.
  template <class Tensor> static constexpr bool is_kept() {
    using All = StridesOf<typename Tensor::Strides>;
    if constexpr (!Shared || is_indexed_v<Tensor>)
      return false;
    else if constexpr (Shape::is_apart)
      return All::span(Shape::outer, Shape::repeats, Shape::middle,
                       Shape::length, Shape::inner);
    else
      return All::span(Shape::outer, Shape::length, Shape::inner);
  }

  /// Bytes of the tensors before `Number`.
  template <size_t Number, size_t... I>
  static constexpr int find(std::index_sequence<I...>) {
    int bytes = 0;
    ((bytes += I < Number && is_kept<Tensors>()
                   ? int((Steps * Threads * Vector *
                              int64_t(sizeof(typename Tensors::Element)) +
                          15) /
                         16 * 16)
                   : 0),
     ...);
    return bytes;
  }

  template <bool Stores, size_t Number, class Tensor, class Loaded>
  FACT_DEVICE void move_one(char *memory, int64_t step, Loaded &loaded) {
    using Element = typename Tensor::Element;
    if constexpr (is_kept<Tensor>()) {
      auto *kept =
          reinterpret_cast<Element *>(memory + find<Number>(Numbers{})) +
          (step * Threads + threadIdx.x) * Vector;
      using Access = VectorAccess<Element, Vector>;
      constexpr int accesses = sizeof(Element) * Vector / sizeof(Access);
      Access words[accesses];
      if constexpr (Stores)
        memcpy(words, get<Number>(loaded), sizeof(words));
#pragma unroll
      for (int i = 0; i < accesses; ++i)
        if constexpr (Stores)
          reinterpret_cast<Access *>(kept)[i] = words[i];
        else
          words[i] = reinterpret_cast<Access const *>(kept)[i];
      if constexpr (!Stores)
        memcpy(get<Number>(loaded), words, sizeof(words));
    }
  }

  template <bool Stores, class Loaded, size_t... I>
  FACT_DEVICE void move_all(char *memory, int64_t step, Loaded &loaded,
                            std::index_sequence<I...>) {
    (move_one<Stores, I, Tensors>(memory, step, loaded), ...);
  }

public:
  static constexpr int bytes = find<sizeof...(Tensors)>(Numbers{});

  /// Moves what a thread loaded in a step to its places, or back.
  template <bool Stores, class Loaded>
  FACT_DEVICE void move(char *memory, int64_t step, Loaded &loaded) {
    move_all<Stores>(memory, step, loaded, Numbers{});
  }
};

} // namespace fact::reduction

#endif // FACT_CUTLASS_KEPTTENSORS_CUH
