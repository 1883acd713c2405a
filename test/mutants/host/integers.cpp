// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 64, columns = 33;

static void tile(int64_t row, void *const *buffers, void *) {
  const uint32_t *x = operand<uint32_t>(buffers, 0) + row * columns;
  const uint32_t *y = operand<uint32_t>(buffers, 1) + row * columns;
  uint32_t *z = result<uint32_t>(buffers, 2) + row * columns;
  for (int64_t i = 0; i < columns; ++i)
    z[i] = x[i] * y[i] + x[i];
}

KERNEL(3, 0, rows)
