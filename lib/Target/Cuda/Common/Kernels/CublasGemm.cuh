//===- CublasGemm.cuh - cuBLASLt as a candidate ----------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// D = A * B [+ bias], the same words as `Gemm`. Link with -lcublasLt.
//
// The algorithm is the kernel's choice (fact/Runtime/Kernel.h): cuBLASLt's
// heuristic is asked once, when the kernel is measured, and from then on the
// kernel runs the algorithm that was verified. Algorithms are those of one
// version of cuBLASLt: under any other the kernel does not run.
//
//   #include "fact/cutlass/CublasGemm.cuh"
//
//   namespace fact::gemm_1 {
//
//   using Kernel = CublasGemm<
//       Problem<4096, 3072, 768>,                    // M, N, K, batches = 1
//       RowMajor<0, bf16, 768>,                      // A[M, K]
//       ColumnMajor<1, bf16, 768>,                   // B[K, N], stored [N, K]
//       Operands<RowVector<2, bf16>>,                // or Operands<>
//       RowMajor<3, bf16, 3072>>;                    // D[M, N]
//
// Products of f32 are IEEE f32, or TF32 with `AllowTf32` as last argument.
//
//   FACT_KERNEL(gemm_1, Kernel)
//
//   } // namespace fact::gemm_1
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_CUBLASGEMM_CUH
#define FACT_CUTLASS_CUBLASGEMM_CUH

#include "Choice.cuh"

#include <cstdio>
#include <cublasLt.h>
#include <map>
#include <mutex>

namespace fact {

namespace cublas {

template <class Element> constexpr cudaDataType_t data_type = CUDA_R_32F;
template <> inline constexpr cudaDataType_t data_type<bf16> = CUDA_R_16BF;
template <> inline constexpr cudaDataType_t data_type<f16> = CUDA_R_16F;
template <> inline constexpr cudaDataType_t data_type<f64> = CUDA_R_64F;

/// The current device's handle, which kernels of a library share; null where
/// there can be none. A handle belongs to the device it was made on.
inline cublasLtHandle_t handle() {
  static std::mutex making;
  static std::map<int, cublasLtHandle_t> handles;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess)
    return nullptr;
  std::lock_guard<std::mutex> lock(making);
  cublasLtHandle_t &shared = handles[device];
  if (!shared && cublasLtCreate(&shared) != CUBLAS_STATUS_SUCCESS)
    shared = nullptr;
  return shared;
}

/// What the ABI promises of the address of a buffer.
constexpr uint64_t buffer_alignment = 16;

/// The largest power of two that all addresses of a matrix are multiples of, as
/// far as the ABI, its offset and its batch stride say.
template <class Matrix> constexpr uint32_t alignment() {
  constexpr uint64_t size = sizeof(typename Matrix::Element);
  constexpr uint64_t bits = buffer_alignment | uint64_t(Matrix::offset) * size |
                            uint64_t(Matrix::batch_stride) * size;
  return uint32_t(bits & (~bits + 1));
}

} // namespace cublas

/// The precision of products of f32.
struct Strict {
  static constexpr cublasComputeType_t compute_type = CUBLAS_COMPUTE_32F;
};
struct AllowTf32 {
  static constexpr cublasComputeType_t compute_type =
      CUBLAS_COMPUTE_32F_FAST_TF32;
};

template <class Problem, class A, class B, class OperandList, class D,
          class Precision = Strict>
class CublasGemm;

template <class Problem, class A, class B, class... Bias, class D,
          class Precision>
class CublasGemm<Problem, A, B, Operands<Bias...>, D, Precision> {
  static_assert(sizeof...(Bias) <= 1, "cuBLAS adds one bias at most");
  static_assert(((Bias::batch_stride == 0) && ...),
                "cuBLAS adds the same bias to each batch");
  static_assert(is_row_major<D>::value, "the result must be row-major");

public:
  static constexpr int buffer_count = count_buffers<A, B, Bias..., D>();
  static constexpr uint64_t workspace_bytes = 32 << 20;

  /// An algorithm, and the version of cuBLASLt that knows it.
  struct Choice {
    uint64_t version;
    cublasLtMatmulAlgo_t algorithm;
  };

  /// Asks the heuristic.
  static char const *choose(Choice &choice) {
    Descriptors descriptors;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtHandle_t handle = cublas::handle();
    if (!handle)
      return "cuBLASLt does not work on this device";
    if (describe(descriptors) || describe_preference(preference))
      return "cuBLASLt cannot describe the product";
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    if (cublasLtMatmulAlgoGetHeuristic(
            handle, &descriptors.operation, &descriptors.b, &descriptors.a,
            &descriptors.d, &descriptors.d, &preference, 1, &found,
            &count) != CUBLAS_STATUS_SUCCESS ||
        count == 0)
      return "cuBLASLt has no algorithm for the product";
    choice.version = cublasLtGetVersion();
    choice.algorithm = found.algo;
    return nullptr;
  }

  /// Whether cuBLASLt, as it is loaded, runs that algorithm on this device.
  static char const *check(Choice const &choice) {
    static thread_local char message[160];
    uint64_t version = cublasLtGetVersion();
    if (version != choice.version) {
      std::snprintf(message, sizeof(message),
                    "cuBLASLt %llu is loaded, and the algorithm was verified "
                    "with %llu; load that, or tune again",
                    static_cast<unsigned long long>(version),
                    static_cast<unsigned long long>(choice.version));
      return message;
    }
    Descriptors descriptors;
    cublasLtHandle_t handle = cublas::handle();
    if (!handle)
      return "cuBLASLt does not work on this device";
    if (describe(descriptors))
      return "cuBLASLt cannot describe the product";
    cublasLtMatmulHeuristicResult_t checked{};
    cublasStatus_t status = cublasLtMatmulAlgoCheck(
        handle, &descriptors.operation, &descriptors.b, &descriptors.a,
        &descriptors.d, &descriptors.d, &choice.algorithm, &checked);
    if (status != CUBLAS_STATUS_SUCCESS) {
      std::snprintf(message, sizeof(message),
                    "cublasLtMatmulAlgoCheck refuses the algorithm on this "
                    "device with status %d; tune again",
                    int(status));
      return message;
    }
    return checked.workspaceSize <= workspace_bytes
               ? nullptr
               : "the algorithm wants more workspace than there is; tune again";
  }

  /// Descriptors in place, so that there is nothing to free.
  struct Descriptors {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t a, b, d;
  };

  struct State {
    Descriptors descriptors;
    cublasLtMatmulAlgo_t algorithm;
    cublasLtHandle_t handle;
    void const *pointer_a, *pointer_b;
    void *pointer_d, *workspace;
  };

  static int bind(State &state, Choice const &choice, void *const *buffers,
                  void *workspace) {
    state.handle = cublas::handle();
    if (!state.handle)
      return cudaErrorInitializationError;
    state.algorithm = choice.algorithm;
    state.pointer_a = A::pointer(buffers);
    state.pointer_b = B::pointer(buffers);
    state.pointer_d = D::pointer(buffers);
    state.workspace = workspace;
    bool failed = describe(state.descriptors);
    if constexpr (sizeof...(Bias) == 1)
      failed |= set(state.descriptors, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                    (static_cast<void *>(Bias::pointer(buffers)), ...));
    return failed ? cudaErrorInvalidValue : cudaSuccess;
  }

  static int launch(State &state, cudaStream_t stream) {
    std::conditional_t<is_f64, double, float> one = 1, zero = 0;
    Descriptors &of = state.descriptors;
    cublasStatus_t status = cublasLtMatmul(
        state.handle, &of.operation, &one, state.pointer_b, &of.b,
        state.pointer_a, &of.a, &zero, state.pointer_d, &of.d, state.pointer_d,
        &of.d, &state.algorithm, state.workspace, workspace_bytes, stream);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
  }

private:
  static constexpr bool is_f64 = std::is_same_v<typename A::Element, f64>;

  template <class Matrix> static constexpr cublasOperation_t transposition() {
    return is_row_major<Matrix>::value ? CUBLAS_OP_N : CUBLAS_OP_T;
  }

  template <class Value>
  static bool set(Descriptors &descriptors,
                  cublasLtMatmulDescAttributes_t attribute, Value value) {
    return cublasLtMatmulDescSetAttribute(&descriptors.operation, attribute,
                                          &value, sizeof(value));
  }

  /// True on failure, as below. cuBLAS is column-major: it computes
  /// D^T = B^T * A^T, and a row-major matrix is the transposed one as it lies.
  static bool describe(Descriptors &descriptors) {
    bool failed = cublasLtMatmulDescInit(&descriptors.operation,
                                         is_f64 ? CUBLAS_COMPUTE_64F
                                                : Precision::compute_type,
                                         is_f64 ? CUDA_R_64F : CUDA_R_32F);
    failed |= set(descriptors, CUBLASLT_MATMUL_DESC_TRANSA, transposition<B>());
    failed |= set(descriptors, CUBLASLT_MATMUL_DESC_TRANSB, transposition<A>());
    if constexpr (sizeof...(Bias) == 1) {
      failed |= set(descriptors, CUBLASLT_MATMUL_DESC_EPILOGUE,
                    CUBLASLT_EPILOGUE_BIAS);
      // Algorithms are for an address of this alignment; `bind` sets the own.
      failed |= set(descriptors, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                    reinterpret_cast<void *>(cublas::buffer_alignment));
      failed |= set(descriptors, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
                    (cublas::data_type<typename Bias::Element>, ...));
    }
    failed |= init_layout<A>(descriptors.a, Problem::m, Problem::k);
    failed |= init_layout<B>(descriptors.b, Problem::k, Problem::n);
    failed |= init_layout<D>(descriptors.d, Problem::m, Problem::n);
    return failed;
  }

  template <class Matrix>
  static bool init_layout(cublasLtMatrixLayoutOpaque_t &layout, int rows,
                          int columns) {
    constexpr bool row_major = is_row_major<Matrix>::value;
    bool failed = cublasLtMatrixLayoutInit(
        &layout, cublas::data_type<typename Matrix::Element>,
        row_major ? columns : rows, row_major ? rows : columns,
        Matrix::leading_dimension);
    int32_t batches = Problem::batches;
    int64_t stride = Matrix::batch_stride;
    failed |= cublasLtMatrixLayoutSetAttribute(
        &layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches, sizeof(batches));
    failed |= cublasLtMatrixLayoutSetAttribute(
        &layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
        sizeof(stride));
    return failed;
  }

  static bool prefer(cublasLtMatmulPreferenceOpaque_t &preference,
                     cublasLtMatmulPreferenceAttributes_t attribute,
                     uint32_t value) {
    return cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value,
                                                sizeof(value));
  }

  static bool
  describe_preference(cublasLtMatmulPreferenceOpaque_t &preference) {
    uint64_t bytes = workspace_bytes;
    bool failed = cublasLtMatmulPreferenceInit(&preference);
    failed |= cublasLtMatmulPreferenceSetAttribute(
        &preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
        sizeof(bytes));
    // cuBLAS's A and B are B and A here, and C is D. The default is 256 bytes.
    failed |= prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                     cublas::alignment<B>());
    failed |= prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                     cublas::alignment<A>());
    failed |= prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                     cublas::alignment<D>());
    failed |= prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
                     cublas::alignment<D>());
    return failed;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_CUBLASGEMM_CUH
