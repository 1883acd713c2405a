//===- Float32Gemm.cuh - GEMM of f32 operands on Hopper --------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `Gemm` of f32 operands, of any layout and alignment: in TF32, or strict where
// the schedule's kernel is `Promoted`.
//
//   // relu(x @ W^T + bias), as exact as IEEE f32
//   using Kernel = Float32Gemm<
//       Problem<4096, 3072, 768>,
//       RowMajor<0, f32, 768>, ColumnMajor<1, f32, 768>,
//       Operands<RowVector<2, f32>>,
//       Results<Result<Epilogue, RowMajor<3, f32, 3072>>>,
//       GemmSchedule<Tile<128, 128, 32>, Cluster<2, 1>,
//                    Promoted<Cooperative>>>;
//
// Where wgmma does not read an operand as it lies (Float32.cuh), a copy is
// made: of B by `pack`, once for a weight; of A, and of a B that is read
// elsewhere too, in workspace before each launch.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_FLOAT32GEMM_CUH
#define FACT_CUTLASS_FLOAT32GEMM_CUH

#include "Float32.cuh"

namespace fact {

namespace sm90 {

/// The buffers that lists of tensors name.
template <class List> struct BuffersOf;
template <class... Tensors> struct BuffersOf<Operands<Tensors...>> {
  static constexpr int count = count_buffers<Tensors...>();
  static constexpr bool has(int buffer) {
    return ((Tensors::buffer == buffer) || ...);
  }
};
template <class... List>
struct BuffersOf<Results<List...>>
    : BuffersOf<Operands<typename List::Tensor...>> {};
template <class First, class Second> struct BuffersOfBoth {
  static constexpr int count =
      BuffersOf<First>::count > BuffersOf<Second>::count
          ? BuffersOf<First>::count
          : BuffersOf<Second>::count;
  static constexpr bool has(int buffer) {
    return BuffersOf<First>::has(buffer) || BuffersOf<Second>::has(buffer);
  }
};
template <class Reductions, class OperandList, class ResultList>
struct BuffersOf<RowEpilogue<Reductions, OperandList, ResultList>>
    : BuffersOfBoth<OperandList, ResultList> {};
template <class Reductions, class OperandList, class ResultList>
struct BuffersOf<ColumnEpilogue<Reductions, OperandList, ResultList>>
    : BuffersOfBoth<OperandList, ResultList> {};

/// All but the packing of B.
template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule, class Rows, class Columns>
class ConvertingGemm {
  static_assert(std::is_same_v<typename A::Element, f32> &&
                    std::is_same_v<typename B::Element, f32>,
                "A and B must be f32");
  static constexpr bool a_along_k = is_row_major<A>::value;
  static constexpr bool b_along_k = !is_row_major<B>::value;
  static constexpr bool converts_a = !is_direct<A, a_along_k, Problem::k>();
  static constexpr bool converts_b = !is_direct<B, b_along_k, Problem::k>();

  using ConversionA =
      typename ConversionOf<converts_a, A, a_along_k, Problem::m, Problem::k,
                            Problem::batches>::type;
  using ConversionB =
      typename ConversionOf<converts_b, B, b_along_k, Problem::n, Problem::k,
                            Problem::batches>::type;

public:
  static constexpr bool takes_sizes = true;
  static constexpr int buffer_count = [] {
    int count = count_buffers<A, B>();
    for (int other : {BuffersOf<OperandList>::count,
                      BuffersOf<ResultList>::count, BuffersOf<Rows>::count,
                      BuffersOf<Columns>::count})
      count = other > count ? other : count;
    return count;
  }();

  /// A packed B takes the operand's place for all that read it.
  static constexpr bool packs_b =
      converts_b && A::buffer != B::buffer &&
      !BuffersOf<OperandList>::has(B::buffer) &&
      !BuffersOf<Rows>::has(B::buffer) && !BuffersOf<Columns>::has(B::buffer);
  static constexpr int packed_b = B::buffer;
  static constexpr uint64_t packed_b_bytes = ConversionB::bytes;
  static int pack_b(void *const *buffers, void *packed, cudaStream_t stream) {
    return ConversionB::launch(ConversionB::get_params(buffers, packed),
                               stream);
  }

private:
  // The copies follow the kernel's own buffers.
  using InnerA = std::conditional_t<
      converts_a,
      RowMajor<buffer_count, f32, ConversionA::depth,
               ConversionA::batch_stride>,
      A>;
  using InnerB = std::conditional_t<
      converts_b,
      ColumnMajor<buffer_count + 1, f32, ConversionB::depth,
                  ConversionB::batch_stride>,
      B>;
  using Inner =
      Gemm<fact::Problem<Problem::m, Problem::n,
                         converts_a ? ConversionA::depth : ConversionB::depth,
                         Problem::batches>,
           InnerA, InnerB, OperandList, ResultList, Schedule, Rows, Columns>;

  static constexpr uint64_t round_up(uint64_t bytes) {
    return (bytes + 255) / 256 * 256;
  }
  static constexpr bool copies_b = converts_b && !packs_b;
  static constexpr uint64_t a_bytes =
      converts_a ? round_up(ConversionA::bytes) : 0;
  static constexpr uint64_t b_bytes =
      copies_b ? round_up(ConversionB::bytes) : 0;

public:
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    return a_bytes + b_bytes + Inner::workspace_bytes(sizes);
  }

  struct State {
    typename Inner::State inner;
    ConvertParams a, b;
  };

  static int bind(State &state, Sizes sizes, void *const *buffers,
                  void *workspace) {
    char *memory = static_cast<char *>(workspace);
    void *all[buffer_count + 2];
    for (int i = 0; i < buffer_count; ++i)
      all[i] = buffers[i];
    all[buffer_count] = memory;
    all[buffer_count + 1] = packs_b ? buffers[B::buffer] : memory + a_bytes;
    if constexpr (converts_a)
      state.a = ConversionA::get_params(buffers, all[buffer_count]);
    if constexpr (copies_b)
      state.b = ConversionB::get_params(buffers, all[buffer_count + 1]);
    return Inner::bind(state.inner, sizes, all, memory + a_bytes + b_bytes);
  }

  static int launch(State &state, cudaStream_t stream) {
    int error = cudaSuccess;
    if constexpr (converts_a)
      error = ConversionA::launch(state.a, stream);
    if constexpr (copies_b)
      if (!error)
        error = ConversionB::launch(state.b, stream);
    return error ? error : Inner::launch(state.inner, stream);
  }
};

/// A kernel with its `pack` where it has one.
template <class Base, bool Packs = Base::packs_b> struct PackingB : Base {};
template <class Base> struct PackingB<Base, true> : Base {
  static constexpr int packed_operand = Base::packed_b;
  static constexpr uint32_t packed_with = 0;
  static constexpr uint64_t packed_bytes(Sizes) { return Base::packed_b_bytes; }
  static int pack(Sizes, void *const *buffers, void *packed,
                  cudaStream_t stream) {
    return Base::pack_b(buffers, packed, stream);
  }
};

} // namespace sm90

template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule, class Rows = NoRowEpilogue,
          class Columns = NoColumnEpilogue>
class Float32Gemm
    : public sm90::PackingB<sm90::ConvertingGemm<
          Problem, A, B, OperandList, ResultList, Schedule, Rows, Columns>> {
};

} // namespace fact

#endif // FACT_CUTLASS_FLOAT32GEMM_CUH
