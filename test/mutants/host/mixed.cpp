// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 64, columns = 96;

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * columns;
  const bf16 *y = operand<bf16>(buffers, 1) + row * columns;
  float *wide = result<float>(buffers, 2) + row * columns;
  bf16 *narrow = result<bf16>(buffers, 3) + row * columns;
  for (int64_t i = 0; i < columns; ++i) {
    float value = std::tanh(x[i]);
    wide[i] = value;
    narrow[i] = round16(load(round16(value)) + load(y[i]));
  }
}

KERNEL(4, 0, rows)
