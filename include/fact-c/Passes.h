/*===- Passes.h - C interface of FACT's passes and pipelines ------*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/

#ifndef FACT_C_PASSES_H
#define FACT_C_PASSES_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every pass of FACT and the pipelines `fact-raise`, `fact-host` and
 * `fact-cuda`, for text that is parsed by `mlirOpPassManagerAddPipeline` and
 * the like; also MLIR's general passes (`canonicalize`, `cse`). May be called
 * again.
 */
MLIR_CAPI_EXPORTED void factRegisterAllPasses(void);

/* Runs passes of a module, given as text:
 *
 *   "fact-raise,fact-discover{target=h200 patterns=none}"
 *
 * Registers all passes first. What is wrong with the text goes to `error`, in
 * one or more pieces; passes report to the context's diagnostic handlers. */
MLIR_CAPI_EXPORTED MlirLogicalResult factRunPipeline(MlirModule module,
                                                     MlirStringRef pipeline,
                                                     MlirStringCallback error,
                                                     void *userData);

#ifdef __cplusplus
}
#endif

#endif /* FACT_C_PASSES_H */
