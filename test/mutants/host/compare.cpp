// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 128, columns = 256;

static void tile(int64_t row, void *const *buffers, void *) {
  const bf16 *x = operand<bf16>(buffers, 0) + row * columns;
  const bf16 *y = operand<bf16>(buffers, 1) + row * columns;
  const bf16 *z = operand<bf16>(buffers, 2) + row * columns;
  bf16 *product = result<bf16>(buffers, 3) + row * columns;
  uint8_t *larger = result<uint8_t>(buffers, 4) + row * columns;
  for (int64_t i = 0; i < columns; ++i) {
    float value = load(x[i]) * load(y[i]);
    product[i] = round16(value);
    larger[i] = value > load(z[i]);
  }
}

KERNEL(5, 0, rows)
