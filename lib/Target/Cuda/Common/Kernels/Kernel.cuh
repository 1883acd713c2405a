//===- Kernel.cuh - Words every generated kernel is written in -*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A generated source names its tensors, its functors and one schedule as
// types, puts them together as one kernel type, and exports that type:
//
//   namespace fact::gemm_0 {
//   struct Epilogue { FACT_DEVICE float apply(float accumulator) { ... } };
//   using Kernel = Gemm<...>;
//   FACT_KERNEL(gemm_0, Kernel)
//   } // namespace fact::gemm_0
//
// The namespace is needed: kernels are templates over the functors, so in one
// library two functors of the same name would be two definitions of one kernel.
//
// A kernel type has
//
//   static constexpr int buffer_count;
//   static constexpr uint64_t workspace_bytes;
//   struct State;                               // what a launch needs
//   static int bind(State &, Buffers, void *workspace);
//   static int launch(State &, cudaStream_t);
//
// One that leaves a decision to a library also has
//
//   struct Choice;                              // the decision, in bytes
//   static char const *choose(Choice &);        // null, or what is wrong
//   static char const *check(Choice const &);   // for the current device
//
// and its `bind` takes the Choice after the State.
//
// One whose sizes may be arguments has `takes_sizes`, and in place of the above
//
//   static constexpr uint64_t workspace_bytes(Sizes);
//   static int bind(State &, Sizes, Buffers, void *workspace);
//
// It is exported with the number of its sizes: FACT_SIZED_KERNEL.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_KERNEL_CUH
#define FACT_CUTLASS_KERNEL_CUH

#include "fact/Runtime/Kernel.h"

#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <new>
#include <type_traits>

#define FACT_DEVICE static __device__ __forceinline__

namespace fact {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

using bf16 = __nv_bfloat16;
using f16 = __half;
using f32 = float;
using f64 = double;
using i64 = int64_t;
using i32 = int32_t;
using i8 = int8_t;
using i1 = bool;

//===----------------------------------------------------------------------===//
// Sizes
//
// Extents, strides and offsets are template arguments: numbers, or places among
// the numbers that a kernel is called with. Only host code resolves them, so
// device code is the same for all sizes.
//===----------------------------------------------------------------------===//

/// Numbers this low are places.
inline constexpr int64_t first_size = INT64_MIN;
inline constexpr int64_t most_sizes = 4096;

/// The template argument for the size at a place.
constexpr int64_t Size(int place) { return first_size + place; }
/// The template argument for a size that a kernel derives from others.
constexpr int64_t Derived(int place) { return Size(most_sizes / 2 + place); }
constexpr bool is_size(int64_t value) {
  return value < first_size + most_sizes;
}

/// An extent: a number is an int, as device code counts.
template <int64_t Value>
inline constexpr std::conditional_t<is_size(Value), int64_t, int> extent =
    static_cast<std::conditional_t<is_size(Value), int64_t, int>>(Value);

/// The numbers that a kernel is called with, and those that it derives.
struct Sizes {
  int64_t const *values;
  int64_t const *derived = nullptr;

  /// What a template argument stands for.
  constexpr int64_t operator()(int64_t value) const {
    if (!is_size(value))
      return value;
    return value < Derived(0) ? values[value - first_size]
                              : derived[value - Derived(0)];
  }
};

//===----------------------------------------------------------------------===//
// Tensors
//
// A tensor is a view of one of the kernel's buffers. Offsets and strides count
// elements. `Buffer` is the position among operands and results.
//===----------------------------------------------------------------------===//

template <int Buffer, class Element_, int64_t Offset> struct View {
  using Element = Element_;
  static constexpr int buffer = Buffer;
  static constexpr int64_t offset = Offset;
  static constexpr bool is_streamed = false;

  static Element *pointer(void *const *buffers, Sizes sizes = {}) {
    return static_cast<Element *>(buffers[Buffer]) + sizes(Offset);
  }
};

/// A matrix, or a batch of them, with contiguous rows.
template <int Buffer, class Element, int64_t LeadingDimension,
          int64_t BatchStride = 0, int64_t Offset = 0>
struct RowMajor : View<Buffer, Element, Offset> {
  static constexpr int64_t leading_dimension = LeadingDimension;
  static constexpr int64_t batch_stride = BatchStride;
};

/// A matrix, or a batch of them, with contiguous columns.
template <int Buffer, class Element, int64_t LeadingDimension,
          int64_t BatchStride = 0, int64_t Offset = 0>
struct ColumnMajor : View<Buffer, Element, Offset> {
  static constexpr int64_t leading_dimension = LeadingDimension;
  static constexpr int64_t batch_stride = BatchStride;
};

/// A matrix, or a batch of them, of any strides. `BatchStride` is between runs
/// of `InnerBatches` batches.
template <int Buffer, class Element, int64_t RowStride, int64_t ColumnStride,
          int64_t BatchStride = 0, int64_t Offset = 0, int64_t InnerBatches = 1,
          int64_t InnerBatchStride = 0>
struct StridedMatrix : View<Buffer, Element, Offset> {
  static constexpr int64_t batch_stride = BatchStride;
};

/// One value for each column, the same in all rows: a bias.
template <int Buffer, class Element, int64_t BatchStride = 0,
          int64_t Offset = 0>
struct RowVector : View<Buffer, Element, Offset> {
  static constexpr int64_t batch_stride = BatchStride;
};

/// One value for each row, the same in all columns.
template <int Buffer, class Element, int64_t BatchStride = 0,
          int64_t Offset = 0>
struct ColumnVector : View<Buffer, Element, Offset> {
  static constexpr int64_t batch_stride = BatchStride;
};

/// One value.
template <int Buffer, class Element, int64_t Offset = 0>
struct Scalar : View<Buffer, Element, Offset> {};

/// An operand of which a kernel reads each element once, and so many that they
/// would push all else out of the cache: they leave it first.
template <class Tensor> struct Streamed : Tensor {
  static constexpr bool is_streamed = true;
};

template <class T> struct is_row_major : std::false_type {};
template <class T> struct is_row_major<Streamed<T>> : is_row_major<T> {};
template <int B, class E, int64_t L, int64_t S, int64_t O>
struct is_row_major<RowMajor<B, E, L, S, O>> : std::true_type {};

/// Whether a tensor has an element for each of the product's.
template <class T> struct is_matrix : is_row_major<T> {};
template <int B, class E, int64_t L, int64_t S, int64_t O>
struct is_matrix<ColumnMajor<B, E, L, S, O>> : std::true_type {};

/// The sizes of a GEMM: D[M, N] = A[M, K] * B[K, N], for each batch.
template <int64_t M, int64_t N, int64_t K, int64_t Batches = 1> struct Problem {
  static constexpr auto m = extent<M>;
  static constexpr auto n = extent<N>;
  static constexpr auto k = extent<K>;
  static constexpr auto batches = extent<Batches>;
};

/// The part of a GEMM that a block computes, and of K that it takes at once.
template <int M, int N, int K> struct Tile {
  static constexpr int m = M, n = N, k = K;
};

/// What a kernel reads beside its main operands, in the functors' order.
template <class... Tensors> struct Operands {
  static constexpr int count = sizeof...(Tensors);
};

/// One result: `Functor::apply` gives its elements, `Tensor` is its place.
template <class Functor_, class Tensor_> struct Result {
  using Functor = Functor_;
  using Tensor = Tensor_;
};

template <class... List> struct Results {
  static constexpr int count = sizeof...(List);
};

/// The functor that changes nothing.
struct Identity {
  template <class Value> FACT_DEVICE Value apply(Value value) { return value; }
};

/// The number of buffers, given all of a kernel's tensors.
template <class... Tensors> constexpr int count_buffers() {
  int count = 0;
  ((count = Tensors::buffer >= count ? Tensors::buffer + 1 : count), ...);
  return count;
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

template <class Element>
constexpr bool is_aligned(int64_t elements, int64_t bytes) {
  return elements * int64_t(sizeof(Element)) % bytes == 0;
}

inline bool is_aligned(void const *pointer, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

/// True if TMA can address the matrix: all but the unit stride are multiples of
/// 16 bytes. The buffer's own address is known only in `bind`.
template <class Matrix> constexpr bool tma_can_address(Sizes sizes) {
  using Element = typename Matrix::Element;
  return is_aligned<Element>(sizes(Matrix::leading_dimension), 16) &&
         is_aligned<Element>(sizes(Matrix::batch_stride), 16) &&
         is_aligned<Element>(sizes(Matrix::offset), 16);
}
/// The same as far as numbers say it.
template <class Matrix> constexpr bool tma_can_address() {
  using Element = typename Matrix::Element;
  for (int64_t value :
       {Matrix::leading_dimension, Matrix::batch_stride, Matrix::offset})
    if (!is_size(value) && !is_aligned<Element>(value, 16))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Launching and exporting
//===----------------------------------------------------------------------===//

/// Allows a kernel the dynamic shared memory it asks for at launch.
template <class Function> int allow_shared_memory(Function *kernel, int bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<void const *>(kernel),
                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                              bytes);
}

/// Enqueues a kernel of one parameter. `cluster` may be all ones.
template <class Params>
int launch_kernel(void (*kernel)(Params), dim3 grid, dim3 cluster, dim3 block,
                  int shared_bytes,
                  std::remove_cv_t<std::remove_reference_t<Params>> &params,
                  cudaStream_t stream) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = cluster.x * cluster.y * cluster.z > 1 ? 1 : 0;
  void *arguments[] = {&params};
  return cudaLaunchKernelExC(&config, reinterpret_cast<void const *>(kernel),
                             arguments);
}

/// Whether a kernel type packs operands: it then has `packed_operand`,
/// `packed_with`, `packed_bytes` and `pack`, as FactKernel says.
template <class Kernel, class = void>
inline constexpr bool packs_operands = false;
template <class Kernel>
inline constexpr bool
    packs_operands<Kernel, std::void_t<decltype(&Kernel::pack)>> = true;

/// Whether a kernel type leaves something to choose.
template <class Kernel, class = void> inline constexpr bool has_choice = false;
template <class Kernel>
inline constexpr bool has_choice<Kernel, std::void_t<typename Kernel::Choice>> =
    true;

/// Whether the sizes of a kernel type may be arguments.
template <class Kernel, class = void> inline constexpr bool takes_sizes = false;
template <class Kernel>
inline constexpr bool
    takes_sizes<Kernel, std::void_t<decltype(Kernel::takes_sizes)>> = true;

/// The choice that the kernel exported as `Symbol` was verified with:
/// Choice.cuh, which kernels that leave something to choose include.
template <class Kernel, class Symbol> struct Adopted;

/// The C interface of a kernel type. `Symbol` is a type for each symbol.
template <class Kernel, class Symbol, int SizeCount> struct Exported {
  static_assert(SizeCount == 0 || takes_sizes<Kernel>,
                "this kernel takes no sizes");
  using State = typename Kernel::State;
  static_assert(std::is_trivially_destructible_v<State>,
                "nobody destroys a kernel's state");

  /// State memory is 64-byte aligned; TMA descriptors may want more.
  static constexpr uint64_t padding = alignof(State) > 64 ? alignof(State) - 64
                                                          : 0;
  static void *place(void *memory) {
    constexpr uintptr_t mask = alignof(State) - 1;
    return reinterpret_cast<void *>(
        (reinterpret_cast<uintptr_t>(memory) + mask) & ~mask);
  }

  static int bind(void *state, int64_t const *sizes, void *const *buffers,
                  void *workspace) {
    State &placed = *new (place(state)) State;
    if constexpr (takes_sizes<Kernel>) {
      return Kernel::bind(placed, Sizes{sizes}, buffers, workspace);
    } else if constexpr (has_choice<Kernel>) {
      using Used = Adopted<Kernel, Symbol>;
      if (!Used::known)
        return cudaErrorNotPermitted;
      return Kernel::bind(placed, Used::choice, buffers, workspace);
    } else
      return Kernel::bind(placed, buffers, workspace);
  }

  static int launch(void *state, void *stream) {
    return Kernel::launch(*static_cast<State *>(place(state)),
                          static_cast<cudaStream_t>(stream));
  }

  static int pack(int64_t const *sizes, void *const *buffers, void *packed,
                  void *stream) {
    if constexpr (takes_sizes<Kernel>)
      return Kernel::pack(Sizes{sizes}, buffers, packed,
                          static_cast<cudaStream_t>(stream));
    else
      return Kernel::pack(buffers, packed, static_cast<cudaStream_t>(stream));
  }

  static constexpr uint64_t workspace_bytes(Sizes sizes) {
    if constexpr (takes_sizes<Kernel>)
      return Kernel::workspace_bytes(sizes);
    else
      return Kernel::workspace_bytes;
  }

  static constexpr uint64_t packed_bytes(Sizes sizes) {
    if constexpr (!packs_operands<Kernel>)
      return 0;
    else if constexpr (takes_sizes<Kernel>)
      return Kernel::packed_bytes(sizes);
    else
      return Kernel::packed_bytes;
  }

  static void measure(int64_t const *sizes, uint64_t *workspace,
                      uint64_t *packed) {
    *workspace = workspace_bytes(Sizes{sizes});
    *packed = packed_bytes(Sizes{sizes});
  }

  static constexpr FactKernel describe() {
    FactKernel kernel{};
    kernel.abi = FACT_KERNEL_ABI;
    kernel.buffer_count = Kernel::buffer_count;
    kernel.state_bytes = sizeof(State) + padding;
    if constexpr (SizeCount > 0) {
      kernel.size_count = SizeCount;
      kernel.measure = measure;
    } else {
      kernel.workspace_bytes = workspace_bytes(Sizes{});
      kernel.packed_bytes = packed_bytes(Sizes{});
    }
    kernel.bind = bind;
    kernel.launch = launch;
    kernel.packed_operand = -1;
    if constexpr (packs_operands<Kernel>) {
      kernel.packed_operand = Kernel::packed_operand;
      kernel.packed_with = Kernel::packed_with;
      kernel.pack_on_device = pack;
    }
    if constexpr (has_choice<Kernel>) {
      kernel.choice_bytes = sizeof(typename Kernel::Choice);
      kernel.choose = Adopted<Kernel, Symbol>::choose;
      kernel.adopt = Adopted<Kernel, Symbol>::adopt;
    }
    return kernel;
  }
};

} // namespace fact

#define FACT_SIZED_KERNEL(symbol, Kernel, sizes)                               \
  struct symbol##_symbol;                                                      \
  extern "C" const FactKernel symbol;                                          \
  const FactKernel symbol =                                                    \
      ::fact::Exported<Kernel, symbol##_symbol, sizes>::describe();

#define FACT_KERNEL(symbol, Kernel) FACT_SIZED_KERNEL(symbol, Kernel, 0)

#endif // FACT_CUTLASS_KERNEL_CUH
