/*===- Kernel.h - What a kernel object exports -------------------*- C -*-===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A candidate object exports one constant of type FactKernel under the symbol
 * its bundle names. Everything that runs kernels (the tuner's worker and the
 * finished library) sees them through this struct alone.
 *
 *===----------------------------------------------------------------------===*/

#ifndef FACT_RUNTIME_KERNEL_H
#define FACT_RUNTIME_KERNEL_H

#include <stdint.h>

#define FACT_KERNEL_ABI 6

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
   * here), and `launch` enqueues on a stream. Both return 0, or the device's
   * error code. Null for host kernels. `sizes` are explained below. */
  uint64_t state_bytes;
  uint64_t workspace_bytes;
  int (*bind)(void *state, const int64_t *sizes, void *const *buffers,
              void *workspace);
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
  int (*pack_on_device)(const int64_t *sizes, void *const *buffers,
                        void *packed, void *stream);

  /* A kernel may leave a decision to a library that it calls: the algorithm of
   * a vendor's matrix product. What was verified is then one decision, a choice
   * of `choice_bytes`. `choose` makes one for the current device; fact-tune
   * stores it with what it measured, and the finished library carries it.
   * `adopt` comes before `bind`, `launch` and `tile`, which use that choice and
   * no other; it refuses bytes that this device, or this version of the
   * library, cannot use. Both return null, or what is wrong, which stays valid
   * until the calling thread's next call. 0 and null: nothing to choose. */
  uint64_t choice_bytes;
  const char *(*choose)(void *choice);
  const char *(*adopt)(const void *choice);

  /* A device kernel may be of many sizes: its extents and strides are then
   * `size_count` numbers that the bundle names, and one object serves all
   * problems that differ in nothing else. `measure` writes how many bytes of
   * workspace and of packed memory these sizes need, in place of the two
   * figures above. 0 and null: a kernel of one size, which ignores `sizes`. */
  uint64_t size_count;
  void (*measure)(const int64_t *sizes, uint64_t *workspace_bytes,
                  uint64_t *packed_bytes);
} FactKernel;

#ifdef __cplusplus
}
#endif

#endif /* FACT_RUNTIME_KERNEL_H */
