/*===- Library.h - The C interface of a compiled model -----------*- C -*-===*
 *
 * Every FACT library exports `fact_library`, which returns this table, and the
 * same functions under the model's own prefix (`<name>_create`, ...), which the
 * generated header declares. Tensors are DLPack's; nothing here owns them.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FACT_RUNTIME_LIBRARY_H
#define FACT_RUNTIME_LIBRARY_H

#include "dlpack/dlpack.h"
#include <stdint.h>

#define FACT_LIBRARY_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

/* One instance: its own prepared weights and workspace. Instances are
 * independent; one instance is used by one thread at a time. */
typedef struct FactModel FactModel;

typedef struct FactNamedTensor {
  const char *name;
  const DLTensor *tensor;
} FactNamedTensor;

typedef struct FactLibrary {
  uint32_t abi;

  /* JSON: name, target, inputs, outputs, weights, workspace bytes, kernels with
   * rule and schedule, versions. Static storage. */
  const char *(*describe)(void);

  /* Null on failure; `last_error` says why, naming every weight that is
   * missing, unknown or of the wrong shape or type. Weights are borrowed: they
   * stay where they are and must outlive the model. They live on the model's
   * device. */
  FactModel *(*create)(const FactNamedTensor *weights, int64_t count);

  /* Replaces weights by name and runs `prepare` again. 0 on success. */
  int (*set_weights)(FactModel *model, const FactNamedTensor *weights,
                     int64_t count);

  /* Enqueues on `stream` (a cudaStream_t; ignored on the host, where the call
   * returns when the result is there). Inputs of other strides than row-major
   * are copied; outputs must be row-major. 0 on success. */
  int (*run)(FactModel *model, DLTensor *const *inputs, int64_t input_count,
             DLTensor *const *outputs, int64_t output_count, void *stream);

  void (*destroy)(FactModel *model);

  /* The calling thread's last failure; "" when there was none. */
  const char *(*last_error)(void);
} FactLibrary;

const FactLibrary *fact_library(void);

#ifdef __cplusplus
}
#endif

#endif /* FACT_RUNTIME_LIBRARY_H */
