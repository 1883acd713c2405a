//===- Float32Gemm.cuh - GEMM of f32 operands on Hopper --------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `Gemm` of f32 operands, of any layout and alignment: in TF32, or strict where
// the schedule's kernel is `Promoted`. One that wgmma does not read as it lies
// (Float32.cuh) is `Copied`.
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
// B is copied by `pack`, once for a weight, and A in workspace before each
// launch; so is a B that is read elsewhere too. A strict product whose B is
// split ahead (StrictMainloop.cuh) copies B in any case.
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
  static constexpr bool splits = splits_ahead<Schedule>;
  static constexpr bool converts_a = is_copied<A>;
  static constexpr bool converts_b = is_copied<B> || splits;

  using ConversionA = Conversion<A, is_row_major<A>::value>;
  using ConversionB = Conversion<B, !is_row_major<B>::value, splits>;
  static constexpr ConvertParams measure_a(Sizes sizes) {
    return ConversionA::measure(sizes, Problem::m, Problem::k,
                                Problem::batches);
  }
  static constexpr ConvertParams measure_b(Sizes sizes) {
    return ConversionB::measure(sizes, Problem::n, Problem::k,
                                Problem::batches);
  }

public:
  static constexpr bool takes_sizes = true;
  static constexpr int buffer_count = [] {
    int count = count_buffers<A, B>();
    for (int other :
         {BuffersOf<OperandList>::count, BuffersOf<ResultList>::count,
          BuffersOf<Rows>::count, BuffersOf<Columns>::count})
      count = other > count ? other : count;
    return count;
  }();

  /// A packed B takes the operand's place for all that read it.
  static constexpr bool packs_b = converts_b && A::buffer != B::buffer &&
                                  !BuffersOf<OperandList>::has(B::buffer) &&
                                  !BuffersOf<Rows>::has(B::buffer) &&
                                  !BuffersOf<Columns>::has(B::buffer);
  static constexpr int packed_b = B::buffer;
  static constexpr uint64_t packed_b_bytes(Sizes sizes) {
    return ConversionB::count_bytes(measure_b(sizes));
  }
  static int pack_b(Sizes sizes, void *const *buffers, void *packed,
                    cudaStream_t stream) {
    ConvertParams params = measure_b(sizes);
    params.from = B::pointer(buffers, sizes);
    params.to = static_cast<float *>(packed);
    return ConversionB::launch(params, stream);
  }

private:
  /// The sizes that copies have: the stride of rows along K, and those of
  /// batches of A and B.
  struct CopySizes {
    int64_t values[3];
    constexpr Sizes with(Sizes sizes) const { return {sizes.values, values}; }
  };
  static constexpr int64_t depth = Derived(0);
  static constexpr CopySizes get_copy_sizes(Sizes sizes) {
    return {{measure_a(sizes).depth, measure_a(sizes).get_copy_stride(),
             measure_b(sizes).get_copy_stride()}};
  }

  // The copies follow the kernel's own buffers.
  using InnerA =
      std::conditional_t<converts_a,
                         RowMajor<buffer_count, f32, depth, Derived(1)>, A>;
  using InnerB = std::conditional_t<
      converts_b, ColumnMajor<buffer_count + 1, f32, depth, Derived(2)>, B>;
  using Inner = Gemm<Problem, InnerA, InnerB, OperandList, ResultList, Schedule,
                     Rows, Columns>;

  static constexpr uint64_t round_up(uint64_t bytes) {
    return (bytes + 255) / 256 * 256;
  }
  static constexpr bool copies_b = converts_b && !packs_b;
  static constexpr uint64_t a_bytes(Sizes sizes) {
    return converts_a ? round_up(ConversionA::count_bytes(measure_a(sizes)))
                      : 0;
  }
  static constexpr uint64_t b_bytes(Sizes sizes) {
    return copies_b ? round_up(packed_b_bytes(sizes)) : 0;
  }

public:
  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    CopySizes copies = get_copy_sizes(sizes);
    return a_bytes(sizes) + b_bytes(sizes) +
           Inner::workspace_bytes(copies.with(sizes));
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
    all[buffer_count + 1] =
        packs_b ? buffers[B::buffer] : memory + a_bytes(sizes);
    if constexpr (converts_a) {
      state.a = measure_a(sizes);
      state.a.from = A::pointer(buffers, sizes);
      state.a.to = static_cast<float *>(all[buffer_count]);
    }
    if constexpr (copies_b) {
      state.b = measure_b(sizes);
      state.b.from = B::pointer(buffers, sizes);
      state.b.to = static_cast<float *>(all[buffer_count + 1]);
    }
    CopySizes copies = get_copy_sizes(sizes);
    return Inner::bind(state.inner, copies.with(sizes), all,
                       memory + a_bytes(sizes) + b_bytes(sizes));
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
  static constexpr uint64_t packed_bytes(Sizes sizes) {
    return Base::packed_b_bytes(sizes);
  }
  static int pack(Sizes sizes, void *const *buffers, void *packed,
                  cudaStream_t stream) {
    return Base::pack_b(sizes, buffers, packed, stream);
  }
};

} // namespace sm90

template <class Problem, class A, class B, class OperandList, class ResultList,
          class Schedule, class Rows = NoRowEpilogue,
          class Columns = NoColumnEpilogue>
class Float32Gemm
    : public sm90::PackingB<sm90::ConvertingGemm<
          Problem, A, B, OperandList, ResultList, Schedule, Rows, Columns>> {};

} // namespace fact

#endif // FACT_CUTLASS_FLOAT32GEMM_CUH
