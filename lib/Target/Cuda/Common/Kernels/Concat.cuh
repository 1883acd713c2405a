//===- Concat.cuh - Several passes that fill one tensor --------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each part is a pointwise kernel, or a tiled one where it transposes, that
// writes its part of the result:
//
//   // y = concat(q, k) along rows
//   #include "fact/cutlass/Concat.cuh"
//
//   namespace fact::concat_0 {
//
//   using Part0 = Pointwise<
//       Extents<4194304>,
//       Operands<Strided<0, bf16, Strides<1>>>,
//       Results<Result<Identity, Strided<2, bf16, Strides<1>>>>,
//       PointwiseSchedule<256, 8, 2>>;
//
//   using Part1 = Pointwise<
//       Extents<1048576>,
//       Operands<Strided<1, bf16, Strides<1>>>,
//       Results<Result<Identity, Strided<2, bf16, Strides<1>, 4194304>>>,
//       PointwiseSchedule<256, 8, 2>>;
//
//   using Kernel = Concat<Part0, Part1>;
//
//   FACT_KERNEL(concat_0, Kernel)
//
//   } // namespace fact::concat_0
//
// Parts are launched one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_CONCAT_CUH
#define FACT_CUTLASS_CONCAT_CUH

#include "TiledPointwise.cuh"
#include <tuple>

namespace fact {

template <class... Parts> class Concat {
public:
  static constexpr int buffer_count = [] {
    int count = 0;
    ((count = Parts::buffer_count > count ? Parts::buffer_count : count), ...);
    return count;
  }();
  static constexpr uint64_t workspace_bytes = 0;

  using State = std::tuple<typename Parts::State...>;

  static int bind(State &state, void *const *buffers, void *workspace) {
    return apply(state, [&](auto part, auto &state) {
      return decltype(part)::type::bind(state, buffers, workspace);
    });
  }

  static int launch(State &state, cudaStream_t stream) {
    return apply(state, [&](auto part, auto &state) {
      return decltype(part)::type::launch(state, stream);
    });
  }

private:
  template <class Part> struct Name {
    using type = Part;
  };

  /// Calls `function` for each part until one fails.
  template <class Function> static int apply(State &state, Function function) {
    return apply(state, function, std::index_sequence_for<Parts...>{});
  }
  template <class Function, size_t... I>
  static int apply(State &state, Function function, std::index_sequence<I...>) {
    int error = cudaSuccess;
    ((error = error ? error : function(Name<Parts>{}, std::get<I>(state))),
     ...);
    return error;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_CONCAT_CUH
