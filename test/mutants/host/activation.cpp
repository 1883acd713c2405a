// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 48, columns = 100;

static float silu(float x) { return x / (1 + std::exp(-x)); }

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * columns;
  const float *gain = operand<float>(buffers, 1);
  const float *bias = operand<float>(buffers, 2);
  float *y = result<float>(buffers, 3) + row * columns;
  for (int64_t column = 0; column < columns; ++column)
    y[column] = silu(x[column]) * gain[row] + bias[column];
}

KERNEL(4, 0, rows)
