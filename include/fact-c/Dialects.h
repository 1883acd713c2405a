/*===- Dialects.h - C interface of FACT's dialects ----------------*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/

#ifndef FACT_C_DIALECTS_H
#define FACT_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `fact`, the graph and its kernels; `program`, the launches. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Fact, fact);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(FactProgram, program);

/* The machines and families of kernels that `fact-discover` and later passes
 * find through the dialect `fact`, which is inserted too. */
MLIR_CAPI_EXPORTED void factRegisterAllTargets(MlirDialectRegistry registry);

/* All of these, the agents, the dialects that FACT lowers to, and FACT's shim
 * of the dialect `torch`: not for a context that has torch-mlir's own. */
MLIR_CAPI_EXPORTED void factRegisterAllDialects(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif /* FACT_C_DIALECTS_H */
