// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 64, columns = 96;

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * columns;
  const float *y = operand<float>(buffers, 1) + row * columns;
  uint8_t *smaller = result<uint8_t>(buffers, 2) + row * columns;
  float *chosen = result<float>(buffers, 3) + row * columns;
  for (int64_t i = 0; i < columns; ++i) {
    bool less = x[i] < y[i];
    smaller[i] = less;
    chosen[i] = less ? x[i] : y[i];
  }
}

KERNEL(4, 0, rows)
