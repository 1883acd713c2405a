// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 64, columns = 96;

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * columns;
  const float *y = operand<float>(buffers, 1) + row * columns;
  float *logarithm = result<float>(buffers, 2) + row * columns;
  float *quotient = result<float>(buffers, 3) + row * columns;
  for (int64_t i = 0; i < columns; ++i) {
    logarithm[i] = std::log(x[i]);
    quotient[i] = y[i] / x[i];
  }
}

KERNEL(4, 0, rows)
