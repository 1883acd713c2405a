// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 24, columns = 2048;

static void tile(int64_t row, void *const *buffers, void *) {
  const bf16 *x = operand<bf16>(buffers, 0) + row * columns;
  const bf16 *y = operand<bf16>(buffers, 1) + row * columns;
  const bf16 *z = operand<bf16>(buffers, 2) + row * columns;
  int64_t count = 0;
  for (int64_t i = 0; i < columns; ++i)
    count += load(x[i]) + load(y[i]) > load(z[i]);
  result<int64_t>(buffers, 3)[row] = count;
}

KERNEL(4, 0, rows)
