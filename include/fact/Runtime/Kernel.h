/*===- Kernel.h - What a kernel object exports -------------------*- C -*-===*
 *
 * A candidate object exports one constant of type FactKernel under the symbol
 * its bundle names. Everything that runs kernels (the tuner's worker and the
 * finished library) sees them through this struct alone.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FACT_RUNTIME_KERNEL_H
#define FACT_RUNTIME_KERNEL_H

#include <stdint.h>

#define FACT_KERNEL_ABI 4

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FactKernel {
  /* FACT_KERNEL_ABI of the emitter that wrote the kernel. */
  uint32_t abi;
  /* Operands then results, in the order of the bundle. */
  uint32_t buffer_count;

  /* `workspace` is memory that holds nothing between launches, 256-byte
   * aligned; on the host each thread has its own.
   *
   * Device kernels: `bind` turns pointers into launch parameters once, in
   * `state_bytes` of 64-byte aligned host memory (TMA descriptors are encoded
   * here), and `launch` enqueues on a stream. Both return 0, or the device's error
   * code. Null for host kernels. */
  uint64_t state_bytes;
  uint64_t workspace_bytes;
  int (*bind)(void *state, void *const *buffers, void *workspace);
  int (*launch)(void *state, void *stream);

  /* Host kernels: the result is the union of `tiles` independent tiles, which
   * the runtime's thread pool runs in any order. Null for device kernels. */
  uint64_t tiles;
  void (*tile)(int64_t index, void *const *buffers, void *workspace);

  /* A kernel may want an operand packed: `packed_bytes` of memory take its
   * place in `buffers`. A weight is packed once at load, any other operand
   * before each launch. `packed_operand` is -1 when there is none. Further
   * operands may be packed together with the first, those whose bits
   * `packed_with` has; the kernel itself does not read them.
   *
   * Host kernels: `pack` fills the memory by `pack_tiles` independent tiles.
   * Device kernels: `pack_on_device` enqueues on a stream, and returns 0 or the
   * device's error code. */
  int32_t packed_operand;
  uint32_t packed_with;
  uint64_t packed_bytes;
  uint64_t pack_tiles;
  void (*pack)(int64_t index, void *const *buffers, void *packed);
  int (*pack_on_device)(void *const *buffers, void *packed, void *stream);
} FactKernel;

#ifdef __cplusplus
}
#endif

#endif /* FACT_RUNTIME_KERNEL_H */
