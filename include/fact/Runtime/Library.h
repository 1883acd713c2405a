/*===- Library.h - The C interface of a compiled model -----------*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every FACT library exports `fact_library`, which returns this table, and the
 * same functions under the model's own prefix (`<name>_create`, ...), which the
 * generated header declares. Tensors are DLPack's; nothing here owns them.
 *
 * Functions that can fail return null or a number that is not 0, and then
 * `last_error` and `error` say what was found and what would be right. No
 * exception leaves the library, and a wrong argument is an error rather than a
 * crash.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FACT_RUNTIME_LIBRARY_H
#define FACT_RUNTIME_LIBRARY_H

#include "dlpack/dlpack.h"
#include <stdint.h>

/* Functions are only ever added to the end of the table; a change of any other
 * kind changes this number. */
#define FACT_LIBRARY_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

/* One instance: its own prepared weights and workspace. Instances are
 * independent, and separate threads may use separate ones at the same time.
 * Calls on one instance take turns; on CUDA, runs on separate streams wait for
 * each other if they use memory of the instance: a workspace, or copies of
 * inputs that are not row-major. */
typedef struct FactModel FactModel;

typedef struct FactNamedTensor {
  const char *name;
  const DLTensor *tensor;
} FactNamedTensor;

/* What a library says about an input, an output or a weight; row-major. Static
 * storage. */
typedef struct FactTensorInfo {
  const char *name;
  DLDataType dtype;
  int32_t ndim;
  const int64_t *shape;
  uint64_t bytes;
  /* The compiler relied on this weight's value: another one is refused. */
  int32_t baked;
} FactTensorInfo;

/* Whether runs on CUDA replay a graph of the program (`use_graphs`). */
enum {
  /* Each run launches kernel by kernel. */
  FACT_GRAPHS_OFF = 0,
  /* Each run but the first replays a graph, which is updated when addresses of
   * inputs or outputs move. */
  FACT_GRAPHS_ON = 1,
  /* A run replays a graph where that is expected to be faster: programs of
   * several kernels, after some runs with the same addresses, or where few
   * kernels use what moved. */
  FACT_GRAPHS_AUTOMATIC = 2
};

typedef struct FactGraphInfo {
  /* One of the above. */
  int32_t setting;
  int32_t reserved;
  /* Runs that replayed a graph, and runs that launched kernel by kernel. */
  int64_t replayed;
  int64_t launched;
  /* Graphs that were recorded, and how often one was updated. */
  int64_t recorded;
  int64_t updated;
  /* Why the last run launched kernel by kernel, in one word; "" if it replayed
   * a graph. `off`; `unsupported` on the host; `first`; `moving`, addresses
   * that were not seen before; `captured`, as the caller captures the stream;
   * `profiled`; or what failed: `capture`, `instantiate`, `update`, `launch`.
   * After a failure no run replays a graph until `use_graphs` is called. */
  const char *reason;
  /* The error behind a failure; "" if there was none. Valid, like `reason`,
   * until the next call with this instance. */
  const char *detail;
} FactGraphInfo;

typedef struct FactLibrary {
  uint32_t abi;
  /* Size of the table in the compiled library: tells which functions it has. */
  uint32_t bytes;

  /* JSON: name, target, inputs, outputs, weights, workspace bytes, kernels with
   * rule, schedule and time, compiler, machine, versions. Static storage. */
  const char *(*describe)(void);

  /* Null on failure; `last_error` says why, naming every weight that is
   * missing, unknown or of the wrong shape or type. Weights are borrowed: they
   * stay where they are and must outlive the model. They live on the model's
   * device. */
  FactModel *(*create)(const FactNamedTensor *weights, int64_t count);

  /* Replaces weights by name; what was computed from weights is computed again,
   * unless all of these are read in place, at the address that they had. 0 on
   * success; after a failure the model keeps its old weights. */
  int (*set_weights)(FactModel *model, const FactNamedTensor *weights,
                     int64_t count);

  /* Enqueues on `stream` (a cudaStream_t; ignored on the host, where the call
   * returns when the result is there). Inputs that are not row-major are
   * copied; outputs must be row-major and share no memory with each other,
   * with inputs or weights. 0 on success. A run that is captured in a CUDA
   * graph waits for no other run: the launcher of the graph orders it. */
  int (*run)(FactModel *model, DLTensor *const *inputs, int64_t input_count,
             DLTensor *const *outputs, int64_t output_count, void *stream);

  /* Waits for calls that run in other threads, and for their kernels. A call
   * with this instance afterwards is an error. */
  void (*destroy)(FactModel *model);

  /* The calling thread's last failure; "" when there was none. */
  const char *(*last_error)(void);

  /* An instance with the weights of a safetensors file, which may hold more
   * than the model needs. On the host the file is mapped, so it stays as it is
   * while the model lives (replace it by renaming another file to it). */
  FactModel *(*load)(const char *path);

  /* As `set_weights`, with every weight that the file has. */
  int (*load_weights)(FactModel *model, const char *path);

  /* The failure of the model's last call; "" when it succeeded. Valid until
   * the next call. */
  const char *(*error)(const FactModel *model);

  /* In the order that `run` takes them; weights in no particular order. */
  const FactTensorInfo *(*inputs)(int64_t *count);
  const FactTensorInfo *(*outputs)(int64_t *count);
  const FactTensorInfo *(*weights)(int64_t *count);

  /* Where tensors live: kDLCPU or kDLCUDA. */
  int32_t (*device_type)(void);

  /* Bytes that an instance allocates on its device besides weights: workspace,
   * constants, prepared and packed weights. A change of weights temporarily
   * needs the last two twice. */
  uint64_t (*memory_bytes)(void);

  /* Whether weights may change in place without a call of `set_weights`; off by
   * default. Kernels read most weights in place. For the others, such as those
   * that are packed, each `run` compares checksums and recomputes what depends
   * on a changed weight; this costs the time to read them and, on CUDA, waits
   * for the stream. A baked weight with another value is an error of `run`.
   * During the capture of a CUDA graph nothing is compared. */
  int (*watch_weights)(FactModel *model, int on);

  /* Whether runs replay a CUDA graph: FACT_GRAPHS_OFF, _ON or _AUTOMATIC, the
   * default. Results are the same. Where a graph cannot be used, kernels are
   * launched one by one. A run on a stream that the caller captures always
   * launches its kernels, into the caller's graph. */
  int (*use_graphs)(FactModel *model, int setting);

  /* What became of it; the caller owns `info`. */
  int (*graph_info)(FactModel *model, FactGraphInfo *info);
} FactLibrary;

const FactLibrary *fact_library(void);

#ifdef __cplusplus
}
#endif

#endif /* FACT_RUNTIME_LIBRARY_H */
