//===- kernel.h - What the hand-written kernels share -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Runtime/Kernel.h"
#include <cmath>
#include <cstdint>
#include <cstring>

using bf16 = uint16_t;

inline float load(bf16 value) {
  uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// Rounds to nearest even.
inline bf16 round16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (value != value)
    return static_cast<bf16>(bits >> 16 | 0x40);
  return static_cast<bf16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename T> const T *operand(void *const *buffers, int index) {
  return static_cast<const T *>(buffers[index]);
}
template <typename T> T *result(void *const *buffers, int index) {
  return static_cast<T *>(buffers[index]);
}

/// The candidate: buffers, bytes of workspace for each thread, tiles.
#define KERNEL(buffers, workspace, tiles)                                      \
  extern "C" const FactKernel candidate = {                                    \
      FACT_KERNEL_ABI, buffers, 0,  workspace, nullptr, nullptr,               \
      tiles,           tile,    -1, 0,         0,       0,                     \
      nullptr,         nullptr};
