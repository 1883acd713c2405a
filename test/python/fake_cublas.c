// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* The part of cuBLASLt that CublasGemm.cuh calls, computing nothing: it says
 * what it was asked, and is told what to answer. Linked with a kernel that was
 * compiled for the host. */

#include <cublasLt.h>
#include <string.h>

size_t fake_version = 130100;
/* The first word of what the heuristic answers; 0: nothing. The second is its
 * complement, by which an algorithm is told from any other bytes. */
uint64_t fake_algorithm = 66;
size_t fake_workspace = 1024;

int fake_asked, fake_launches;
uint32_t fake_alignments[4];
cublasLtMatmulAlgo_t fake_ran;
const void *fake_bias;

cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
size_t cublasLtGetVersion(void) { return fake_version; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  static int memory;
  *handle = (cublasLtHandle_t)&memory;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t description,
                                               size_t size,
                                               cublasComputeType_t compute,
                                               cudaDataType_t scale) {
  (void)compute, (void)scale;
  memset(description, 0, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t size) {
  (void)description;
  if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
    memcpy(&fake_bias, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout,
                                                 size_t size, cudaDataType type,
                                                 uint64_t rows,
                                                 uint64_t columns,
                                                 int64_t stride) {
  (void)type, (void)rows, (void)columns, (void)stride;
  memset(layout, 0, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t size) {
  (void)layout, (void)attribute, (void)value, (void)size;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                      size_t size) {
  memset(preference, 0, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t size) {
  (void)preference;
  unsigned matrix =
      (unsigned)attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (matrix < 4)
    memcpy(&fake_alignments[matrix], value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t results[], int *count) {
  (void)handle, (void)description, (void)a, (void)b, (void)c, (void)d,
      (void)preference;
  (void)wanted;
  ++fake_asked;
  *count = fake_algorithm != 0;
  memset(results, 0, sizeof *results);
  results->algo.data[0] = fake_algorithm;
  results->algo.data[1] = ~fake_algorithm;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulAlgoCheck(cublasLtHandle_t handle,
                        cublasLtMatmulDesc_t description,
                        cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                        cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                        const cublasLtMatmulAlgo_t *algorithm,
                        cublasLtMatmulHeuristicResult_t *result) {
  (void)handle, (void)description, (void)a, (void)b, (void)c, (void)d;
  result->workspaceSize = fake_workspace;
  return algorithm->data[1] == ~algorithm->data[0]
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmul(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
    const void *alpha, const void *a, cublasLtMatrixLayout_t layout_a,
    const void *b, cublasLtMatrixLayout_t layout_b, const void *beta,
    const void *c, cublasLtMatrixLayout_t layout_c, void *d,
    cublasLtMatrixLayout_t layout_d, const cublasLtMatmulAlgo_t *algorithm,
    void *workspace, size_t bytes, cudaStream_t stream) {
  (void)handle, (void)description, (void)alpha, (void)a, (void)layout_a,
      (void)b;
  (void)layout_b, (void)beta, (void)c, (void)layout_c, (void)d, (void)layout_d;
  (void)workspace, (void)bytes, (void)stream;
  ++fake_launches;
  fake_ran = *algorithm;
  return CUBLAS_STATUS_SUCCESS;
}
