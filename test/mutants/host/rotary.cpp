// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t batches = 2, positions = 13, heads = 5, depth = 32;

static void tile(int64_t index, void *const *buffers, void *) {
  int64_t position = index % positions, head = index / positions % heads,
          batch = index / positions / heads;
  const float *x = operand<float>(buffers, 0) +
                   ((batch * positions + position) * heads + head) * depth;
  const float *cosine = operand<float>(buffers, 1) + position * depth;
  const float *sine = operand<float>(buffers, 2) + position * depth;
  float *y = result<float>(buffers, 3) + index * depth;
  for (int64_t i = 0; i < depth; ++i) {
    float turned = i < depth / 2 ? -x[i + depth / 2] : x[i - depth / 2];
    y[i] = x[i] * cosine[i] + turned * sine[i];
  }
}

KERNEL(4, 0, batches * heads * positions)
