/*===- Registry.h - C interface of the registry -------------------*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which schedules were measured for which problem; docs/registry.md.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FACT_C_REGISTRY_H
#define FACT_C_REGISTRY_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FactRegistry {
  void *ptr;
} FactRegistry;

/* Reads folders, the uppermost layer first; with a count of 0 the user's layer
 * and the built-in one. A folder that does not exist is empty. A file that is
 * not valid is skipped, and `warn` receives one line with its name and the
 * cause. The caller destroys the registry. */
MLIR_CAPI_EXPORTED FactRegistry factRegistryOpen(const MlirStringRef *layers,
                                                 intptr_t count,
                                                 MlirStringCallback warn,
                                                 void *userData);
MLIR_CAPI_EXPORTED void factRegistryDestroy(FactRegistry registry);

/* The ids of the entries, "gemm_epilogue/bf16/sm_90a#0f3a9c2d1e", in the order
 * of their problems. They live as long as the registry. */
MLIR_CAPI_EXPORTED intptr_t factRegistryGetNumEntries(FactRegistry registry);
MLIR_CAPI_EXPORTED MlirStringRef factRegistryGetId(FactRegistry registry,
                                                   intptr_t index);

/* One entry as JSON, in the form of the registry's files. False, and no call of
 * `text`, where there is no entry of that id. */
MLIR_CAPI_EXPORTED bool factRegistryPrintEntry(FactRegistry registry,
                                               MlirStringRef id,
                                               MlirStringCallback text,
                                               void *userData);

#ifdef __cplusplus
}
#endif

#endif /* FACT_C_REGISTRY_H */
