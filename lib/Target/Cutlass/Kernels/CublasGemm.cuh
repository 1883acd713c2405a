//===- CublasGemm.cuh - cuBLASLt as a candidate -----------------*- CUDA -*-===//
//
// D = A * B [+ bias], the same words as `Gemm`, chosen by cuBLASLt's own
// heuristic. Link with -lcublasLt.
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
//   FACT_KERNEL(gemm_1, Kernel)
//
//   } // namespace fact::gemm_1
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_CUBLASGEMM_CUH
#define FACT_CUTLASS_CUBLASGEMM_CUH

#include "Kernel.cuh"

#include <cublasLt.h>

namespace fact {

namespace cublas {

template <class Element> constexpr cudaDataType_t data_type = CUDA_R_32F;
template <> inline constexpr cudaDataType_t data_type<bf16> = CUDA_R_16BF;
template <> inline constexpr cudaDataType_t data_type<f16> = CUDA_R_16F;

/// One handle for the process: kernels of a library share it.
inline cublasLtHandle_t handle() {
  static cublasLtHandle_t shared = [] {
    cublasLtHandle_t created = nullptr;
    cublasLtCreate(&created);
    return created;
  }();
  return shared;
}

} // namespace cublas

template <class Problem, class A, class B, class OperandList, class D>
class CublasGemm;

template <class Problem, class A, class B, class... Bias, class D>
class CublasGemm<Problem, A, B, Operands<Bias...>, D> {
  static_assert(sizeof...(Bias) <= 1, "cuBLAS adds one bias at most");
  static_assert(((Bias::batch_stride == 0) && ...),
                "cuBLAS adds the same bias to each batch");
  static_assert(is_row_major<D>::value, "the result must be row-major");

public:
  static constexpr int buffer_count = count_buffers<A, B, Bias..., D>();
  static constexpr uint64_t workspace_bytes = 32 << 20;

  /// Descriptors in place, so that there is nothing to free.
  struct State {
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t a, b, d;
    cublasLtMatmulAlgo_t algorithm;
    void const *pointer_a, *pointer_b;
    void *pointer_d, *workspace;
  };

  static int bind(State &state, void *const *buffers, void *workspace) {
    state.pointer_a = A::pointer(buffers);
    state.pointer_b = B::pointer(buffers);
    state.pointer_d = D::pointer(buffers);
    state.workspace = workspace;

    // cuBLAS is column-major: it computes D^T = B^T * A^T, and a row-major
    // matrix is the transposed one as it lies.
    bool failed = cublasLtMatmulDescInit(&state.operation, CUBLAS_COMPUTE_32F,
                                         CUDA_R_32F);
    failed |= set(state, CUBLASLT_MATMUL_DESC_TRANSA, transposition<B>());
    failed |= set(state, CUBLASLT_MATMUL_DESC_TRANSB, transposition<A>());
    if constexpr (sizeof...(Bias) == 1) {
      failed |= set(state, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      failed |= set(state, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                    (static_cast<void *>(Bias::pointer(buffers)), ...));
      failed |= set(state, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
                    (cublas::data_type<typename Bias::Element>, ...));
    }
    failed |= init_layout<A>(state.a, Problem::m, Problem::k);
    failed |= init_layout<B>(state.b, Problem::k, Problem::n);
    failed |= init_layout<D>(state.d, Problem::m, Problem::n);
    return failed ? int(cudaErrorInvalidValue) : choose_algorithm(state);
  }

  static int launch(State &state, cudaStream_t stream) {
    float one = 1.0f, zero = 0.0f;
    cublasStatus_t status = cublasLtMatmul(
        cublas::handle(), &state.operation, &one, state.pointer_b, &state.b,
        state.pointer_a, &state.a, &zero, state.pointer_d, &state.d,
        state.pointer_d, &state.d, &state.algorithm, state.workspace,
        workspace_bytes, stream);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
  }

private:
  template <class Matrix> static constexpr cublasOperation_t transposition() {
    return is_row_major<Matrix>::value ? CUBLAS_OP_N : CUBLAS_OP_T;
  }

  template <class Value>
  static bool set(State &state, cublasLtMatmulDescAttributes_t attribute,
                  Value value) {
    return cublasLtMatmulDescSetAttribute(&state.operation, attribute, &value,
                                          sizeof(value));
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

  static int choose_algorithm(State &state) {
    cublasLtMatmulPreferenceOpaque_t preference;
    uint64_t bytes = workspace_bytes;
    bool failed = cublasLtMatmulPreferenceInit(&preference);
    failed |= cublasLtMatmulPreferenceSetAttribute(
        &preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
        sizeof(bytes));
    cublasLtMatmulHeuristicResult_t choice;
    int count = 0;
    failed |= cublasLtMatmulAlgoGetHeuristic(
        cublas::handle(), &state.operation, &state.b, &state.a, &state.d,
        &state.d, &preference, 1, &choice, &count);
    if (failed || count == 0)
      return cudaErrorNotSupported;
    state.algorithm = choice.algo;
    return cudaSuccess;
  }
};

} // namespace fact

#endif // FACT_CUTLASS_CUBLASGEMM_CUH
