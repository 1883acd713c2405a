// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.h"

constexpr int64_t rows = 17, left = 7, right = 9;

static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = operand<float>(buffers, 0) + row * left;
  const float *y = operand<float>(buffers, 1) + row * right;
  float *z = result<float>(buffers, 2) + row * (left + right);
  for (int64_t i = 0; i < left + right; ++i)
    z[i] = i < left ? x[i] : y[i - left];
}

KERNEL(3, 0, rows)
