// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t tokens = 40, sequences = 6, width = 24, entries = 300;

static void tile(int64_t index, void *const *buffers, void *) {
  int64_t token = operand<int64_t>(buffers, 1)[index];
  const bf16 *position = operand<bf16>(buffers, 2) + index % tokens * width;
  bf16 *y = result<bf16>(buffers, 3) + index * width;
  bool inside = token >= 0 && token < entries;
  const bf16 *entry = operand<bf16>(buffers, 0) + (inside ? token : 0) * width;
  for (int64_t i = 0; i < width; ++i)
    y[i] = round16((inside ? load(entry[i]) : NAN) + load(position[i]));
}

KERNEL(4, 0, sequences *tokens)
