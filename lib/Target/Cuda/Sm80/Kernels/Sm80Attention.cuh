//===- Sm80Attention.cuh - Fused attention by mma.sync ---------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// O = softmax(scale * Q K^T [+ mask]) V for each batch and head, on compute
// capability 8.0 and later: any head size up to 256, any strides, f16, bf16 and
// f32. One block has a tile of queries; it visits tiles of keys, which cp.async
// copies to shared memory, and keeps the largest score, the sum of exponentials
// and the result of each query in registers (FlashAttention-2).
//
//   // T5: 8 heads of 64, a bias of each head, f32 without TF32
//   #include "fact/cutlass/Sm80Attention.cuh"
//
//   namespace fact::attention_0 {
//
//   struct Scale { static constexpr float value = 1.0f; };
//
//   using Kernel = sm80::Attention<
//       sm80::AttentionProblem<4, 8, 8, 512, 512, 64, 64>,
//       sm80::Heads<0, f32, 512 * 512, 64, 512, 1>,
//       sm80::Heads<1, f32, 512 * 512, 64, 512, 1>,
//       sm80::Heads<2, f32, 512 * 512, 64, 512, 1>,
//       sm80::Heads<4, f32, 512 * 512, 64, 512, 1>,
//       sm80::Full, sm80::Strict, Scale,
//       sm80::AttentionSchedule<64, 64, 4, 2, 1>,
//       sm80::Mask<3, f32, 0, 512 * 512, 512, 1>>;
//
//   FACT_KERNEL(attention_0, Kernel)
//
//   } // namespace fact::attention_0
//
// Query heads that share a head of keys are rows of one matrix, one head after
// another, so a single query per head still fills a tile. Where there are few
// rows and many keys, several blocks split the keys, and a second kernel
// combines their results, always in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_SM80ATTENTION_CUH
#define FACT_CUTLASS_SM80ATTENTION_CUH

#include "Sm80AttentionBlock.cuh"

namespace fact {
namespace sm80 {

template <class Block>
__global__ void __launch_bounds__(Block::threads, 1)
    attend(typename Block::Params params) {
  extern __shared__ __align__(16) char shared[];
  Block().run(params, shared);
}

inline constexpr int combine_threads = 128;

/// Combines the splits of all rows, one thread per column.
template <class Block>
__global__ void __launch_bounds__(combine_threads)
    combine(typename Block::Params params) {
  Block::combine(params, int64_t(blockIdx.x) * combine_threads + threadIdx.x);
}

template <class Block>
int launch_combine(typename Block::Params &params, cudaStream_t stream) {
  constexpr int64_t elements = Block::result_elements;
  return launch_kernel(&combine<Block>,
                       dim3((elements + combine_threads - 1) / combine_threads),
                       dim3(1), dim3(combine_threads), 0, params, stream);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

template <class Problem, class Q, class K, class V, class O, class MaskKind,
          class Precision, class Scale, class Schedule, class Added = NoMask>
class Attention {
  using Block = AttentionBlock<Problem, Q, K, V, O, MaskKind, Precision, Scale,
                               Schedule, Added>;
  static_assert(std::is_same_v<typename Q::Element, typename K::Element> &&
                    std::is_same_v<typename Q::Element, typename V::Element> &&
                    std::is_same_v<typename Q::Element, typename O::Element>,
                "Q, K, V and the result must have the same element type");

public:
  static constexpr int buffer_count = count_buffers<Q, K, V, O, Added>();
  static constexpr uint64_t workspace_bytes =
      Schedule::splits == 1 ? 0 : Block::partial_elements * sizeof(float);

  struct State {
    typename Block::Params params;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    if (int error = Block::bind(state.params, buffers))
      return error;
    state.params.partial = static_cast<float *>(workspace);
    return allow_shared_memory(attend<Block>, Block::shared_bytes);
  }

  static int launch(State &state, cudaStream_t stream) {
    int error = launch_kernel(&attend<Block>, dim3(Block::blocks), dim3(1),
                              dim3(Block::threads), Block::shared_bytes,
                              state.params, stream);
    if constexpr (Schedule::splits > 1)
      if (!error)
        error = launch_combine<Block>(state.params, stream);
    return error;
  }
};

} // namespace sm80
} // namespace fact

#endif // FACT_CUTLASS_SM80ATTENTION_CUH
