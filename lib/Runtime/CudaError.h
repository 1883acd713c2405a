//===- CudaError.h - Failures of CUDA's runtime -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_LIB_RUNTIME_CUDAERROR_H
#define FACT_LIB_RUNTIME_CUDAERROR_H

#include <cuda_runtime.h>

namespace fact {
namespace runtime {

/// Whether a call succeeded; otherwise `device::lastError` names it as `what`.
bool succeeded(cudaError_t code, const char *what);

} // namespace runtime
} // namespace fact

#endif // FACT_LIB_RUNTIME_CUDAERROR_H
